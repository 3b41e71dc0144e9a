# MLX in Python processes that only have it installed: each version that tests/deps real has fetched.
. tests/real/mlx/stops.sh
. tests/real/mlx/suspect.sh

# mlx_seen WHAT COMMAND ALONE: what the program knows of its arrays, the command says; by which operations those come that Python does
# not know, nor any other array
mlx_seen()
{
	same "$1: names, values, paths, the lazy graph" \
		"$(for kind in known name sum path model graph siblings; do echo "$(grep -c "^$kind" "$truth") $kind"; done |
			paste -sd, | sed 's/,/, /g')"$'\n'"held by MLX alone:$3" "$(python3 tests/real/mlx/check.py "$truth" $2)"
	same "$1: its weights beside what mx.save_safetensors() wrote" \
		"$(printf '%s of %s parameters are by name: %s equal' $(sed -n "s/^model\t\([0-9]*\).*/\1 \1 \1/p" "$truth"))" \
		"$($2 weights "$truth.safetensors" 2>&1 | sed -n '1s/ in [^ ]* / /p')"
}

# mlx_answers: the commands' answers, without what is another one's each time, or another version's
mlx_answers()
{
	sed -e "s#$scratch#SCRATCH#g; s#$PWD/##g" -e 's/^thread [0-9]*$/thread N/; s/Python 3[0-9.]*/Python/' \
		-e 's/#[0-9][0-9]*/#N/g; s/^#N  */#N /; s/^id  */id /; s/0x[0-9a-f][0-9a-f]*/ADDRESS/g' \
		-e 's/"\(id\|root\|from\|to\|references\)":[0-9]*/"\1":N/g' \
		-e 's/"inputs":\[[0-9,]*\]/"inputs":[N]/g; s/"\(buffer\|pending\)":{[^}]*}/"\1":{}/g; s/"pointers\(_unknown\)*":.*//' \
		-e '/^  \(pointers\|value\|buffer\|status\) /d; /^  *ADDRESS, in other memory/d; /^\[Inferior 1/d; /^Some source lines/d' \
		-e '/^of the process/,/^the largest/d; /^the largest/d; /^ *[0-9.]* K*i*B  .* #N$/d; s/^.* in [0-9]* buffers/SIZE in N buffers/' \
		-e 's/^ *[0-9.]* K*i*B *[0-9]*%  \(.*buffers*\)$/  \1/; s/tensors of [0-9]*:/tensors of N:/; /^[0-9]* records* of this live/d; /^1 record /d; /^  kept: /d; / mlx.core.random.state/d' \
		-e 's/,*{"name":"status","text":"[a-z]*"}//'
}

# mlx_ask COMMAND: each line of commands.txt
mlx_ask()
{
	local line
	while read -r line; do
		echo "\$ $line"
		$1 $line 2>&1
	done <"$scratch/commands" | mlx_answers
}

# mlx_ask_gdb OPTION…: the same in gdb
mlx_ask_gdb()
{
	sed "s/.*/echo \$ &\\\\n\ntensor &/" "$scratch/commands" >"$scratch/commands.gdb"
	timeout 300 gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set width 0' -iex 'set sysroot /' \
		-iex "source $O/lazybones.gdb" "$@" -ex 'set height 0' -x "$scratch/commands.gdb" 2>&1 </dev/null |
		sed -n '/^\$ /,$p' | mlx_answers
}

# mlx_commands WHAT ANSWERS [FILE]: the commands' answers are the recorded ones
mlx_commands()
{
	local file=tests/real/mlx/${3:-commands}.out
	[ "$record" ] && echo "$2" >"$file"
	# one array without a name, which later versions hold, is not there in 0.21.1
	case $1 in *' 0.21.1,'*) sed 's/^not counted: 46 /not counted: 45 /' "$file" >"$scratch/commands.out"; file=$scratch/commands.out ;; esac
	same "$1: what the commands say" "$(awk 'NR == FNR { asked["$ " $0] = 1; next } /^\$ / { on = $0 in asked } on' \
		<(mlx_answers <"$scratch/commands") "$file")" "$2"
}

