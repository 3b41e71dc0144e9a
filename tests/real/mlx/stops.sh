# Stops at MLX's evaluations, in a program that nobody has prepared: tensor catch and break.

# What a stop says: of lines of the program their text, of what differs between versions and runs no numbers; and lines of ours, which
# begin with "- ".
mlx_said()
{
	tr -d '\0' | awk 'NR == FNR { line[FNR] = $0; sub(/^ */, "", line[FNR]); next }
		/^Catch [0-9]+ \(|^Catch [0-9]+ does |^Catch [0-9]+: |^  tensor |^- |^tensor [a-z]*: |^ended/ {
			while (match($0, / at [^ ]*stops.py:[0-9]+/)) {
				at = substr($0, RSTART, RLENGTH); sub(/.*:/, "", at)
				$0 = substr($0, 1, RSTART - 1) " | " line[at] substr($0, RSTART + RLENGTH)
			}
			print
		}' tests/real/mlx/stops.py - |
		sed "s/#[0-9][0-9]*/#N/g; s/ It computes [^.]*\\.//; s/, made by [A-Za-z]*$//"
}

# mlx_gdb OPTION…: gdb with the commands that it is given on its input
mlx_gdb()
{
	cat >"$scratch/stops.gdb"
	timeout -k 5 600 gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set auto-load no' -iex 'set width 0' -iex 'set confirm off' \
		-iex 'set height 0' -iex 'set print thread-events off' -iex 'set sysroot /' -iex "source $O/lazybones.gdb" \
		-x "$scratch/stops.gdb" "$@" 2>&1 </dev/null
}

# mlx_stops VERSION: set before it runs, by name, path and glob
mlx_stops()
{
	local what="mlx $1, in gdb" python=$real/mlx-$1/bin/python
	fetched "mlx-$1" && command -v gdb >/dev/null && [ -f "$O/lazybones.gdb" ] || return
	same "$what: evaluations, what they compute, and what holds NaN" "$(cat <<-'END'
		Catch 1: eval of any tensor.
		Catch 1 (eval): an evaluation is about to begin. It is of loss (#N, float32 (), lazy). Python is in train | mx.eval(loss).
		  tensor #N loss: float32 ()
		Catch 2: nan of any tensor; of mlx's arrays, it holds from the next evaluation on.
		Catch 3: after state.weights[0] is computed; of mlx's arrays, it holds from the next evaluation on.
		Catch 3 (after): an evaluation has computed it. Its 3 elements are from 1 to 1, 1 in the mean; 0 NaN, 0 Inf. Python is in train | mx.eval(state.weights[0]).
		  tensor #N state.weights[0]: float32 (3,)
		Catch 2 (nan): a result holds NaN or Inf. That is 1 of 4 elements, the first at [0]. Python is in train | mx.eval(loss).
		  tensor #N hidden: float32 (4,)
		Catch 4: range [0, 2] of state.weights[0].
		Catch 5: eval of names like twi*.
		Catch 5 (eval): an evaluation is about to begin. It is of loss (#N, float32 (), lazy). Python is in train | mx.eval(loss).
		  tensor #N twice: float32 (4,)
		Catch 4 (range): a result has values outside the range. They are from 3 to 3, the range is [0, 2]. Python is in train | mx.eval(state.weights[0]).
		  tensor #N state.weights[0]: float32 (3,)
		ended
		- ended 0
	END
	)" "$(mlx_gdb --args "$python" tests/real/mlx/stops.py <<-'END' | mlx_said
		tensor catch eval
		run
		tensor uncatch
		tensor catch nan
		tensor break state.weights[0] after
		continue
		tensor uncatch 3
		continue
		tensor uncatch
		tensor catch range state.weights[0] 0 2
		tensor catch eval 'twi*'
		continue
		continue
		tensor uncatch
		continue
		printf "- ended %d\n", $_exitcode
	END
	)"
	same "$what: values that are read, by the line that does so" "$(cat <<-'END'
		Catch 1: implicit of any tensor.
		Catch 1 (implicit): reading a value is about to cause an evaluation. Python is in read | total.item().
		  tensor #N total: float32 ()
		Catch 1 (implicit): reading a value is about to cause an evaluation. Python is in read | (x + 2).tolist().
		  tensor #N: float32 (2, 3)
		Catch 1 (implicit): reading a value is about to cause an evaluation. Python is in read | if (x + 3).any():.
		  tensor #N: bool ()
		Catch 1 (implicit): reading a value is about to cause an evaluation. Python is in read | memoryview(x + 4).
		  tensor #N: float32 (2, 3)
		Catch 1 (implicit): reading a value is about to cause an evaluation. Python is in read | text = f"{x + 5}".
		  tensor #N: float32 (2, 3)
		Catch 1 (implicit): reading a value is about to cause an evaluation. Python is in read | int((x + 6).max()).
		  tensor #N: float32 ()
		Catch 2: nan of ahead.
		Catch 2 (nan): a result holds NaN or Inf. That is 4 of 4 elements, the first at [0].
		  tensor #N ahead: float32 (4,)
		ended
		- ended 0
	END
	)" "$(mlx_gdb --args "$python" tests/real/mlx/stops.py <<-'END' | mlx_said | sed '/ahead\|4 of 4/s/ Python is in pipeline.*//'
		tensor catch implicit
		run
		continue
		continue
		continue
		continue
		continue
		tensor catch nan ahead
		continue
		tensor uncatch
		continue
		printf "- ended %d\n", $_exitcode
	END
	)"
}

# Of a process that gdb attaches to, of one behind gdbserver, and in a second run; what is refused; what is left.
mlx_stops_elsewhere()
{
	local what="mlx $1, in gdb" python=$real/mlx-$1/bin/python file=$scratch/waits pid line stopped
	[ -f "$O/lazybones.gdb" ] && command -v gdb >/dev/null || return
	stopped=$(cat <<-'END'
		Catch 1: nan of loss.
		Catch 1 (nan): a result holds NaN or Inf. That is 1 of 1 element, the first at []. Python is in train | mx.eval(loss).
		  tensor #N loss: float32 ()
	END
	)
	: >"$file"
	coproc "$python" tests/real/mlx/stops.py "$file" 2>/dev/null
	pid=$COPROC_PID
	exec 7<&"${COPROC[0]}" # bash closes its own when the program has ended
	while read -r -t 120 line <&7 && [ "$line" != resting ]; do :; done
	same "$what: it stops in a process that it has attached to" "$stopped" "$(mlx_gdb -p $pid <<-END | mlx_said
		tensor catch nan loss
		shell rm $file
		continue
	END
	)"
	read -r -t 120 line <&7
	exec 7<&-
	wait $pid
	same "$what: which then goes on without it" 'ended, status 0' "$line, status $?"
	# where each look at all arrays is slow, one of them
	if command -v gdbserver >/dev/null; then
		same "$what: through gdbserver, set before it is connected to" "$(cat <<-'END'
			Catch 1: eval of loss.
			Catch 1 (eval): an evaluation is about to begin. It is of loss (#N, float32 (), lazy). Python is in train | mx.eval(loss).
			  tensor #N loss: float32 ()
		END
		)" "$(mlx_gdb <<-END | mlx_said
			tensor catch eval loss
			target remote | gdbserver --once - $python tests/real/mlx/stops.py 2>/dev/null
			continue
			kill
		END
		)"
	fi
	same "$what: in a second run, too; what is refused; nothing is left" "$(cat <<-'END'
		Catch 1: eval of state.weights[0].
		Catch 1 (eval): an evaluation is about to begin. It is of state.weights[0] (#N, float32 (3,), lazy). Python is in train | mx.eval(state.weights[0]).
		  tensor #N state.weights[0]: float32 (3,)
		- again
		Catch 1 (eval): an evaluation is about to begin. It is of state.weights[0] (#N, float32 (3,), lazy). Python is in train | mx.eval(state.weights[0]).
		  tensor #N state.weights[0]: float32 (3,)
		tensor catch: misuse cannot be caught of mlx's arrays, but implicit, nan, range, eval and breaks can
		tensor break: MLX computes an evaluation's operations all at once: break at one of its arrays, which stops before or after the evaluation
		- No breakpoints or watchpoints.
		ended
		- ended 0
	END
	)" "$(mlx_gdb --args "$python" tests/real/mlx/stops.py <<-'END' | mlx_said
		tensor catch eval 'state.weights[0]'
		run
		kill
		echo - again\n
		run
		tensor catch misuse
		tensor break loss --op Log
		delete
		pipe info breakpoints | sed 's/^/- /'
		continue
		printf "- ended %d\n", $_exitcode
	END
	)"
}

# mlx_stops_apart VERSION: gdb's `disable` and `delete` are of one catch; a program without MLX has no breakpoints of any
mlx_stops_apart()
{
	local what="mlx $1, in gdb" python=$real/mlx-$1/bin/python
	[ -f "$O/lazybones.gdb" ] && command -v gdb >/dev/null || return
	# gdb's command for the breakpoint at eval() that is a catch's
	cat >"$scratch/own" <<-'END'
		awk -v command=$1 -v catch=$2 '/^[0-9]/ { n = $1 } $0 ~ "evaluates " catch " " { print command, n }'
	END
	same "$what: disable and delete are of one catch" "$(cat <<-'END'
		Catch 1: eval of loss.
		Catch 2: eval of hidden.
		Catch 3: eval of state.weights[0].
		Catch 1 (eval): an evaluation is about to begin. It is of loss (#N, float32 (), lazy). Python is in train | mx.eval(loss).
		  tensor #N loss: float32 ()
		Catch 2 (eval): an evaluation is about to begin. It is of loss (#N, float32 (), lazy). Python is in train | mx.eval(loss).
		  tensor #N hidden: float32 (4,)
		- a frame of the program
		Catch 3 (eval): an evaluation is about to begin. It is of state.weights[0] (#N, float32 (3,), lazy). Python is in train | mx.eval(state.weights[0]).
		  tensor #N state.weights[0]: float32 (3,)
		Catch 1 (eval): an evaluation is about to begin. It is of loss (#N, float32 (), lazy). Python is in train | mx.eval(loss).
		  tensor #N loss: float32 ()
		Catch 2 (eval): an evaluation is about to begin. It is of loss (#N, float32 (), lazy). Python is in train | mx.eval(loss).
		  tensor #N hidden: float32 (4,)
		- evaluates 1 2
		ended
		- ended 0
	END
	)" "$(mlx_gdb --args "$python" tests/real/mlx/stops.py <<-END | mlx_said
		tensor catch eval loss
		tensor catch eval hidden
		tensor catch eval 'state.weights[0]'
		run
		pipe frame | sed -n '1s/.*Py.*/- a frame of the program/p'
		pipe info breakpoints | bash $scratch/own disable 2 >$scratch/own.gdb
		source $scratch/own.gdb
		continue
		continue
		pipe info breakpoints | bash $scratch/own delete 3 >$scratch/own.gdb
		source $scratch/own.gdb
		pipe info breakpoints | bash $scratch/own enable 2 >$scratch/own.gdb
		source $scratch/own.gdb
		pipe info breakpoints | bash $scratch/own disable 1 >$scratch/own.gdb
		source $scratch/own.gdb
		continue
		pipe info breakpoints | grep -o 'evaluates [0-9]*' | paste -sd' ' | sed 's/ evaluates//g; s/^/- /'
		tensor uncatch
		continue
		printf "- ended %d\n", \$_exitcode
	END
	)"
	same "$what: several that stop once" "$(cat <<-'END'
		Catch 1: before loss is computed, once.
		Catch 2: before hidden is computed, once.
		Catch 1 (before): an evaluation that computes it is about to begin. It is of loss (#N, float32 (), lazy). Python is in train | mx.eval(loss).
		  tensor #N loss: float32 ()
		Catch 2 (before): an evaluation that computes it is about to begin. It is of loss (#N, float32 (), lazy). Python is in train | mx.eval(loss).
		  tensor #N hidden: float32 (4,)
		- No breakpoints or watchpoints.
		ended
	END
	)" "$(mlx_gdb --args "$python" tests/real/mlx/stops.py <<-'END' | mlx_said
		tensor break loss --once
		tensor break hidden --once
		run
		pipe info breakpoints | sed 's/^/- /'
		continue
	END
	)"
	same "$what: what it has not is told, before it runs and when the library comes" "$(cat <<-'END'
		Catch 1: misuse of any tensor; this is of Lazybones' own runtime: nothing of PyTorch, MLX or ggml does it.
		Catch 2: before any tensor is computed by Log.
		Catch 3: nan of loss.
		Catch 2 does not stop at the arrays of MLX: MLX computes an evaluation's operations all at once: break at one of its arrays, which stops before or after the evaluation.
		Catch 3 (nan): a result holds NaN or Inf. That is 1 of 1 element, the first at []. Python is in train | mx.eval(loss).
		  tensor #N loss: float32 ()
	END
	)" "$(mlx_gdb --args "$python" tests/real/mlx/stops.py <<-'END' | mlx_said
		tensor catch misuse
		tensor break --op Log
		tensor catch nan loss
		run
		kill
	END
	)"
	same "$what: in a program without MLX there is only what waits for its library" $'Catch 1: nan of any tensor.\n- 1 for the library, 0 for functions' \
		"$(mlx_gdb --args "$(type -P true)" <<-'END' | mlx_said
			tensor catch nan
			run
			pipe info breakpoints | awk '/load of library matching/ { n++ } /mlx4core/ { f++ } END { printf "- %d for the library, %d for functions\n", n, f }'
		END
		)"
}

# mlx_stops_cpp PROGRAM: a program in C++, by its variables
mlx_stops_cpp()
{
	[ -f "$O/lazybones.gdb" ] || return
	same 'mlx in C++, in gdb: it stops at an evaluation, in the function that asks for it' "$(cat <<-'END'
		Catch 1: eval of any tensor.
		Catch 2: after the tensor at ADDRESS is computed.
		Catch 1 (eval): an evaluation is about to begin. It is of #N (float32 (2, 3), lazy), #N (float32 (3, 2), lazy), #N (float32 (4,), lazy), #N (float32 (2,), lazy) and 1 more.
		  tensor #N: float32 (2, 3)
		- in main
		Catch 3: nan of any tensor; of mlx's arrays, it holds from the next evaluation on.
		Catch 2 (after): an evaluation has computed it. Its 6 elements are from 0 to 5, 2.5 in the mean; 0 NaN, 0 Inf.
		  tensor #N: float32 (2, 3)
		- in main
	END
	)" "$(mlx_gdb "$1" <<-'END' | mlx_said | sed 's/0x[0-9a-f]*/ADDRESS/'
		break rest
		tbreak program.cc:33
		run
		tensor catch eval
		tensor break x after
		continue
		pipe frame | sed -n '1s/.* in main () at .*/- in main/p'
		tensor catch nan
		continue
		pipe frame | sed -n '1s/.* in main () at .*/- in main/p'
		kill
	END
	)"
}
