# What stops at ggml's nodes write into a program, and that nothing is left of it, whoever leaves whom (stops.sh has the rest).

# A scheduler whose slot gdb has written is in $found behind `source $scratch/scheduler.gdb`.
look_for_scheduler()
{
	printf '%s\n' 'set $found = 0' 'set $i = 0' 'while $i < 32' 'if $_lb_s[$i] != 0' 'set $found = $_lb_s[$i]' 'end' \
		'set $i = $i + 1' 'end' >"$scratch/scheduler.gdb"
}

# paused HOW SCRIPT…: what is said, attached to a program that has its model, and may decode when gdb is attached; and in
# $scratch/paused.out what the program itself prints.
paused()
{
	local line how=$1
	shift
	rm -f "$scratch/paused.in"
	mkfifo "$scratch/paused.in"
	: >"$scratch/paused.out"
	exec 8<>"$scratch/paused.in"
	THREADS=1 "$program" llama "$real/$stopped" "$models/F32.gguf" "$how" <&8 >"$scratch/paused.out" 2>/dev/null 8>&- &
	session=$!
	grep -q -m 1 resting <(tail -n +1 -f --pid=$session "$scratch/paused.out")
	look "$@"
	run_gdb -p $session -x "$scratch/look.gdb" | stops_said
	echo >&8
	echo >&8
	wait $session
	echo "status $?" >>"$scratch/paused.out"
	exec 8>&-
}

# Set in a process that gdb has attached to. It leaves in the middle of a graph: the slot is empty then, and what the
# program computes is what it always does.
attached_stops()
{
	local until_rests='shell grep -q -m 1 "^resting" <(tail -n +2 -f '$scratch'/paused.out)'
	look_for_scheduler
	same "$1, in gdb: it stops in a process that runs, which gdb leaves as it was" "$(cat <<-'END'
		tensor catch: misuse cannot be caught of ggml's nodes, but nan, range, eval and breaks can
		tensor break: the program's ggml has no operation NOTHING
		tensor break: no tensor of Lazybones' runtime or of ggml has the number #99999 now; a name holds for those to come, too
		Catch 1 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		- written:1
		- written:0
		- the next:0
	END
	)" "$(paused paused 'tensor catch misuse' 'tensor break --op NOTHING' 'tensor break #99999' "tensor break 'ffn_norm-1' after" \
		"shell echo >$scratch/paused.in" continue "source $scratch/scheduler.gdb" 'frame 0' 'set $code = (unsigned long)$pc' \
		'find /g /1 $found, +0x600, $code' 'set $slot = $_' \
		'echo - written:' 'output *(unsigned long *)$slot == $code' 'echo \n' \
		"pipe info inferiors | sed -n 's/.*process \\([0-9]*\\).*/attach \\1/p' >$scratch/again.gdb" detach "$until_rests" \
		"source $scratch/again.gdb" 'echo - written:' 'output *(unsigned long *)$slot != 0' 'echo \n' \
		'echo - the next:' 'output *(unsigned long *)($slot + 8) != 0' 'echo \n' 'tensor uncatch' detach |
			grep -v 'is off')"
	same "$1, in gdb: the program goes on as if gdb had not been there" \
		"$(printf '%s\n' resting "$(cat "$models/F32.greedy")" resting 'status 0')" "$(cat "$scratch/paused.out")"
}

# In a process that gdb has attached to, nothing is left of them when gdb asks whether it is to quit; where it is not, they hold again.
asked_stops()
{
	same "$1, in gdb: it stops where gdb was about to quit a process that it has attached to" "$(cat <<-'END'
		Catch 1 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		- breakpoints 0
		Catch 1 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 1 is off
	END
	)" "$(paused paused "tensor break 'ffn_norm-1' after" "shell echo >$scratch/paused.in" continue '_lb_leave quit' \
		"pipe info breakpoints | grep -c 'asked 1' | sed 's/^/- breakpoints /'" continue 'tensor uncatch' detach)"
	same "$1, in gdb: that process computes as if gdb had not been there" \
		"$(printf '%s\n' resting "$(cat "$models/F32.greedy")" resting 'status 0')" "$(cat "$scratch/paused.out")"
}

# Each of the schedulers of a program with two contexts, of which the first has two graphs to compute; one that has a callback of its own keeps it.
other_schedulers()
{
	look "tensor break 'result_norm' after" run continue continue 'set $n = 0' 'set $i = 0' 'while $i < 32' \
		'set $n = $n + ($_lb_s[$i] != 0)' 'set $i = $i + 1' 'end' 'printf "- schedulers %d\n", $n' 'tensor uncatch' continue
	same "$1, in gdb: it stops in each of two contexts" "$(printf '%s\n' 'in llama' 'in llama' 'in llama' '- schedulers 2')" \
		"$(stop_llama F32 two | grep 'in llama\|^-')"
}