# The process as gdb sees it; through gdbserver, where each reading is slow, a few questions.
mlx_everywhere()
{
	mlx_commands "$what, gdb" "$(mlx_ask_gdb -p $pid)"
	same "$what, gdb: arrays are its variables" $'type = int32_t [2][3]\n$1 = {{1, 2, 3}, {4, 5, 6}}' \
		"$(gdb -q -batch -nx -x "$O/lazybones.gdb" -p $pid -ex 'tensor symbols' -ex 'whatis tokens' -ex 'print tokens' \
			2>/dev/null </dev/null | grep -A1 ^type)"
	cp "$scratch/commands" "$scratch/all"
	grep -E '^(print picture|info halves|graph third|origin)' "$scratch/all" >"$scratch/commands"
	mlx_commands "$what, gdbserver" \
		"$(mlx_ask_gdb "$python" -ex "target remote | gdbserver --once --attach - $pid 2>/dev/null")"
	mv "$scratch/all" "$scratch/commands"
}

mlx_dead()
{
	mlx_commands "$what, a core" "$(mlx_ask "$O/bin/lazybones core $scratch/mlx.$pid")"
	mlx_commands "$what, a core in gdb" "$(mlx_ask_gdb "$python" "$scratch/mlx.$pid")"
}

mlx_version()
{
	local what="mlx $1" python=$real/mlx-$1/bin/python line data
	truth=$scratch/truth
	fetched "mlx-$1" || return
	coproc "$python" tests/real/mlx/program.py "$truth" 2>"$scratch/mlx.log"
	pid=$COPROC_PID
	while read -r -t 120 line <&"${COPROC[0]}" && [ "$line" != resting ]; do :; done
	if [ "$line" != resting ]; then
		skip "$what does not run here: $(tail -1 "$scratch/mlx.log")"
		return
	fi
	same "$what: its layout" "that of $2, as its library tells" \
		"$("$O/bin/lazybones" pid $pid status | sed -n 's/^ *layout //p')"
	mlx_seen "$what, the process" "$O/bin/lazybones pid $pid"
	data=$("$O/bin/lazybones" pid $pid info tokens --json | sed -n 's/.*"data":"\([0-9a-fx]*\)".*/\1/p')
	sed "s#SCRATCH#$scratch#; s#TRUTH#$truth#; s#DATA#$data#" tests/real/mlx/commands.txt >"$scratch/commands"
	mlx_commands "$what, the process" "$(mlx_ask "$O/bin/lazybones pid $pid")"
	record=
	same "$what: in functions, arrays and not what modules hold" $'       held = held (#N, float32 (13,), ready)
       taken = hidden (#N, float32 (2, 3, 16), lazy)
       x = x (#N, float32 (2, 3, 8), lazy)' \
		"$("$O/bin/lazybones" pid $pid bt | grep -E ' (held|taken|self.*|x) = ' | mlx_answers | sort -u)"
	[ $1 = "$newest" ] && mlx_everywhere # where random's state is no list of Python's any more
	[ $1 = "$newest" ] || same "$what: random's state has a name" 'mlx.core.random.state[0]: uint32 (2,), lazy' \
		"$("$O/bin/lazybones" pid $pid info 'mx.random.state[0]' | head -1)"
	if gcore -o "$scratch/mlx" $pid >/dev/null 2>&1; then
		mlx_seen "$what, a core" "$O/bin/lazybones core $scratch/mlx.$pid"
		[ $1 = "$newest" ] && mlx_dead
		rm -f "$scratch/mlx.$pid"
	else
		skip "$what: gcore writes no core here"
	fi
	same "$what, gdb: as Python writes them, and what is lazy" \
		$'model.layers.1.fc1.bias: float32 (16,)\nhidden: float32 (2, 3, 16), lazy: it has no value yet\n[3. 3. 3. 3. 3.]' \
		"$(gdb -q -batch -nx -x "$O/lazybones.gdb" -p $pid -ex 'tensor print model.layers[1].fc1.bias' \
			-ex 'tensor print hidden' -ex 'tensor print trainer.parts[1][0]' 2>/dev/null |
			grep -E '^(model\.|hidden:|\[3\.)')"
	eval "exec ${COPROC[1]}>&-"
	wait $pid
}

# mlx_peek VERSION WHAT EXPECTED PROGRAM WORD…: what peek computes is what mx.eval() then gives. Older versions lack some operations.
mlx_peek()
{
	local version=$1 what=$2 expected=$3
	shift 3
	fetched "mlx-$version" || return
	same "mlx $version: peek of $what is what MLX then computes" "$expected, still lazy" \
		"$(python3 tests/real/mlx/peek.py "$O" "$real/mlx-$version/bin/python" "tests/real/mlx/$1" "${@:2}" 2>&1)"
}

# mlx_part VERSION: of a lazy array of 2.6 GiB what a slice needs, and no more; all of it is refused
mlx_part()
{
	local what="mlx $1, an array that is too large" line part asked=()
	fetched "mlx-$1" || return
	coproc "$real/mlx-$1/bin/python" tests/real/mlx/large.py 2>"$scratch/mlx.log"
	pid=$COPROC_PID
	while read -r -t 120 line <&"${COPROC[0]}" && [ "$line" != resting ]; do :; done
	for part in 'big[3, :3]' 'rows[5, 6:]' 'joined[100000002, :3]' 'taken[1, :2]' 'big[-1, -1:]' big even loaded; do
		asked+=(-ex "tensor peek $part")
	done
	same "$what: slices of it, and all of it" \
		"$(printf '%s\n' '[70 73 76]' '[0.14285715]' '[15. 16. 17.]' '[2. 2.]' '[2100000004]' refused refused 'in a file')" \
		"$(gdb -q -batch -nx -x "$O/lazybones.gdb" -p $pid -ex 'tensor set replay-memory 1048576' "${asked[@]}" 2>&1 \
			</dev/null | sed -n 's/.*, lazy) takes .* raise the setting replay-memory.*/refused/p; s/.* (Load) are still in a file.*/in a file/p; /^\[[-0-9]/p')"
	eval "exec ${COPROC[1]}>&-"
	wait $pid
}

# mlx_origin VERSION: what made NaN and Inf in lazy arrays
mlx_origin()
{
	fetched "mlx-$1" || return
	same "mlx $1: origin along graphs" $'16 right\n16 right in the core' \
		"$(python3 tests/real/mlx/made.py "$O/bin/lazybones" "$scratch/made" "$real/mlx-$1/bin/python" \
			tests/real/mlx/origin.py 2>&1 | sed 's/^no core$/16 right in the core/')"
}

# A program in C++, by its variables.
mlx_cpp()
{
	local what='mlx in C++' program=$scratch/mlx_cpp at line of process
	at=$(echo "$real"/mlx-0.32.4/lib/python3*/site-packages/mlx)
	fetched mlx-0.32.4 || return
	g++ -std=c++20 -g -isystem "$at/include" tests/real/mlx/program.cc -o "$program" -L"$at/lib" -Wl,-rpath,"$at/lib" \
		-lmlx 2>"$scratch/mlx_cpp.log" || { skip "$what: it cannot be built here"; return; }
	same "$what, gdb: variables" \
		"$(printf '%s\n' '(2, 3)' '(2, 3), lazy: it has no value yet' '(2,)' '(4,)' '(2,)' '(5,)' '(4,)')" \
		"$(gdb -q -batch -nx -x "$O/lazybones.gdb" -ex 'set debuginfod enabled off' -ex 'break rest' -ex run -ex up \
			-ex 'tensor print x' -ex 'tensor print lazy' -ex 'tensor print list[0][0]' -ex 'tensor print list[1]' \
			-ex 'tensor print maybe' -ex 'tensor print shared' -ex 'tensor print handle' "$program" 2>&1 </dev/null |
			sed -n 's/^#[0-9].*: float32 //p')"
	mlx_stops_cpp "$program"
	coproc "$program" 2>/dev/null
	pid=$COPROC_PID process="$O/bin/lazybones pid $pid"
	while read -r -t 120 line <&"${COPROC[0]}" && [ "$line" != resting ]; do :; done
	same "$what, without gdb: what variables hold" "$(printf '%s = #N (float32 %s\n' argument '(2, 3), ready)' \
		'list[0]' '(3, 2), ready)' 'list[1]' '(4,), ready)' maybe '(2,), ready)' x '(2, 3), ready)' \
		lazy '(2, 3), lazy)' 'list[0]' '(3, 2), ready)' 'list[1]' '(4,), ready)' maybe '(2,), ready)' \
		shared '(5,), ready)' handle '(4,), ready)')" \
		"$($process threads | sed -n 's/^ *\([a-z0-9[]*]*\) = #[0-9]* (float32/\1 = #N (float32/p')"
	same "$what, without gdb: a global map holds one" 'cache["ref"], global, tests/real/mlx/program.cc:14' \
		"$($process owner 'cache["ref"]' | sed -n 's/^  variables  //p')"
	same "$what, without gdb: expressions" "$(printf '%s\n' '(2, 3)' '(2,)' '(4,)' '(2,)' '(5,)' '(4,)' '(6,)')" \
		"$(for of in x 'list[0][0]' 'list[1]' maybe shared handle 'cache["ref"]'; do $process print "$of" 2>&1; done |
			sed -n 's/^#.*: float32 //p')"
	eval "exec ${COPROC[1]}>&-"
	wait $pid
}

