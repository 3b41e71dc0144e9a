# ggml inside gdb: the same commands, in each way that gdb can look at a program, with one answer (gdb.out). GDB is the
# gdb to test.
gdb=${GDB:-gdb}
expected=tests/real/ggml/gdb.out

# run_gdb OPTION…: at most ten minutes, which only a hang takes; nothing to read. What a program prints that gdb starts is in
# $scratch/said: in one pipe the two may come amid each other's lines.
run_gdb()
{
	: >"$scratch/said"
	timeout -k 5 600 "$gdb" -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set confirm off' -iex 'set width 0' \
		-iex 'set height 0' -iex 'set startup-with-shell off' -iex 'set style enabled off' -iex 'set print thread-events off' \
		-iex "set inferior-tty $scratch/said" -iex "source $O/lazybones.gdb" "$@" 2>&1 </dev/null
}

# has_gdb WHAT: whether there is one, with the plugin; else WHAT is skipped.
has_gdb()
{
	command -v "$gdb" >/dev/null || { skip "$1: there is no $gdb"; return 1; }
	[ -f "$O/lazybones.gdb" ] || { skip "$1: the plugin is not built"; return 1; }
}

# What the commands say, without numbers of tensors and addresses, and whether ggml has a mark of what it computed.
answers()
{
	sed -n '/^begin$/,/^end$/p' | sed -e "s#$scratch#SCRATCH#" -e 's/, as it lies in memory.*//; s/, \(ready\|in memory\))$/)/
		s/#[0-9][0-9]*/#N/g; s/0x[0-9a-f][0-9a-f]*/ADDRESS/g
		s/of thread [0-9]*/of thread N/; s/program\.c:[0-9]*/program.c:LINE/'
}

# By names, by variables of the program, whose type is struct ggml_tensor *, and by the address of a record.
commands_of_graph()
{
	cat <<-END
		frame function graph
		echo begin\\n
		tensor diff turned result
		tensor print w.q8_0[0,:6]
		tensor print w.q4_0[15,-4:]
		tensor print (ids)
		tensor print (*&rows)[0,:3]
		tensor stats (rows)
		tensor print no_such_tensor
		tensor print @sum:f32:2
		tensor save (result) $scratch/result.npy --force
		pipe tensor diff result $scratch/result.npy | tail -1
		tensor locals
		pipe tensor owner a | sed -n '/^  \(input\|variables\) /,/^  pointers /p' | sed '\$d' | grep -v bf16
		pipe tensor owner (a) | grep -c '^  variables  a, in frame '
		pipe tensor info rows | sed -n 's/.*record at \\(0x[0-9a-f]*\\).*/tensor print \\1[0,:3]/p' >$scratch/by_address.gdb
		source $scratch/by_address.gdb
		pipe tensor graph sum --history | grep -c 'w\\.q'
		pipe tensor list --limit 0 | grep -c '^#.*w\\.q'
		pipe tensor at (long)sum | sed 's/(#.*//'
		pipe tensor symbols | sed -n 's/.*[0-9] in the program/in the program/p; s/.*optimized out.*/none of these/p; s/ [0-9]* copies as of now/ copies/p'
		whatis tensor::ids
		print tensor::ids
		whatis 'w.q4_0'
		ptype 'w.q4_0'
		print/d w_q4_0[0][0][0]@2
		print tensor::turned[3][1] == tensor::result[3][1] && tensor::turned[3][1] != 0
		print tensor::a[0][1]
		pipe tensor symbols --remove | cat
		up-silently
		tensor print rows[0,:3]
		tensor print (rows)
		pipe tensor status | sed -n 's/^\\(provider *ggml\\):.*/\\1/p'
		echo end\\n
	END
}

# attached COMMAND…: what run_gdb says, attached to a process of the program that rests.
attached()
{
	local line
	coproc "$program" "$@" 2>/dev/null
	while read -r line <&"${COPROC[0]}" && [ "$line" != resting ]; do :; done
	run_gdb -p "$COPROC_PID" -x "$scratch/look.gdb"
	kill -9 "$COPROC_PID"
	wait "$COPROC_PID" 2>/dev/null
}

remote()
{
	run_gdb "$program" -ex 'set sysroot /' -ex "target remote | gdbserver --once - $program $* 2>/dev/null" \
		-ex 'break rest' -ex continue -x "$scratch/look.gdb" -ex kill
}

