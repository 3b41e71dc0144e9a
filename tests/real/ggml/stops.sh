# Stops at ggml's nodes, in a program that nobody has prepared: tensor catch and break (gdb.sh has the rest of gdb).

# What a stop says, without numbers; and lines of ours, which begin with "- ".
stops_said()
{
	grep -o '^Catch [0-9]* ([a-z]*): [^.]*\.\|^  tensor .*made by [A-Z_]*\|^- .*\|^tensor [a-z]*: .*\|^Catch [0-9]* is off\|^The nodes of ggml.*\|^Catch [0-9]* does not .*\|^#[0-9]* .* in \(llama\|compute_whisper\) (\|^  verdict .*' |
		sed 's/tensor #[0-9]*/tensor/; s/^#.* in \(llama\|compute_whisper\) (.*/in \1/; s/0x[0-9a-f][0-9a-f]*/ADDRESS/g; s/([0-9]*, /(N, /'
}

# What has a value now, and what has none yet, among the nodes behind and in front.
states_now='pipe tensor list --limit 0 | sed -n "s/^#[0-9]*  *\(ffn_inp-1\|ffn_norm-1\|ffn_up-1\|l_out-1\) .*  \(ready\|evaluating\|lazy\) .*/- \1 \2/p"'

# look COMMAND…: gdb is given these
look()
{
	printf '%s\n' "$@" >"$scratch/look.gdb"
}

# A scheduler whose slot gdb has written is in $found behind `source $scratch/scheduler.gdb`.
look_for_scheduler()
{
	printf '%s\n' 'set $found = 0' 'set $i = 0' 'while $i < 32' 'if $_lb_s[$i] != 0' 'set $found = $_lb_s[$i]' 'end' \
		'set $i = $i + 1' 'end' >"$scratch/scheduler.gdb"
}

# stop_llama MODEL HOW OPTION…: what is said of the program under gdb
stop_llama()
{
	local model=$1 how=$2
	shift 2
	THREADS=1 run_gdb "$@" -x "$scratch/look.gdb" --args "$program" llama "$real/$stopped" "$models/$model.gguf" $how | stops_said
}

# By name and by operation, before it runs and when it has; before `run`, and in each run.
named_stops()
{
	stopped=$1
	look 'tensor break ffn_norm-1' "tensor break 'ffn_u*-[0-9]' after --op MUL_MAT" 'tensor break nosuch after' run \
		"$states_now" 'continue' 'tensor uncatch 1' 'continue' "$states_now" 'eval "tensor break #%d after", $tensor_id' 'tensor status' 'tensor uncatch' 'kill' \
		"tensor break 'ffn_norm-1' after --once" run "$states_now" 'tensor diff ffn_norm-1 --again' 'continue'
	same "$1, in gdb: it stops at nodes by name and by operation" "$(cat <<-'END'
		Catch 2 (after): an operation has run.
		  tensor ffn_up-0: float32 (N, 512), made by MUL_MAT
		in llama
		- ffn_inp-1 lazy
		- ffn_norm-1 lazy
		- ffn_up-1 lazy
		- l_out-1 lazy
		Catch 1 (before): an operation is about to run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 1 is off
		Catch 2 (after): an operation has run.
		  tensor ffn_up-1: float32 (N, 512), made by MUL_MAT
		in llama
		- ffn_inp-1 ready
		- ffn_norm-1 ready
		- ffn_up-1 ready
		- l_out-1 lazy
		Catch 4 is off
		Catch 2 is off
		Catch 3 is off
		Catch 5 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 5 is off
		- ffn_inp-1 ready
		- ffn_norm-1 ready
		- ffn_up-1 lazy
		- l_out-1 lazy
		  verdict        correct
	END
	)" "$(stop_llama F32 '')"
}

# In each of two processes.
again_stops()
{
	stopped=$1
	look "tensor break 'ffn_norm-1' after" run 'echo - again\n' kill run 'tensor uncatch' continue 'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: it stops in a second run, too" "$(cat <<-'END'
		Catch 1 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		- again
		Catch 1 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 1 is off
		- ended 0
	END
	)" "$(stop_llama F32 '')"
}