# mlx_told: the rows of gdbext/mlx.md's table, a command and a line of its answer each, which are not in the recorded answers
mlx_told()
{
	local command said
	sed -n 's/^|.*| `\([^`]*\)` | `\(.*\)` |$/\1\t\2/p' gdbext/mlx.md |
		while IFS=$'\t' read -r command said; do
			sed 's#SCRATCH/##g' tests/real/mlx/recipes.out |
				awk -v asked="\$ $command" '/^\$ / { on = $0 == asked } on' |
				grep -qF -- "$(mlx_answers <<<"$said")" || echo "$command: $said"
		done
}

# The mistakes that guides warn of, each in a scene of one program.
mlx_recipes()
{
	local what="mlx $newest, guides' recipes" python=$real/mlx-$newest/bin/python line
	fetched "mlx-$newest" || return
	coproc "$python" tests/real/mlx/recipes.py "$scratch" 2>"$scratch/mlx.log"
	pid=$COPROC_PID
	while read -r -t 120 line <&"${COPROC[0]}" && [ "$line" != resting ]; do :; done
	sed "s#SCRATCH#$scratch#" tests/real/mlx/recipes.txt >"$scratch/commands"
	mlx_commands "$what, gdb" "$(mlx_ask_gdb -p $pid)" recipes
	same "$what: the table of mlx.md" '' "$(mlx_told)"
	eval "exec ${COPROC[1]}>&-"
	wait $pid
}