# graph_in_gdb BUILD WAY…
graph_in_gdb()
{
	local wanted way dump=$scratch/gdb-$1
	wanted=$(cat $expected)
	commands_of_graph >"$scratch/look.gdb"
	for way in "${@:2}"; do
		case $way in
		started) same "$1, in gdb: started" "$wanted" "$(run_gdb "$program" -ex 'break rest' -ex "run graph $real/$1" \
			-ex "generate-core-file $dump.gcore" -x "$scratch/look.gdb" -ex kill | answers)" ;;
		gcore) same "$1, in gdb: its gcore" "$wanted" "$(run_gdb "$program" "$dump.gcore" -x "$scratch/look.gdb" | answers)" ;;
		attached) same "$1, in gdb: attached" "$wanted" "$(attached graph "$real/$1" | answers)" ;;
		core)
			core_of "gdb-$1" graph "$real/$1" abort || { skip "$1, in gdb: the kernel writes no core here"; continue; }
			same "$1, in gdb: a core" "$wanted" "$(run_gdb "$program" "$dump/dump" -x "$scratch/look.gdb" | answers)" ;;
		gdbserver)
			command -v gdbserver >/dev/null || { skip "$1, in gdb: no gdbserver"; continue; }
			same "$1, in gdb: through gdbserver" "$wanted" "$(remote graph "$real/$1" | answers)" ;;
		esac
	done
	rm -f "$dump.gcore"
}

# What was found is kept while the program stands still, whatever gdb does, and found again after it has run: an end of
# the list of objects that is no such one shows which.
kept_in_gdb()
{
	local listed='tensor list --limit 1 rows' way start
	printf '%s\n' 'frame function graph' "pipe $listed | grep -c rows" 'set var $head = (int *)((char *)c + 0x14)' \
		'set var $n = *$head' 'set var *$head = $n + 1' "pipe $listed | grep -c rows" 'pipe bt | cat >/dev/null' 'up-silently' \
		'frame function rest' "pipe $listed | grep -c rows" 'with language c++ -- info locals' 'thread apply all -q -s echo' \
		"pipe $listed | grep -c rows" 'stepi' "pipe $listed | grep -c 'rows .*GET_ROWS'" 'frame function graph' \
		'set var *$head = $n' 'stepi' "pipe $listed | grep -c rows" >"$scratch/look.gdb"
	for way in started gdbserver; do
		start=(-ex "run graph $real/$1")
		if [ $way = gdbserver ]; then
			command -v gdbserver >/dev/null || continue
			start=(-ex 'set sysroot /' -ex "target remote | gdbserver --once - $program graph $real/$1 2>/dev/null" -ex continue)
		fi
		same "$1, in gdb, $way: a set is kept while the program stands still" '1 1 1 1 0 1' \
			"$(run_gdb "$program" -ex 'break rest' "${start[@]}" -x "$scratch/look.gdb" -ex kill |
				grep -x '[0-9]*' | xargs)"
	done
}

# ggml comes when the program runs already, and its commands were told that there is none.
loaded_in_gdb()
{
	printf '%s\n' 'tensor print rows' 'tensor print rows' 'break rest' 'continue' 'echo begin\n' 'tensor print rows[0,:3]' \
		'echo end\n' >"$scratch/look.gdb"
	run_gdb "$program" -ex 'break main' -ex "run graph $real/$1" -x "$scratch/look.gdb" -ex kill >"$scratch/loaded"
	same "$1, in gdb: none before it is loaded" 2 \
		"$(sed '/^begin$/,$d' "$scratch/loaded" | grep -c '^tensor print: .*no Lazybones runtime in this program')"
	same "$1, in gdb: it is loaded" $'begin\nrows[0,:3]: float32 (3,)\n[-24. -17. 127.]\nend' \
		"$(answers <"$scratch/loaded")"
}