# A weight that is NaN: the first stop is at the node that it spoils, in each graph; nothing in front of it, nothing behind.
nan_stops()
{
	local first
	stopped=$1
	python3 tests/real/ggml/poison.py "$models/F32.gguf" "$scratch/NaN.gguf" blk.1.ffn_norm.weight 8 0000c07f
	ln -sf "$scratch/NaN.gguf" "$models/NaN.gguf"
	look 'tensor catch nan' "tensor catch range 'result_norm' -1e4 1e4" run 'echo - $tensor_size\n' continue \
		'tensor uncatch 1' "tensor catch nan 'l_o*-1'" continue 'tensor uncatch' continue
	same "$1, in gdb: it stops at the node where NaN comes up" "$(cat <<-'END'
		Catch 1 (nan): a result holds NaN or Inf.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		- $tensor_size
		Catch 1 (nan): a result holds NaN or Inf.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 1 is off
		Catch 3 (nan): a result holds NaN or Inf.
		  tensor l_out-1: float32 (N, 256), made by ADD
		in llama
		Catch 3 is off
		Catch 2 is off
	END
	)" "$(stop_llama NaN '')"
	# a catch that is asked about the same node, and finds nothing there, takes nothing from it, whichever comes first
	for first in 1 2; do
		look 'tensor catch nan' 'tensor catch range * -1e4 1e4' 'tensor catch nan' run continue 'tensor uncatch' continue \
			'printf "- ended %d\n", $_exitcode'
		sed -i "$((first == 1 ? 3 : 1))d" "$scratch/look.gdb"
		same "$1, in gdb: it stops there with a range of all nodes, caught $([ $first = 1 ] && echo behind || echo before)" "$(cat <<-'END'
			nan
			  tensor ffn_norm-1: float32 (N, 256), made by MUL
			in llama
			nan
			  tensor ffn_norm-1: float32 (N, 256), made by MUL
			in llama
			- ended 0
		END
		)" "$(stop_llama NaN '' | grep -v 'is off' | sed 's/^Catch [0-9]* (\([a-z]*\)).*/\1/')"
	done
	rm -f "$models/NaN.gguf"
}

# Where all is sound, masks and what is made from them are no reason to stop.
sound_stops()
{
	stopped=$1
	look 'tensor catch nan' run 'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: it stops nowhere where no NaN comes up" '- ended 0' "$(stop_llama F32 '')"
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
	stopped=$1
	look_for_scheduler
	same "$1, in gdb: it stops in a process that runs, which gdb leaves as it was" "$(cat <<-'END'
		tensor catch: misuse is of Lazybones' own runtime; of ggml's nodes nan, range, eval and breaks can be caught
		tensor break: the program's ggml has no operation NOTHING
		Catch 1 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		- written:1
		- written:0
		- the next:0
	END
	)" "$(paused paused 'tensor catch misuse' 'tensor break --op NOTHING' "tensor break 'ffn_norm-1' after" \
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
	stopped=$1
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

# Through gdbserver, set before it is connected to.
remote_stops()
{
	stopped=$1
	command -v gdbserver >/dev/null || return
	look 'set sysroot /' "tensor break 'ffn_norm-1' after --once" \
		"target remote | THREADS=1 gdbserver --once - $program llama $real/$1 $models/F32.gguf 2>/dev/null" continue "$states_now" \
		kill
	same "$1, in gdb: it stops through gdbserver" "$(cat <<-'END'
		Catch 1 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 1 is off
		- ffn_inp-1 ready
		- ffn_norm-1 ready
		- ffn_up-1 lazy
		- l_out-1 lazy
	END
	)" "$(run_gdb "$program" -x "$scratch/look.gdb" | stops_said)"
}

# Each of the schedulers of a program with two contexts, of which the first has two graphs to compute; one that has a callback of its own keeps it.
other_schedulers()
{
	stopped=$1
	look "tensor break 'result_norm' after" run continue continue 'set $n = 0' 'set $i = 0' 'while $i < 32' \
		'set $n = $n + ($_lb_s[$i] != 0)' 'set $i = $i + 1' 'end' 'printf "- schedulers %d\n", $n' 'tensor uncatch' continue
	same "$1, in gdb: it stops in each of two contexts" "$(printf '%s\n' 'in llama' 'in llama' 'in llama' '- schedulers 2')" \
		"$(stop_llama F32 two | grep 'in llama\|^-')"
}

