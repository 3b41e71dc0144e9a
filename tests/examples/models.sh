# The examples that are models; a part of tests/examples/run, whose functions it uses.

# prints STATUS PATTERN COMMAND…: that status, and a line that matches
prints()
{
	local status=0 expected=$1 pattern=$2
	shift 2
	timeout 120 "$@" >"$tmp/out" 2>&1 || status=$?
	cat "$tmp/out"
	echo "(exit status $status)"
	[ $status -eq "$expected" ] && grep -qE -- "$pattern" "$tmp/out"
}

# ---- dit ----

dit=$O/examples/dit

dit_tests()
{
	ok "dit" prints 0 '^dit: ok' "$dit"
	ok "dit --swapped" prints 1 'block0.attention.shift is the first' "$dit" --swapped
	ok "dit --swapped=gate" prints 1 'block0.attention.scale is the first' "$dit" --swapped=gate
	ok "dit --swapped=nonsense" prints 2 'scale or gate' "$dit" --swapped=nonsense
	ok "dit --help" exits 0 "$dit" --help
}

# same|differ [--swapped]: whether the lazy shift is the part of the modulation where it should be
dit_shift_in_gdb()
{
	local shown shift reference
	shown=$(values_in_gdb "$dit $2" compare 'tensor peek block0.attention.shift[0, 0, 0:4]' \
		'tensor peek block0.modulation[0, 0:4]')
	cat "$tmp/log"
	shift=$(sed -n 1p <<<"$shown" | xargs) reference=$(sed -n 2p <<<"$shown" | xargs)
	[ "$(wc -w <<<"$shift $reference")" -eq 8 ] || return 1
	if [ "$1" = same ]; then
		[ "$shift" = "$reference" ]
	else
		[ "$shift" != "$reference" ]
	fi
}

# OFFSET [--swapped]: where gdb says that the shift lies
dit_offset_in_gdb()
{
	in_gdb "$dit $2" compare 'tensor info block0.attention.shift'
	grep -qE "^  offset +$1 elements" "$tmp/log"
}

# ---- fp4 ----

fp4=$O/examples/fp4

# PATTERN COMMAND…: the first lines that fp4 prints are as they should be, then none is
fp4_goes_wrong()
{
	local pattern=$1
	shift
	exits 1 "$@" >"$tmp/out"
	cat "$tmp/out"
	grep '^[0-9]' "$tmp/out" | head -1 | grep -qv WRONG &&
		! grep '^[0-9]' "$tmp/out" | tail -n +2 | grep -qv WRONG &&
		sed -n 2p "$tmp/out" | grep -qE "$pattern"
}

fp4_tests()
{
	local mode n
	for mode in mxfp4 nvfp4 mxfp8 affine4; do
		for n in 1 3 8; do
			ok "fp4 $mode, a prompt of $n" prints 0 '^fp4: ok' "$fp4" --mode=$mode --prompt=$n
		done
	done
	ok "fp4 --bug=nan" fp4_goes_wrong '4 tokens .* nan +nan +nan' "$fp4" --bug=nan
	ok "fp4 --bug=stride" fp4_goes_wrong '2 tokens .*[0-9]' "$fp4" --bug=stride --prompt=1
	ok "fp4 --bug=nonsense" prints 2 'nan or stride' "$fp4" --bug=nonsense
	ok "fp4 --mode=nonsense" prints 2 'mxfp4, nvfp4' "$fp4" --mode=nonsense
	ok "fp4 --prompt=9" prints 2 'from 1 to 8' "$fp4" --prompt=9
}

fp4_nan_in_gdb()
{
	in_gdb "$fp4 --bug=nan" run 'tensor catch nan' continue 'tensor peek fp4.values --stats' \
		'break print_step if tokens == 4' continue 'tensor print cache.v.scales[3, 1]'
	grep -qF 'fp4.values float16, made by quantized_matmul in project' "$tmp/log" &&
		grep -qE '1 (Inf|inf)|(Inf|inf) +1\b' "$tmp/log" && tail -1 "$tmp/log" | grep -qF '[255]'
}

fp4_stride_in_gdb()
{
	in_gdb "$fp4 --bug=stride" run 'tensor catch misuse' continue
	grep -qF 'made by transpose in open_cache' "$tmp/log" && grep -q 'in locate .*raw=true' "$tmp/log"
}

# ---- all of them ----

models_in_gdb()
{
	ok "fp4's NaN in gdb" fp4_nan_in_gdb
	ok "fp4's strides in gdb" fp4_stride_in_gdb
	ok "dit's shift in gdb" dit_shift_in_gdb same
	ok "dit's shift in gdb, --swapped" dit_shift_in_gdb differ --swapped
	ok "dit's layout in gdb" dit_offset_in_gdb 0
	ok "dit's layout in gdb, --swapped" dit_offset_in_gdb 32 --swapped
}

dit_tests
fp4_tests