# In the middle of a graph nodes are not shown, whatever thread is selected: gdb is asked for the stacks of all.
computing_in_gdb()
{
	local way start told='sed s/[0-9][0-9]*/N/g'
	printf '%s\n' 'echo begin\n' "pipe tensor print sum | $told" 'tensor print a[0,:2]' 'thread 1' \
		"pipe tensor print result | $told" 'echo end\n' >"$scratch/look.gdb"
	for way in started gdbserver; do
		start=(-ex "run graph $real/$1 within" -ex 'thread 3') # the second's, which came and went, too
		if [ $way = gdbserver ]; then
			command -v gdbserver >/dev/null || continue
			start=(-ex 'set sysroot /' -ex "target remote | gdbserver --once - $program graph $real/$1 within 2>/dev/null" \
				-ex continue -ex 'thread 2')
		fi
		same "$1, in gdb, $way: what is being computed is not shown" \
			"$(printf '%s\n' 'sum may not have been computed yet: thread N is in ggml_graph_compute_with_ctx' \
				'a[0,:2]: float32 (2,)' '[-127.   43.]' \
				'result may not have been computed yet: thread N is in ggml_graph_compute_with_ctx')" \
			"$(run_gdb "$program" -ex 'break rest' "${start[@]}" -x "$scratch/look.gdb" -ex kill | sed '1,/^begin$/d; /^end$/,$d' |
				sed -n 's/^tensor print: //; s/ (libggml.*//; /^[a-z[]/{/^\[Switching/!p}')"
	done
}