# A callback of the program's own, which wants to see products alone, is called as if gdb were not there; wherever gdb stops.
own_callbacks()
{
	local way plain
	stopped=$1
	plain=$(WANTS=1 run llama "$real/$1" "$models/F32.gguf" | grep ^asked)
	same "$1: its own callback sees products" yes "$([[ $plain == *', 0 of them wrong' && $plain != 'asked 0'* ]] && echo yes || echo "$plain")"
	look 'set environment WANTS 1' "tensor break 'ffn_norm-1' after" "tensor break 'ffn_up-1'" run "$states_now" continue \
		"$states_now" 'tensor uncatch' 'tensor break Qcur-1 after' continue 'tensor uncatch' continue
	same "$1, in gdb: it stops where the program has a callback of its own" "$(cat <<-'END'
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
	)" "$(stop_llama F32 '')"
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
	stopped=$1
	for way in parent child; do
		look "set follow-fork-mode $way" "tensor break 'nosuch' after" 'set breakpoint pending on' 'tbreak llama_get_logits_ith' run \
			"tensor break 'ffn_norm-1' after --once" continue 'tensor uncatch' continue 'printf "- ended %d\n", $_exitcode'
		same "$1, in gdb: it stops behind a fork, in the $way" "$(cat <<-'END'
			Catch 2 (after): an operation has run.
			  tensor ffn_norm-1: float32 (N, 256), made by MUL
			in llama
			Catch 2 is off
			Catch 1 is off
			- ended 0
		END
		)" "$(stop_llama F32 fork)"
		same "$1, in gdb: parent and child compute as ever, where gdb stays with the $way" "$(cat "$models/F32.greedy" "$models/F32.greedy")" \
			"$(timeout 60 grep -m 2 '^[0-9, ]*$' <(timeout 60 tail -n +1 -f "$scratch/said"))"
	done
	look "tensor break 'nosuch' after" 'set breakpoint pending on' 'tbreak llama_get_logits_ith' run 'tbreak execl' continue \
		"tensor break 'ffn_norm-1' after --once" continue 'tensor uncatch' continue 'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: it stops in a program that another has executed" "$(cat <<-'END'
		Catch 2 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 2 is off
		Catch 1 is off
		- ended 0
	END
	)" "$(stop_llama F32 exec)"
}

# Nor is it called otherwise where gdb's user takes away what calls it, in the middle of a node that it declined.
broken_callbacks()
{
	local plain way number="pipe info breakpoints | awk '/^[0-9]+ /{n=\$1} /_tensor_hit ggml KEY /{print \"WHAT\", n}' >$scratch/numbers.gdb"
	stopped=$1
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
	stopped=$1
	look_for_scheduler
	look "tensor break 'result_norm' after" run 'frame 0' 'set $code = (unsigned long)$pc' "source $scratch/scheduler.gdb" \
		'find /g /1 $found, +0x600, $code' 'set $slot = (unsigned long)$_ - $found' 'tensor uncatch' 'tbreak ggml_backend_sched_alloc_graph' \
		continue 'set $found = (unsigned long)$rdi' 'set {unsigned long}($found + $slot) = $code' 'set {unsigned long}($found + $slot + 8) = 0x1234' \
		"tensor break 'l_out-1' after" continue 'tbreak llama_get_logits_ith' continue 'tensor uncatch' \
		'echo - put back:' 'output {unsigned long}($found + $slot) == $code && {unsigned long}($found + $slot + 8) == 0x1234' 'echo \n'
	same "$1, in gdb: the program's callback may be the code that was chosen" "$(cat <<-'END'
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
	)" "$(stop_llama F32 '')"
}

