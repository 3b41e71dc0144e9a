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

# stop_llama MODEL HOW OPTION…: what is said of the program under gdb
stop_llama()
{
	local model=$1 how=$2
	shift 2
	THREADS=1 run_gdb "$@" -x "$scratch/look.gdb" --args "$program" llama "$real/$stopped" "$models/$model.gguf" $how | stops_said
}

# stops WHAT MODEL HOW COMMAND…: where gdb is given the commands, what is said is what is read here
stops()
{
	local what=$1 model=$2 how=$3
	shift 3
	look "$@"
	same "$stopped, in gdb: $what" "$(cat)" "$(stop_llama "$model" "$how")"
}

# stops_of_program WHAT COMMAND…: likewise where one of the commands runs the program
stops_of_program()
{
	local what=$1
	shift
	look "$@"
	same "$stopped, in gdb: $what" "$(cat)" "$(run_gdb "$program" -x "$scratch/look.gdb" | stops_said)"
}

# By name and by operation, before it runs and when it has; before `run`, and in each run.
named_stops()
{
	stops 'it stops at nodes by name and by operation' F32 '' \
		'tensor break ffn_norm-1' "tensor break 'ffn_u*-[0-9]' after --op MUL_MAT" 'tensor break nosuch after' run \
		"$states_now" 'continue' 'tensor uncatch 1' 'continue' "$states_now" 'eval "tensor break #%d after", $tensor_id' 'tensor status' 'tensor uncatch' 'kill' \
		"tensor break 'ffn_norm-1' after --once" run "$states_now" 'tensor diff ffn_norm-1 --again' 'continue' <<-'END'
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
}

# In each of two processes.
again_stops()
{
	stops 'it stops in a second run, too' F32 '' \
		"tensor break 'ffn_norm-1' after" run 'echo - again\n' kill run 'tensor uncatch' continue 'printf "- ended %d\n", $_exitcode' <<-'END'
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
}

# A weight that is NaN: the first stop is at the node that it spoils, in each graph; nothing in front of it, nothing behind.
nan_stops()
{
	local first
	python3 tests/real/ggml/poison.py "$models/F32.gguf" "$scratch/NaN.gguf" blk.1.ffn_norm.weight 8 0000c07f
	ln -sf "$scratch/NaN.gguf" "$models/NaN.gguf"
	stops 'it stops at the node where NaN comes up' NaN '' \
		'tensor catch nan' "tensor catch range 'result_norm' -1e4 1e4" run 'echo - $tensor_size\n' continue \
		'tensor uncatch 1' "tensor catch nan 'l_o*-1'" continue 'tensor uncatch' continue <<-'END'
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

# Where all is sound, masks and what is made from them are no reason to stop: in all graphs of the newest, and the first of others.
sound_stops()
{
	look 'set breakpoint pending on' 'tensor catch nan' 'tbreak llama_get_logits_ith' run 'tensor uncatch' continue \
		'printf "- ended %d\n", $_exitcode'
	[ "$1" != $newest ] || look "tensor catch nan" run 'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: it stops nowhere where no NaN comes up" '- ended 0' "$(stop_llama F32 '' | grep -v 'is off')"
}

# Through gdbserver, set before it is connected to.
remote_stops()
{
	command -v gdbserver >/dev/null || return
	stops_of_program 'it stops through gdbserver' 'set sysroot /' "tensor break 'ffn_norm-1' after --once" \
		"target remote | THREADS=1 gdbserver --once - $program llama $real/$1 $models/F32.gguf 2>/dev/null" continue "$states_now" \
		kill <<-'END'
		Catch 1 (after): an operation has run.
		  tensor ffn_norm-1: float32 (N, 256), made by MUL
		in llama
		Catch 1 is off
		- ffn_inp-1 ready
		- ffn_norm-1 ready
		- ffn_up-1 lazy
		- l_out-1 lazy
	END
}

# While gdb has the program, lazybones pid shows what needs no look at its threads, and says who has them.
outside_stops()
{
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

# What is not meant ends no `next`; and nothing is left of a catch that went in the middle of a graph.
quiet_stops()
{
	local line
	line=$(grep -n '^	stop_if(llama_decode(context, batch) != 0' tests/real/ggml/program.c | head -1 | cut -d: -f1)
	stops 'what is not meant goes by' F32 '' \
		"tensor break 'nosuch' after" "tensor break 'ffn_x*'" "tbreak program.c:$line" run next \
		"pipe frame | sed -n 's/.*program.c:/- line /p'" "tensor break 'result_norm'" continue 'tensor uncatch' \
		'tbreak rest' continue 'tensor catch misuse' 'pipe tensor status | cat >/dev/null' 'pipe info breakpoints | sed "s/^/- /; s/No breakpoints.*/No breakpoints/"' continue <<-END
		- line $((line + 1))
		Catch 3 (before): an operation is about to run.
		  tensor result_norm: float32 (N, 256), made by MUL
		in llama
		Catch 1 is off
		Catch 2 is off
		Catch 3 is off
		tensor catch: misuse cannot be caught of ggml's nodes, but nan, range, eval and breaks can
		- No breakpoints
	END
}

# One that looks and finds nothing takes no stop from another, whichever comes first; and all may be deleted there.
several_stops()
{
	stops 'several catches at a node' F32 '' \
		'tensor catch range * -1e9 1e9' "tensor break 'ffn_norm-1' after" 'tensor catch range * -1e9 1e9' run \
		'tensor uncatch 1' "tensor break 'l_o*-1' after" continue delete 'pipe tensor status | grep -c ^catch | sed "s/^/- /"' continue \
		'printf "- ended %d\n", $_exitcode' <<-'END'
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
}

# With our own runtime beside it: it stops at ggml's nodes, whose numbers say whose they are.
both_stops()
{
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

# A breakpoint of the user's own stops where one of ours has nothing to say, and only where its condition is true.
shared_places()
{
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
	stopped=$1
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