# A callback of the program's own, which wants to see products alone, is called as if gdb were not there; wherever gdb stops.
own_callbacks()
{
	local way plain
	plain=$(WANTS=1 run llama "$real/$1" "$models/F32.gguf" | grep ^asked)
	same "$1: its own callback sees products" yes "$([[ $plain == *', 0 of them wrong' && $plain != 'asked 0'* ]] && echo yes || echo "$plain")"
	stops 'it stops where the program has a callback of its own' F32 '' \
		'set environment WANTS 1' "tensor break 'ffn_norm-1' after" "tensor break 'ffn_up-1'" run "$states_now" continue \
		"$states_now" 'tensor uncatch' 'tensor break Qcur-1 after' continue 'tensor uncatch' continue <<-'END'
		Catch 1 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		- ffn_inp-1 ready
		- ffn_norm-1 ready
		- ffn_up-1 lazy
		- l_out-1 lazy
		Catch 2 (before): an operation is about to run.
		  tensor ffn_up-1: float32 (N, 512), made by MUL_MAT
		in llama
		- ffn_inp-1 ready
		- ffn_norm-1 ready
		- ffn_up-1 evaluating
		- l_out-1 lazy
		Catch 1 is off
		Catch 2 is off
		Catch 3 (after): an operation has run.
		  tensor Qcur-1: float32 (N, 256), made by MUL_MAT
		in llama
		Catch 3 is off
	END
	same "$1, in gdb: that callback is called as ever" "$plain" "$(grep ^asked "$scratch/said")"
	look "tensor catch range 'ffn_*' -1e9 1e9" 'tensor catch nan' run
	WANTS=1 stop_llama F32 '' >/dev/null
	same "$1, in gdb: it is called as ever where each value is looked at" "$plain" "$(grep ^asked "$scratch/said")"
	for way in detach 'detach inferiors 1'; do
		cat >"$scratch/look.gdb" <<-END
			tensor break 'ffn_norm-1' after
			run
			pipe info inferiors | sed -n 's/.*process \([0-9]*\).*/\1/p' >$scratch/id
			$way
			shell while grep -qs '^State:.[^Z]' /proc/\$(cat $scratch/id)/status; do sleep 0.1; done
		END
		WANTS=1 stop_llama F32 '' >/dev/null
		same "$1, in gdb: it is called as ever when gdb has left: $way" "$plain" "$(grep ^asked "$scratch/said")"
	done
}

# The process that gdb stays with has the catches, parent or child; the other one computes as ever. So has the program that a
# process executes, where gdb cannot insert what it had set in the one before.
other_processes()
{
	local way
	for way in parent child; do
		stops "it stops behind a fork, in the $way" F32 fork \
			"set follow-fork-mode $way" "tensor break 'nosuch' after" 'set breakpoint pending on' 'tbreak llama_get_logits_ith' run \
			"tensor break 'ffn_norm-1' after --once" continue 'tensor uncatch' continue 'printf "- ended %d\n", $_exitcode' <<-'END'
			Catch 2 (after): an operation has run.
			  tensor ffn_norm-1: float32 (N, 256), made by MUL
			in llama
			Catch 2 is off
			Catch 1 is off
			- ended 0
		END
		same "$1, in gdb: parent and child compute as ever, where gdb stays with the $way" "$(cat "$models/F32.greedy" "$models/F32.greedy")" \
			"$(timeout 60 grep -m 2 '^[0-9, ]*$' <(timeout 60 tail -n +1 -f "$scratch/said"))"
	done
	stops 'it stops in a program that another has executed' F32 exec \
		"tensor break 'nosuch' after" 'set breakpoint pending on' 'tbreak llama_get_logits_ith' run 'tbreak execl' continue \
		"tensor break 'ffn_norm-1' after --once" continue 'tensor uncatch' continue 'printf "- ended %d\n", $_exitcode' <<-'END'
		Catch 2 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 2 is off
		Catch 1 is off
		- ended 0
	END
}