# While gdb has the program, lazybones pid shows what needs no look at its threads, and says who has them.
outside_stops()
{
	stopped=$1
	cat >"$scratch/outside.sh" <<-END
		look="$O/bin/lazybones pid \$(cat $scratch/id)"
		for command in 'list --limit 0 blk.1.ffn_norm.weight' 'print ffn_inp-1' where; do
			\$look \$command 2>&1 | tr -s ' \\n' ' ' | sed 's/ \$//; s/thread [0-9]*/thread N/; s/process [0-9]*/process N/g; s/^#[0-9]* /#N /; s/^/- /'
			echo
		done
	END
	look "tensor break 'ffn_norm-1'" run "pipe info inferiors | sed -n 's/.*process \\([0-9]*\\).*/\\1/p' >$scratch/id" \
		"shell sh $scratch/outside.sh" kill
	local had="thread N of process N belongs to a debugger, process N (${gdb##*/}): ask that one, or let it detach"
	same "$1, in gdb: what is seen from outside meanwhile" "$(cat <<-END
		- lazybones: ffn_inp-1 may not have been computed yet: what the program's threads do is not known: $had
		- what the program's threads do is not known: $had
	END
	)" "$(stop_llama F32 '' | grep '^- .*threads do')"
	same "$1, in gdb: leaves are seen from outside" 1 "$(stop_llama F32 '' | grep -c '^- id .* blk.1.ffn_norm.weight float32 (256,) ready')"
}

# A core that gdb makes there tells the same, without gdb.
cored_stops()
{
	stopped=$1
	look "tensor break 'ffn_norm-1'" run "pipe tensor where | sed -n '2s/(.*//p' >$scratch/where" "generate-core-file $scratch/stopped.gcore" kill
	stop_llama F32 '' >/dev/null
	same "$1, in gdb: where tells the node that comes next" '    is about to compute MUL of ffn_norm-1 ' "$(cat "$scratch/where")"
	same "$1: a core of a stop tells how far the graph is" "$(cat <<-'END'
		ffn_inp-1 ready
		ffn_norm-1 evaluating
		ffn_up-1 lazy
		l_out-1 lazy
	END
	)" "$("$O/bin/lazybones" core "$scratch/stopped.gcore" list --limit 0 |
		sed -n 's/^#[0-9]*  *\(ffn_inp-1\|ffn_norm-1\|ffn_up-1\|l_out-1\) .*  \(ready\|evaluating\|lazy\) .*/\1 \2/p')"
	rm -f "$scratch/stopped.gcore"
}

# Of what gdb has started it takes nothing away when it is about to quit: its user may say no when it asks.
staying_stops()
{
	stopped=$1
	look "tensor break 'ffn_norm-1' after" "tensor break 'l_out-1' after" run '_lb_leave quit' continue '_lb_leave quit' 'tensor uncatch' continue \
		'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: it stops where gdb was about to quit, and stays" "$(cat <<-'END'
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
	)" "$(stop_llama F32 '')"
}

# What is not meant ends no `next`; and nothing is left of a catch that went in the middle of a graph.
quiet_stops()
{
	local line
	stopped=$1
	line=$(grep -n '^	stop_if(llama_decode(context, batch) != 0' tests/real/ggml/program.c | head -1 | cut -d: -f1)
	look "tensor break 'nosuch' after" "tensor break 'ffn_x*'" "tbreak program.c:$line" run next \
		"pipe frame | sed -n 's/.*program.c:/- line /p'" "tensor break 'result_norm'" continue 'tensor uncatch' \
		'tbreak rest' continue 'tensor catch misuse' 'pipe tensor status | cat >/dev/null' 'pipe info breakpoints | sed "s/^/- /; s/No breakpoints.*/No breakpoints/"' continue
	same "$1, in gdb: what is not meant goes by" "$(cat <<-END
		- line $((line + 1))
		Catch 3 (before): an operation is about to run.
		  tensor result_norm: float32 (N, 256), made by MUL
		in llama
		Catch 1 is off
		Catch 2 is off
		Catch 3 is off
		tensor catch: misuse is of Lazybones' own runtime; of ggml's nodes nan, range, eval and breaks can be caught
		- No breakpoints
	END
	)" "$(stop_llama F32 '')"
}

