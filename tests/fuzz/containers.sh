#!/bin/sh
# Builds what fuzz_containers looks at (containers.cc), with libstdc++ and with libc++, as far as the compilers are here.
#
#	tests/fuzz/containers.sh FOLDER
#
# libc++ is the compiler's own, or that which tests/gdb/run has unpacked.
out=$1
here=$(dirname "$0")
flags="-std=c++20 -g -O0 -fPIC -shared $here/containers.cc"
rm -f "$out/containers-gnu.so" "$out/containers-llvm.so"
# shellcheck disable=SC2086
{
	g++ $flags -o "$out/containers-gnu.so" || clang++ $flags -o "$out/containers-gnu.so"
	clang++ -stdlib=libc++ $flags -o "$out/containers-llvm.so" && exit
	for unpacked in "$PWD"/build/libc++/usr/lib/llvm-*; do
		clang++ -nostdinc++ -isystem "$unpacked/include/c++/v1" -nostdlib++ $flags -o "$out/containers-llvm.so" \
			"$unpacked/lib/libc++.so.1" "$unpacked/lib/libc++abi.so.1" -Wl,--disable-new-dtags,-rpath,"$unpacked/lib" \
			-Wl,-rpath-link,"$unpacked/lib" && exit
	done
} 2>"$out/containers.log"
exit 0
