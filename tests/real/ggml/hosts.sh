# ggml within programs of other languages: an add-on of node's, a server within Python.

# hosted NAME COMMAND…: a process of it, whose commands are in $process; until released. False where it does not run.
hosted()
{
	local line
	coproc "${@:2}" 2>"$scratch/hosted"
	pid=$COPROC_PID
	process="$O/bin/lazybones pid $pid"
	while read -r -t 120 line <&"${COPROC[0]}" && [ "$line" != resting ]; do :; done
	[ "$line" = resting ] && return
	skip "$1 does not run here: $(tail -1 "$scratch/hosted")"
	kill $pid 2>/dev/null
	released
	return 1
}

# hosts NAME MODEL: what is seen of it
hosts()
{
	local name
	same "$1, within another program: its parameters" '1.378 M parameters in 21 tensors' \
		"$($process model | sed -n '1s/,[^,]*$//p')"
	for name in blk.0.attn_q.weight blk.1.ffn_down.weight output_norm.weight; do
		same "$1, within another program: $name" '  all ELEMENTS elements are equal' \
			"$($process diff $name "$2:$name" 2>&1 | sed -n '2s/[0-9][0-9]*/ELEMENTS/p')"
	done
	same "$1, within another program: its last result" result_output \
		"$($process list result_output --state 'in memory' | sed -n '2s/^#[0-9]* *\([^ ]*\) .*/\1/p')"
}

within_node()
{
	command -v node >/dev/null || { skip "$1: there is no node"; return; }
	hosted "$1" node tests/real/ggml/host.js "$real/$1/index.node" "$models/Q8_0.gguf" || return
	hosts "$1" "$models/Q8_0.gguf"
	released
}

within_python()
{
	hosted "$1" python3 tests/real/ggml/host.py "$real/$1" "$models/Q8_0.gguf" || return
	hosts "$1" "$models/Q8_0.gguf"
	released
}