# One that looks and finds nothing takes no stop from another, whichever comes first; and all may be deleted there.
several_stops()
{
	stopped=$1
	look 'tensor catch range * -1e9 1e9' "tensor break 'ffn_norm-1' after" 'tensor catch range * -1e9 1e9' run \
		'tensor uncatch 1' "tensor break 'l_o*-1' after" continue delete 'pipe tensor status | grep -c ^catch | sed "s/^/- /"' continue \
		'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: several catches at a node" "$(cat <<-'END'
		Catch 2 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 1 is off
		Catch 4 (after): an operation has run.
		  tensor l_out-1: float32 (N, 256), made by ADD
		in llama
		- 0
		- ended 0
	END
	)" "$(stop_llama F32 '')"
}

# With our own runtime beside it: it stops at ggml's nodes, whose numbers say whose they are.
both_stops()
{
	stopped=$1
	look "set environment LD_PRELOAD $(realpath "$O")/lib/liblazybones.so" "tensor break 'ffn_norm-1' after" run \
		"pipe tensor status | grep -c '^runtime *Lazybones\|^provider *ggml' | sed 's/^/- /'" continue
	same "$1, in gdb: it stops beside our own runtime" "$(cat <<-'END'
		Catch 1 (after): an operation has run.
		  tensor ggml#N ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		- 2
	END
	)" "$(stop_llama F32 '' | head -4 | sed 's/ggml#[0-9]*/ggml#N/')"
}

# Without a scheduler: at nodes, in front of them and behind, also behind the last one of a graph.
forward_stops()
{
	look "tensor break 'y.q*'" 'tensor break --op GET_ROWS' 'tensor catch nan' "tensor break 'y.q8_0' after" \
		"run graph $real/$1" continue "pipe tensor print y.q8_0[0,:3] | sed 's/^/- /'" "pipe tensor where | sed -n '2s/ (#.*//; 2s/^ */- /p'" \
		"tensor break 'rows' after" 'tensor uncatch 1' 'tensor uncatch 3' continue continue "pipe tensor print rows[0,:3] | sed 's/, as it lies.*//; s/^/- /'" \
		'tensor uncatch' continue
	same "$1, in gdb: it stops without a scheduler" "$(cat <<-END
		Catch 1 (before): an operation is about to run.
		  tensor y.q8_0: float32 (N, 16), made by MUL_MAT
		Catch 1 (before): an operation is about to run.
		  tensor y.q4_0: float32 (N, 16), made by MUL_MAT
		Catch 4 (after): an operation has run.
		  tensor y.q8_0: float32 (N, 16), made by MUL_MAT
		- y.q8_0[0,:3]: float32 (3,)
		- [-598. -755.  560.]
		- computes MUL_MAT of y.q4_0
		Catch 1 is off
		Catch 3 is off
		Catch 2 (before): an operation is about to run.
		  tensor rows: float32 (N, 64), made by GET_ROWS
		Catch 5 (after): an operation has run.
		  tensor rows: float32 (N, 64), made by GET_ROWS
		- rows[0,:3]: float32 (3,)
		- [-24. -17. 127.]
		Catch 2 is off
		Catch 4 is off
		Catch 5 is off
		computed
	END
	)" "$(run_gdb "$program" -x "$scratch/look.gdb" | stops_said; grep -x computed "$scratch/said")"
	look 'tensor catch nan' "run nan $real/$1" continue 'tensor uncatch' "tensor catch range 'ro*' -1 0.5" continue \
		'tensor uncatch' continue
	same "$1, in gdb: without a scheduler it stops where NaN comes up, and what is too large" "$(cat <<-END
		Catch 1 (nan): a result holds NaN or Inf.
		  tensor logs: float32 (N, 8), made by LOG
		Catch 1 (nan): a result holds NaN or Inf.
		  tensor ratios: float32 (N, 8), made by DIV
		Catch 1 is off
		Catch 2 (range): a result has values outside the range.
		  tensor roots: float32 (N, 8), made by SQRT
		Catch 2 is off
	END
	)" "$(run_gdb "$program" -x "$scratch/look.gdb" | stops_said)"
	look 'tensor break ratios' "run nan $real/$1" 'tensor break ratios after' continue 'tensor break roots after' 'tensor uncatch 1' continue \
		'tensor uncatch' continue 'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: without a scheduler a catch that is set at a stop holds there" "$(cat <<-END
		Catch 1 (before): an operation is about to run.
		  tensor ratios: float32 (N, 8), made by DIV
		Catch 2 (after): an operation has run.
		  tensor ratios: float32 (N, 8), made by DIV
		Catch 1 is off
		Catch 3 (after): an operation has run.
		  tensor roots: float32 (N, 8), made by SQRT
		Catch 2 is off
		Catch 3 is off
		- ended 0
	END
	)" "$(run_gdb "$program" -x "$scratch/look.gdb" | stops_said)"
	look 'tensor break ratios' "run nan $real/$1" 'tensor uncatch' 'tensor break ratios after' continue 'tensor uncatch' 'tensor break logs' stepi continue
	same "$1, in gdb: likewise where no other is left" "$(cat <<-END
		Catch 1 (before): an operation is about to run.
		  tensor ratios: float32 (N, 8), made by DIV
		Catch 1 is off
		Catch 2 (after): an operation has run.
		  tensor ratios: float32 (N, 8), made by DIV
		Catch 2 is off
	END
	)" "$(run_gdb "$program" -x "$scratch/look.gdb" | stops_said)"
	look 'tensor break logs' "run nan $real/$1 one" continue 'set var times = 3' 'tensor uncatch' 'tensor break logs' continue continue continue \
		continue 'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: without a scheduler a graph that is built once is stopped in each time" \
		'1 1 2 2 2 ended' "$(run_gdb "$program" -x "$scratch/look.gdb" | sed -n 's/^Catch \([0-9]\) (.*/\1/p; s/^- \(ended\) 0/\1/p' | xargs)"
	look "tensor break 'logs'" "run nan $real/$1 one" continue continue continue 'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: without a scheduler it stops each time a graph of one node is computed" "$(cat <<-'END'
		Catch 1 (before): an operation is about to run.
		  tensor logs: float32 (N, 8), made by LOG
		Catch 1 (before): an operation is about to run.
		  tensor logs: float32 (N, 8), made by LOG
		Catch 1 (before): an operation is about to run.
		  tensor logs: float32 (N, 8), made by LOG
		- ended 0
	END
	)" "$(run_gdb "$program" -x "$scratch/look.gdb" | stops_said)"
	look "tensor break 'y.q*'" "run graph $real/ggml-2024-10"
	[ ! -d "$real/ggml-2024-10" ] ||
		same 'ggml-2024-10, in gdb: without a scheduler it cannot stop' "$(cat <<-'END'
			Catch 1 does not stop at ggml's nodes: the program computes without ggml's scheduler, and its ggml does not export ggml_cpu_extra_compute_forward.
			computed
		END
		)" "$(run_gdb "$program" -x "$scratch/look.gdb" | stops_said; grep -x computed "$scratch/said")"
}