# Nor is it called otherwise where gdb's user takes away what calls it, in the middle of a node that it declined.
broken_callbacks()
{
	local plain way number="pipe info breakpoints | awk '/^[0-9]+ /{n=\$1} /_tensor_hit ggml KEY /{print \"WHAT\", n}' >$scratch/numbers.gdb"
	plain=$(WANTS=1 run llama "$real/$1" "$models/F32.gguf" | grep ^asked)
	for way in delete 'delete OWN' 'delete ANSWER' 'delete SECOND' disable; do
		# as keys.h has them
		case $way in
		*OWN) look=${number//KEY/65539} ;;
		*ANSWER) look=${number//KEY/65568} ;;
		*SECOND) look=${number//KEY/65553} ;;
		*) look="shell echo $way >$scratch/numbers.gdb" ;;
		esac
		look 'set environment WANTS 1' "tensor break 'ffn_norm-1'" run "${look//WHAT/delete}" "source $scratch/numbers.gdb" continue
		case $way in
		delete) said= ;;
		disable) said=$'Breakpoint N stays enabled\nBreakpoint N stays enabled' ;;
		*) said='Catch 1 is off' ;;
		esac
		same "$1, in gdb: $way at a stop before a node" "$said" \
			"$(THREADS=1 run_gdb -x "$scratch/look.gdb" --args "$program" llama "$real/$1" "$models/F32.gguf" |
				sed -n 's/^\(Catch 1 is off\):.*/\1/p; s/^\(Breakpoint \)[0-9]*\( stays enabled\):.*/\1N\2/p')"
		same "$1, in gdb: $way at a stop before a node: the program's callback is called as ever" "$plain" "$(grep ^asked "$scratch/said")"
	done
	cat >"$scratch/look.gdb" <<-END
		tensor break 'ffn_norm-1'
		run
		break ggml_compute_forward_mul
		pipe info inferiors | sed -n 's/.*process \([0-9]*\).*/\1/p' >$scratch/id
		detach
		pipe info breakpoints | grep -c ' del ' | sed 's/^/- left /'
		shell while grep -qs '^State:.[^Z]' /proc/\$(cat $scratch/id)/status; do sleep 0.1; done
	END
	same "$1, in gdb: it leaves no breakpoint behind" '- left 0' "$(WANTS=1 stop_llama F32 '' | grep '^- left')"
	same "$1, in gdb: that callback is called as ever where leaving is interrupted" "$plain" "$(grep ^asked "$scratch/said")"
	plain=$(WANTS=1 run llama "$real/$1" "$models/F32.gguf" two | grep ^asked)
	look 'set environment WANTS 1' "tensor break 'nosuch' after" run
	stop_llama F32 two >/dev/null
	same "$1, in gdb: it is called as ever by two schedulers" "$plain" "$(grep ^asked "$scratch/said")"
}

# The program's own callback may be the very code that was chosen: it is told by what stands beside it.
chosen_callbacks()
{
	look_for_scheduler
	stops "the program's callback may be the code that was chosen" F32 '' \
		"tensor break 'result_norm' after" run 'frame 0' 'set $code = (unsigned long)$pc' "source $scratch/scheduler.gdb" \
		'find /g /1 $found, +0x600, $code' 'set $slot = (unsigned long)$_ - $found' 'tensor uncatch' 'tbreak ggml_backend_sched_alloc_graph' \
		continue 'set $found = (unsigned long)$rdi' 'set {unsigned long}($found + $slot) = $code' 'set {unsigned long}($found + $slot + 8) = 0x1234' \
		"tensor break 'l_out-1' after" continue 'tbreak llama_get_logits_ith' continue 'tensor uncatch' \
		'echo - put back:' 'output {unsigned long}($found + $slot) == $code && {unsigned long}($found + $slot + 8) == 0x1234' 'echo \n' <<-'END'
		Catch 1 (after): an operation has run.
		  tensor result_norm: float32 (N, 256), made by MUL
		in llama
		Catch 1 is off
		Catch 2 (after): an operation has run.
		  tensor l_out-1: float32 (N, 256), made by ADD
		in llama
		Catch 2 is off
		- put back:1
	END
}

# Of what gdb has started it takes nothing away when it is about to quit: its user may say no when it asks.
staying_stops()
{
	stops 'it stops where gdb was about to quit, and stays' F32 '' \
		"tensor break 'ffn_norm-1' after" "tensor break 'l_out-1' after" run '_lb_leave quit' continue '_lb_leave quit' 'tensor uncatch' continue \
		'printf "- ended %d\n", $_exitcode' <<-'END'
		Catch 1 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 2 (after): an operation has run.
		  tensor l_out-1: float32 (N, 256), made by ADD
		in llama
		Catch 1 is off
		Catch 2 is off
		- ended 0
	END
}