# Within llama_decode, at a function for an operation.
where_in_gdb()
{
	local way start
	[ -f "$models/F32.gguf" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
	echo "pipe tensor where | sed 's/ (#.*//; s/([^)]*), called/(LIBRARY), called/; s/ at .*//' | grep '^ '" >"$scratch/look.gdb"
	for way in started gdbserver; do
		start=(-iex 'set breakpoint pending on' -ex 'break ggml_compute_forward_rope' -ex "run llama $real/$1 $models/F32.gguf")
		if [ $way = gdbserver ]; then
			command -v gdbserver >/dev/null || continue
			start=(-ex 'set sysroot /' -ex "target remote | THREADS=1 gdbserver --once - $program llama $real/$1 $models/F32.gguf 2>/dev/null" \
				-ex 'set breakpoint pending on' -ex 'break ggml_compute_forward_rope' -ex continue)
		fi
		same "$1, in gdb, $way: where llama_decode is" $'    computes ROPE of Qcur-0\n      input Qcur-0
      input inp_pos\n      its graph ends with result_output\n    in llama_decode (LIBRARY), called by llama' \
			"$(THREADS=1 run_gdb "$program" "${start[@]}" -x "$scratch/look.gdb" -ex kill | grep '^    ')"
	done
	same "$1, in gdb: where a catch has stopped it" $'    has computed MUL_MAT of Qcur-0\n      input blk.0.attn_q.weight
      input attn_norm-0\n    in llama_decode (LIBRARY), called by llama' \
		"$(THREADS=1 run_gdb -ex "tensor break Qcur-0 after" -ex run -x "$scratch/look.gdb" -ex kill \
			--args "$program" llama "$real/$1" "$models/F32.gguf" | grep '^    ')"
}

# No debug information: T is the address of a record, which a register has when a node is computed.
stripped_in_gdb()
{
	local said='sed -n "1s/[:,].*//p"'
	nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' ggml_compute_forward_mul_mat$' || return 0
	strip -o "$scratch/bare" "$program"
	printf '%s\n' 'echo begin\n' "pipe tensor info \$rsi | $said" 'pipe tensor info $rsi | sed -n "s/^  op  */op /p"' \
		"pipe tensor info (char *)\$rsi | $said" 'with breakpoint pending on -- break rest' 'delete 1' 'pipe continue | cat >/dev/null' \
		"pipe tensor info rows | sed -n 's/.*record at \\(0x[0-9a-f]*\\).*/tensor print \\1[0,:3]/p' >$scratch/by_address.gdb" \
		"source $scratch/by_address.gdb" 'echo end\n' >"$scratch/look.gdb"
	same "$1, in gdb: without debug information" \
		$'begin\ny.q8_0\nop MUL_MAT\ny.q8_0\nrows[0,:3]: float32 (3,)\n[-24. -17. 127.]\nend' \
		"$(run_gdb "$scratch/bare" -iex 'set breakpoint pending on' -ex 'break ggml_compute_forward_mul_mat' \
			-ex "run graph $real/$1" -x "$scratch/look.gdb" -ex kill | answers | grep -v '^Breakpoint ')"
}

# A model's weights, which are mapped from its file.
weights_in_gdb()
{
	local name way start dump=$scratch/gdb-llama-$1 model=$models/Q4_0.gguf arguments
	[ -f "$model" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
	arguments="llama $real/$1 $model"
	for name in blk.0.attn_q.weight blk.1.ffn_down.weight output_norm.weight; do
		echo "pipe tensor diff $name $model:$name | sed -n '2s/[0-9][0-9]*/ELEMENTS/p'"
	done >"$scratch/look.gdb"
	for way in started core gdbserver; do
		start=("$program" -ex 'break rest' -ex "run $arguments")
		if [ $way = core ]; then
			core_of "gdb-llama-$1" $arguments abort || continue
			start=("$program" "$dump/dump")
		elif [ $way = gdbserver ]; then
			command -v gdbserver >/dev/null || continue
			start=("$program" -ex 'set sysroot /' -ex 'break rest' \
				-ex "target remote | gdbserver --once - $program $arguments 2>/dev/null" -ex continue)
		fi
		same "$1, in gdb, $way: a model's weights" \
			"$(yes '  all ELEMENTS elements are equal' | head -3)" \
			"$(run_gdb "${start[@]}" -x "$scratch/look.gdb" | grep 'elements\|^tensor')"
	done
}

# Ctrl-C while contexts are looked for, which through gdbserver takes a second at least where all that is allocated lies in
# one heap: the command ends, and gdb goes on.
interrupted_in_gdb()
{
	local model=$models/Q4_0.gguf log=$scratch/interrupted.log ticks said try
	local wanted='begin tensor list: interrupted between output.weight end'
	[ -f "$model" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
	command -v gdbserver >/dev/null || return 0
	for try in 1 2 3; do # on a busy machine the signal may fall elsewhere
		interrupt_in_gdb "$1"
		said=$(sed 's/^(gdb) //g; s/^.*(gdb) //' "$log" | # gdb takes some of them itself, and says Quit
			grep -o '^begin$\|^between$\|^end$\|^Quit$\|^tensor list: .*\|^#.*output\.weight' |
			sed 's/^#[0-9]* *//; s/^\(tensor list: \).*: interrupted$/\1interrupted/; s/^Quit$/tensor list: interrupted/' |
			xargs)
		[ "$said" != "$wanted" ] || break
	done
	same "$1, in gdb: Ctrl-C ends a search" "$wanted" "$said"
}

# interrupt_in_gdb BUILD: what gdb says is in $log; $model is loaded.
interrupt_in_gdb()
{
	mkfifo "$scratch/interrupted"
	timeout -k 5 300 "$gdb" -nx -q -iex 'set debuginfod enabled off' -iex 'set confirm off' -iex 'set width 0' -iex 'set sysroot /' \
		-iex "source $O/lazybones.gdb" "$program" <"$scratch/interrupted" >"$log" 2>&1 &
	session=$!
	exec 9>"$scratch/interrupted"
	printf '%s\n' "target remote | env MALLOC_MMAP_MAX_=0 MALLOC_TOP_PAD_=33554432 gdbserver --once - $program llama $real/$1 $model 2>/dev/null" \
		'break rest' continue 'echo begin\n' 'tensor list --limit 1' 'echo between\n' 'tensor list --limit 1 output.weight' \
		'echo end\n' >&9
	grep -q -m 1 'begin$' <(tail -n +1 -f --pid=$session "$log")
	pid=$(pgrep -P $session)
	ticks=$(($(cpu_ticks "$pid") + 10))
	until [ "$(cpu_ticks "$pid")" -ge $ticks ]; do :; done
	kill -INT "$pid"
	grep -q -m 1 'end$' <(tail -n +1 -f --pid=$session "$log")
	printf '%s\n' kill quit >&9
	exec 9>&-
	wait $session
	rm -f "$scratch/interrupted"
}

cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat" 2>/dev/null || echo 1000000; }

# in_gdb BUILD: what differs from build to build of most years, the rest of the newest.
in_gdb()
{
	has_gdb "$1, in gdb" || return 0
	case $1 in
	ggml-2024-02) graph_in_gdb "$1" started core ;;
	ggml-2024-10) graph_in_gdb "$1" attached gdbserver ;;
	ggml-static) graph_in_gdb "$1" started gcore attached core gdbserver ;;
	"$newest")
		graph_in_gdb "$1" started gcore attached core gdbserver
		kept_in_gdb "$1"
		loaded_in_gdb "$1"
		computing_in_gdb "$1"
		where_in_gdb "$1"
		stripped_in_gdb "$1"
		weights_in_gdb "$1"
		interrupted_in_gdb "$1" ;;
	esac
}