# A breakpoint of the user's own stops where one of ours has nothing to say, and only where its condition is true.
shared_places()
{
	stopped=$1
	look 'set breakpoint pending on' 'set $n = 0' 'tbreak ggml_build_forward_expand' "tensor catch range 'nosuch' -1 1" \
		"run nan $real/$1 one" 'break ggml_graph_compute if $n++ == 1' 'dprintf ggml_graph_compute,"- computes\n"' continue \
		'printf "- here %d\n", $n' 'tbreak ggml_graph_compute' continue 'printf "- here %d\n", $n' continue \
		'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: breakpoints of the user's own stop where a catch of values looks" "$(printf '%s\n' '- computes' '- computes' \
		'- here 2' '- computes' '- here 3' '- ended 0')" "$(run_gdb "$program" -x "$scratch/look.gdb" | grep '^- ')"
	look 'set breakpoint pending on' 'break ggml_backend_sched_graph_compute_async' "tensor break 'nosuch' after" \
		'set environment WANTS 1' run 'echo - here\n' continue 'echo - here\n' 'tensor uncatch' 'delete' continue \
		'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: likewise where the program's callback is seen" "$(printf '%s\n' 'in sched' '- here' 'in sched' '- here' '- ended 0')" \
		"$(THREADS=1 run_gdb -x "$scratch/look.gdb" --args "$program" llama "$real/$1" "$models/F32.gguf" |
			sed -n 's/^Breakpoint [0-9]*, .*ggml_backend_sched_graph_compute_async.*/in sched/p; /^- /p')"
}