# mlx_program KIND ALONE: one that somebody may have written, as a process, and as the core that the kernel writes of it
mlx_program()
{
	local what="mlx $newest, $1" python=$real/mlx-$newest/bin/python line
	truth=$scratch/truth
	mkdir -p "$scratch/$1"
	coproc { cd "$scratch/$1" && ulimit -c unlimited && exec "$python" "$OLDPWD/tests/real/mlx/programs.py" $1 "$truth" 2>"$scratch/mlx.log"; }
	pid=$COPROC_PID
	while read -r -t 120 line <&"${COPROC[0]}" && [ "$line" != resting ]; do :; done
	mlx_seen "$what, the process" "$O/bin/lazybones pid $pid" "$2"
	kill -ABRT $pid
	wait $pid 2>/dev/null
	if [ -f "$scratch/$1/core" ]; then
		mlx_seen "$what, the kernel's core" "$O/bin/lazybones core $scratch/$1/core" "$2"
	else
		skip "$what: the kernel writes no core files here"
	fi
	rm -rf "${scratch:?}/$1"
}

mlx_programs()
{
	fetched "mlx-$newest" || return
	mlx_program train ''
	mlx_program diffuse ' Compiled Divide'
	mlx_program lm ' Compiled Multiply'
}

# mlx_where VERSION [core gdb]: what streams do, and who waits for them
mlx_where()
{
	local what="mlx $1" python=$real/mlx-$1/bin/python said pid
	said='a stream runs a task, others are queued; an evaluation waits for it'
	fetched "mlx-$1" || return
	coproc "$python" tests/real/mlx/where.py 2>/dev/null
	pid=$COPROC_PID
	same "$what: what streams do" "$said" "$(python3 tests/real/mlx/where_check.py "$O/bin/lazybones" pid $pid where --json)"
	if [ "$2" ] && command -v gdb >/dev/null && [ -f "$O/lazybones.gdb" ]; then
		same "$what, gdb: what streams do" "$said" "$(python3 tests/real/mlx/where_check.py \
			gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set width 0' -iex "source $O/lazybones.gdb" \
			-p $pid -ex 'tensor where --json')"
	fi
	if [ "$2" ] && gcore -o "$scratch/where" $pid >/dev/null 2>&1; then
		same "$what, a core: what streams do" "$said" \
			"$(python3 tests/real/mlx/where_check.py "$O/bin/lazybones" core "$scratch/where.$pid" where --json)"
		rm -f "$scratch/where.$pid"
	fi
	kill -KILL $pid
	wait $pid 2>/dev/null
}

