# ggml and llama.cpp of several years, with a program of ours (program.c): that they compute, and how they stop.
guests='ggml-2024-02 ggml-2024-10 ggml-2024-12 ggml-2025-06 ggml-2026-09 ggml-static ggml-whisper'
program=$real/ggml/program
models=$real/ggml/models

# An add-on wants node's functions when it is loaded, although nothing calls them here.
build_program()
{
	local addons
	addons=$(ls "$real"/ggml-*/*.node 2>/dev/null)
	nm -D --undefined-only $addons /dev/null 2>/dev/null |
		awk '$1 == "U" && $2 ~ /^napi_/ && !seen[$2]++ { printf "int %s(void);\nint %s(void) { return 1; }\n", $2, $2 }' \
			>"$scratch/napi.c"
	$CC -std=gnu17 -g -O0 -fno-omit-frame-pointer -rdynamic -Wall -Wextra -Werror -o "$program" \
		tests/real/ggml/program.c "$scratch/napi.c" -ldl
}

# run ARGUMENT…: what the program prints, and its exit status
run()
{
	timeout 120 "$program" "$@" 2>"$scratch/errors" </dev/null
	echo "status $?"
}

graphs()
{
	same "$1: a graph is computed" $'computed\nresting\nstatus 0' "$(run graph "$real/$1")"
	same "$1: the program aborts" $'computed\nstatus 134' "$(ulimit -c 0; run graph "$real/$1" abort)"
}

# Two sequences, of which one is compared with what NumPy says.
llamas()
{
	local kind
	if ! nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$'; then
		skip "$1 has no libllama"
	elif [ ! -f "$models/F32.gguf" ]; then
		skip "$1: no models to run (python3-numpy)"
	else
		for kind in F32 Q4_0 Q4_K Q8_0; do
			same "$1: $kind is decoded" "$(cat "$models/$kind.greedy")"$'\nresting\nstatus 0' \
				"$(run llama "$real/$1" "$models/$kind.gguf")"
		done
	fi
}

# Every line is one of golden.inc, with which tests/unit/test_blocks.c compares ours; the newest one has them all.
blocks()
{
	local golden=tests/real/ggml/golden.inc found
	found=$(run blocks "$real/$1" | grep -v ^status)
	if [ -n "$record" ] && [ "$1" = "$newest" ]; then
		{ sed '/^{/,$d' $golden && echo "$found"; } >"$scratch/golden" && cp "$scratch/golden" $golden
	fi
	same "$1: blocks decode as recorded" '' "$(grep -vxFf $golden <<<"$found")"
	[ "$1" != $newest ] || same "$1: all that is recorded was decoded" "$(grep '^{' $golden)" "$found"
}

newest=ggml-2026-09
any=
for guest_name in $guests; do
	fetched "$guest_name" && any="$any $guest_name"
done
if [ -n "$any" ]; then
	mkdir -p "$real/ggml"
	python3 tests/examples/make_llama.py "$models" >/dev/null 2>&1
	build_program || same 'the program is built' 0 "$?"
fi
for guest_name in $any; do
	graphs "$guest_name"
	llamas "$guest_name"
	blocks "$guest_name"
done