# stop_whisper MODEL: what is said of the program under gdb
stop_whisper()
{
	THREADS=1 run_gdb -x "$scratch/look.gdb" --args "$program" whisper "$real/$stopped" "$1" | stops_said
}

# whisper.cpp frees the context of a graph before it computes that: nodes are known by their records.
whisper_stops()
{
	local plain
	stopped=$1
	python3 tests/real/ggml/make_whisper.py "$scratch/whisper.bin" || { skip "$1: no model to run (python3-numpy)"; return; }
	same "$1: a word is decoded" $'decoded\nresting\nstatus 0' "$(run whisper "$real/$1" "$scratch/whisper.bin")"
	look 'tensor catch nan' "tensor break 'embd_c*' after" "tensor break --op FLASH_ATTN_EXT --once" run \
		'pipe tensor list --limit 0 | sed -n "s/^#[0-9]*  *\(embd_conv\) .*  \(ready\|evaluating\|lazy\) .*/- \1 \2/p"' \
		'tensor uncatch 2' continue "pipe tensor where | sed -n '2s/(#.*//; 2s/^ */- /p'" \
		'pipe tensor where | sed -n "s/.*called by \(compute_whisper\) .*/- called by \1/p"' \
		'pipe tensor list --limit 0 | grep -c "  lazy  *FLASH_ATTN_EXT" | sed "s/^/- /; s/[1-9][0-9]*/some/"' \
		"tensor break 'node_*' after --op MUL_MAT" continue 'tensor uncatch' 'tensor catch nan' continue
	same "$1, in gdb: it stops at whisper's nodes" "$(cat <<-'END'
		Catch 2 (after): an operation has run.
		  tensor embd_conv: float32 (N, 32), made by UNARY
		in compute_whisper
		- embd_conv ready
		Catch 2 is off
		Catch 3 (before): an operation is about to run.
		  tensor node_20: float32 (N, 1, 64), made by FLASH_ATTN_EXT
		in compute_whisper
		Catch 3 is off
		- is about to compute FLASH_ATTN_EXT of node_20 
		- called by compute_whisper
		- some
		Catch 4 (after): an operation has run.
		  tensor node_22: float32 (N, 64), made by MUL_MAT
		in compute_whisper
		Catch 1 is off
		Catch 4 is off
	END
	)" "$(stop_whisper "$scratch/whisper.bin")"
	same "$1, in gdb: what it computes is as ever" decoded "$(grep -x decoded "$scratch/said")"
	python3 tests/real/ggml/make_whisper.py "$scratch/whisper.bin" decoder.blocks.1.mlp_ln.weight
	look 'tensor catch nan' run kill
	same "$1, in gdb: it stops where NaN comes up in whisper's decoder" "$(cat <<-'END'
		Catch 1 (nan): a result holds NaN or Inf.
		  tensor node_88: float32 (N, 64), made by MUL
		in compute_whisper
	END
	)" "$(stop_whisper "$scratch/whisper.bin")"
}

# stops_in_gdb BUILD
stops_in_gdb()
{
	command -v "$gdb" >/dev/null && [ -f "$O/lazybones.gdb" ] || return 0
	[ "$1" != ggml-whisper ] || whisper_stops "$1"
	[ -f "$models/F32.gguf" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
	case $1 in
	ggml-2024-02 | ggml-2024-10 | ggml-2024-12 | ggml-2025-06 | ggml-static)
		named_stops "$1"
		sound_stops "$1" ;;
	"$newest")
		named_stops "$1"
		again_stops "$1"
		nan_stops "$1"
		sound_stops "$1"
		attached_stops "$1"
		asked_stops "$1"
		remote_stops "$1"
		cored_stops "$1"
		outside_stops "$1"
		forward_stops "$1"
		shared_places "$1"
		staying_stops "$1"
		quiet_stops "$1"
		several_stops "$1"
		other_schedulers "$1"
		own_callbacks "$1"
		broken_callbacks "$1"
		other_processes "$1"
		both_stops "$1"
		chosen_callbacks "$1" ;;
	esac
}
