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

# ---- all of them ----

models_in_gdb()
{
	ok "dit's shift in gdb" dit_shift_in_gdb same
	ok "dit's shift in gdb, --swapped" dit_shift_in_gdb differ --swapped
	ok "dit's layout in gdb" dit_offset_in_gdb 0
	ok "dit's layout in gdb, --swapped" dit_offset_in_gdb 32 --swapped
}

dit_tests