# mlx_task VERSION [core gdb]: for which array a task is
mlx_task()
{
	local what="mlx $1" python=$real/mlx-$1/bin/python said='the task is for that array' pid
	fetched "mlx-$1" || return
	coproc "$python" tests/real/mlx/task.py 2>/dev/null
	pid=$COPROC_PID
	same "$what: for which array a task is" "$said" \
		"$(python3 tests/real/mlx/task_check.py both "$O/bin/lazybones" pid $pid where --json)"
	if [ "$2" ] && command -v gdb >/dev/null && [ -f "$O/lazybones.gdb" ]; then
		same "$what, gdb: for which array a task is" "$said" "$(python3 tests/real/mlx/task_check.py any \
			gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set width 0' -iex "source $O/lazybones.gdb" \
			-p $pid -ex 'tensor where --json')"
	fi
	if [ "$2" ] && command -v gcore >/dev/null; then
		same "$what, a core: for which array a task is" "$said" "$(python3 tests/real/mlx/task_check.py any \
			bash -c 'gcore -o "$1" $2 >/dev/null 2>&1; "$3" core "$1.$2" where --json' - \
			"$scratch/task" $pid "$O/bin/lazybones")"
		rm -f "$scratch/task.$pid"
	fi
	kill -KILL $pid
	wait $pid 2>/dev/null
}

newest=0.32.4
mlx_cpp
mlx_recipes
mlx_programs
mlx_version $newest '0.29.4 and later'
mlx_version 0.28.0 '0.28 to 0.29.3'
mlx_version 0.25.2 '0.22 to 0.27'
mlx_version 0.21.1 0.21
mlx_peek 0.32.4 'lazy arrays' '195 right, 1 hang on last bits, 2 refused' lazy.py
mlx_peek 0.28.0 'lazy arrays' '187 right, 1 hang on last bits, 6 refused' lazy.py
mlx_peek 0.25.2 'lazy arrays' '187 right, 1 hang on last bits, 6 refused' lazy.py
mlx_peek 0.21.1 'lazy arrays' '180 right, 1 hang on last bits, 6 refused' lazy.py
mlx_peek 0.32.4 'layers' '83 right, 0 hang on last bits, 0 refused' layers.py
mlx_peek 0.21.1 'layers' '82 right, 0 hang on last bits, 0 refused' layers.py
mlx_peek 0.32.4 'halves' '134 right, 0 hang on last bits, 0 refused' halves.py
mlx_peek 0.28.0 'halves' '76 right, 0 hang on last bits, 0 refused' halves.py
mlx_peek 0.25.2 'halves' '76 right, 0 hang on last bits, 0 refused' halves.py
mlx_peek 0.21.1 'halves' '50 right, 0 hang on last bits, 0 refused' halves.py
mlx_peek 0.32.4 'models' '59 right, 19 hang on last bits, 0 refused' models.py 'llama, float32' 'qwen3, float32' 'gemma2, float32' \
	'gemma3_text, float32' 'qwen3_moe, float32' 'whisper, float32' '3 bits, float32' 'mxfp8, float32' \
	'rotating, float32' '4 bits, bfloat16' 'nvfp4, bfloat16'
mlx_part 0.32.4
mlx_part 0.21.1
mlx_origin 0.32.4
mlx_origin 0.25.2
if fetched mlx-$newest; then
	doctor mlx "$real/mlx-$newest/bin/python"
fi
for version in $newest 0.28.0 0.21.1; do mlx_stops $version; done
mlx_stops_elsewhere $newest
mlx_stops_apart $newest
mlx_suspects
mlx_where $newest everywhere
mlx_where 0.21.1
mlx_task $newest everywhere
mlx_task 0.25.2
mlx_task 0.21.1
