# ggml and llama.cpp of several years, with a program of ours (program.c): that they compute, and how they stop.
. tests/real/ggml/build.sh

# The newest takes longest, and begins.
guests='ggml-2026-09 ggml-2024-02 ggml-2024-10 ggml-2024-12 ggml-2025-06 ggml-static ggml-whisper'
models=$real/ggml/models
kinds_ids=1,77,300,12,5,350,351,200,40
# ggml's threads spin while they wait, and there may be fewer processors: one, but where threads are the point.
export THREADS=${THREADS:-1}

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
		same "$1: by two threads" "$(cat "$models/F32.greedy")"$'\nresting\nstatus 0' \
			"$(THREADS=2 run llama "$real/$1" "$models/F32.gguf")"
	fi
}

# The architectures that examples/llama reads: what it computes of them, and their tokens. llama.cpp keeps keys and values as
# float16.
kinds()
{
	local kind file said
	[ -f "$models/qwen2.gguf" ] && [ -x "$O/examples/llama" ] || { skip "$1: no kinds of models to compare (python3-numpy)"; return; }
	python3 tests/examples/make_kinds.py --texts >"$scratch/texts"
	for kind in $(python3 tests/examples/make_kinds.py --names); do
		file=$models/$kind.gguf
		timeout 120 "$program" logits "$real/$1" "$file" $kinds_ids >"$scratch/$kind.logits" 2>"$scratch/errors"
		"$O/examples/llama" "$file" --ids=$kinds_ids -n 0 --logits="$scratch/$kind.npy" >/dev/null 2>&1
		said=$(python3 tests/examples/make_llama.py --logits "$scratch/$kind.npy" "$scratch/$kind.logits" 3e-3 2>&1) && said=
		same "$1: examples/llama computes $kind as llama.cpp does" '' "$said"
		same "$1: examples/llama has the tokens of $kind" \
			"$(timeout 120 "$program" tokens "$real/$1" "$file" <"$scratch/texts" 2>"$scratch/errors"; echo "status $?")" \
			"$(while IFS= read -r line; do
				"$O/examples/llama" "$file" --tokenize --prompt="$line"
			done <"$scratch/texts"
			echo 'status 0')"
	done
}

# Every line is one of golden.inc, with which tests/unit/test_blocks.c compares ours; the newest one has them all.
blocks()
{
	local golden=tests/real/ggml/golden.inc found
	found=$(run blocks "$real/$1")
	same "$1: blocks are decoded" 'status 0' "$(tail -1 <<<"$found")"
	found=$(grep '^{' <<<"$found") || found='no line of blocks'
	if [ -n "$record" ] && [ "$1" = "$newest" ]; then
		{ sed '/^{/,$d' $golden && echo "$found"; } >"$scratch/golden" && cp "$scratch/golden" $golden
	fi
	same "$1: blocks decode as recorded" '' "$(grep -vxFf $golden <<<"$found")"
	[ "$1" != $newest ] || same "$1: all that is recorded was decoded" "$(grep '^{' $golden)" "$found"
}

# core_of WHERE ARGUMENT…: a core of the program, which these have dump one, in $scratch/WHERE; false where the kernel writes none.
core_of()
{
	local where=$scratch/$1
	shift
	mkdir -p "$where"
	{ (cd "$where" && ulimit -c unlimited && exec timeout 120 "$program" "$@" >out </dev/null); } 2>/dev/null
	mv "$where"/core* "$where/dump" 2>/dev/null
}

# healthy WHAT COMMAND: the doctor has looked at its tensors, and has found nothing above low.
healthy()
{
	local said
	said=$($2 doctor 2>&1) && [[ $said != *'none of tensors'* ]] && said=
	same "$1: healthy, and the doctor finds nothing above low" '' "$said"
}

tensors_of_graph='a float32 (3, 64) ready NONE
ids int32 (2,) ready NONE
part float32 (3, 8) in memory VIEW
result float32 (8, 3) in memory CONT
rows float32 (2, 64) in memory GET_ROWS
sum float32 (3, 16) in memory ADD
turned float32 (8, 3) in memory TRANSPOSE
w.f16 float16 (16, 64) ready NONE
w.q4_0 q4_0 (16, 64) ready NONE
w.q8_0 q8_0 (16, 64) ready NONE
y.f16 float32 (3, 16) in memory MUL_MAT
y.q4_0 float32 (3, 16) in memory MUL_MAT
y.q8_0 float32 (3, 16) in memory MUL_MAT'

# In a list, what the program made and named; the oldest ggml has no bf16 in its graph.
named()
{
	sed -n 's/^#[0-9]* *\([a-z][^ ]*\)  *\([a-z0-9_]*\)  *\(([^)]*)\)  *\([a-z ]*[a-z]\)  *\([A-Z_0-9]*\) .*/\1 \2 \3 \4 \5/p' |
		grep -v '^node_\|bf16 \|^work ' | sort
}

# What the program computed, from its memory: its result checks itself against what it must be (program.c).
seen()
{
	local at
	same "$1, $2: its tensors" "$(sort <<<"$tensors_of_graph")" "$($3 list --limit 0 | named)"
	same "$1, $2: a view reads as its copy" '  all 24 elements are equal' "$($3 diff turned result | sed -n 2p)"
	same "$1, $2: blocks, and their rows" $'w.q8_0[0,:6]: q8_0 (6,)\n[-4.  -2.5 -1.   0.5  2.   3.5]' \
		"$($3 print 'w.q8_0[0,:6]')"
	same "$1, $2: the same of 4 bits" $'w.q4_0[15,-4:]: q4_0 (4,)\n[ 3.5 -3.  -1.5  0. ]' "$($3 print 'w.q4_0[15,-4:]')"
	# the activations of such a product are of 8 bits, too
	same "$1, $2: a product of blocks, computed" 'True' \
		"$($3 print 'allclose(y.q8_0, a @ w.q8_0.T, rtol=0.02, atol=0.5)' | tail -1)"
	same "$1, $2: a node" \
		'rows: float32 (2, 64), as it lies in memory: ggml keeps no mark of what it has computed' \
		"$($3 print rows | head -1)"
	same "$1, $2: it is rows of a" '  all 64 elements are equal' "$($3 diff 'rows[0]' 'a[2]' | sed -n 2p)"
	same "$1, $2: as ggml's own people know it" $'ne          [3, 8, 1, 1]\nnb          [4, 12, 96, 96]' \
		"$($3 info result | sed -n 's/^  \(n[eb] .*\)/\1/p')"
	same "$1, $2: what it is for" $'compute\n' "$($3 info result | sed -n 's/^  usage  *//p')"$'\n'
	same "$1, $2: how its layout was decided" 'as the code of its functions says' \
		"$($3 status | sed -n 's/^ *layout that of 20[0-9-]* and later, //p')"
	at=$($3 info a | sed -n 's/^  data  *//p')
	same "$1, $2: whose an address is" '  a (float32 (3, 64), ready): element [0, 2], byte 1 of it' \
		"$($3 at $((at + 9)) | sed -n 's/ (#[0-9]*, / (/; 2p')"
	same "$1, $2: who has it for an input" 'rows y.f16 y.q4_0 y.q8_0' \
		"$($3 owner a | sed -n 's/^ .* \([a-z0-9_.]*\) (#.*in memory)$/\1/p' | grep -v bf16 | sort | xargs)"
	same "$1, $2: its graph points to it" yes "$($3 owner a | grep -q ' in the ggml_cgraph at 0x' && echo yes)"
	same "$1, $2: where it comes from" 'part sum' \
		"$($3 info turned | sed -n 's/^ *\(inputs *\)\{0,1\}\([a-z]*\) (#.*in memory)$/\2/p' | xargs)"
}

# A process of the program, whose commands are in $process; until released.
process_of()
{
	local line
	coproc "$program" "$@" 2>/dev/null
	pid=$COPROC_PID
	process="$O/bin/lazybones pid $pid"
	while read -r line <&"${COPROC[0]}" && [ "$line" != resting ]; do :; done
}

released()
{
	eval "exec ${COPROC[1]}>&-"
	wait $pid
}

# compared WHAT COMMAND A B: whether all elements are equal, in either order
compared()
{
	same "$1" '  all 1024 elements are equal' "$($2 diff "$3" "$4" 2>&1 | sed -n 2p)"
}

# A tensor of blocks beside the same one in a file, in another core, and in a core of our own runtime.
compared_with_others()
{
	local dump=$scratch/$1/dump npy=$scratch/$1/w.npy
	local seen="$O/bin/lazybones core $dump"
	$seen save w.q8_0 "$npy" >/dev/null 2>&1
	compared "$1: a file of ours" "$seen" w.q8_0 "$npy"
	compared "$1: another core" "$seen" w.q8_0 "$dump:w.q8_0"
	$CC -std=gnu17 -Wall -Wextra -Werror -Iruntime -o "$scratch/ours" tests/real/ggml/ours.c -L"$O/lib" -llazybones \
		-Wl,-rpath,"$(realpath "$O/lib")" && mkdir -p "$scratch/ours.d"
	{ (cd "$scratch/ours.d" && ulimit -c unlimited && exec "$scratch/ours" "$npy"); } 2>/dev/null
	mv "$scratch"/ours.d/core* "$scratch/ours.core"
	compared "$1: a core of ours" "$seen" w.q8_0 "$scratch/ours.core:ours"
	compared "$1: ours, with its core" "$O/bin/lazybones core $scratch/ours.core" ours "$dump:w.q8_0"
}

# A core of it, and the process itself.
tensors()
{
	if ! core_of "$1" graph "$real/$1" abort; then
		skip "$1: the kernel writes no core here"
	else
		seen "$1" 'a core' "$O/bin/lazybones core $scratch/$1/dump"
		healthy "$1, a core" "$O/bin/lazybones core $scratch/$1/dump"
		[ "$1" != $newest ] || compared_with_others "$1"
	fi
	process_of graph "$real/$1"
	seen "$1" 'the process' "$process"
	healthy "$1, the process" "$process"
	released
}

# Threads that wait for a graph compute none.
waiting()
{
	process_of graph "$real/$1" pool
	same "$1, threads that wait: its tensors" "$(sort <<<"$tensors_of_graph")" "$($process list --limit 0 | named)"
	released
}

# The numbers of threads, and which of the libraries it is.
anonymous()
{
	sed 's/thread [0-9]*/thread N/; s/(.*\.\(so\|node\))/(LIBRARY)/'
}

# Within a graph, which is computed for the second time.
within()
{
	local why='thread N is in ggml_graph_compute_with_ctx (LIBRARY)'
	same "$1, $2: no node is shown" "$(sort <<<"$tensors_of_graph" | sed 's/in memory/unsure/')" \
		"$($3 list --limit 0 | named | grep -v ^passed)"
	same "$1, $2: nor printed" "lazybones: rows may not have been computed yet: $why" "$($3 print rows 2>&1 | anonymous)"
	same "$1, $2: nor measured" "lazybones: rows may not have been computed yet: $why" "$($3 stats rows 2>&1 | anonymous)"
	same "$1, $2: a comparison computes it anew" '  all 64 elements are equal' "$($3 diff 'rows[0]' 'a[2]' | sed -n 2p)"
	same "$1, $2: a leaf is" $'a[0,:2]: float32 (2,)\n[-127.   43.]' "$($3 print 'a[0,:2]')"
}

computing()
{
	local how
	for how in within-abort worker-abort; do
		if core_of "$1-$how" graph "$real/$1" $how; then
			within "$1" "a core, $how" "$O/bin/lazybones core $scratch/$1-$how/dump"
			healthy "$1, a core, $how" "$O/bin/lazybones core $scratch/$1-$how/dump"
		elif [ $how = within-abort ]; then
			skip "$1: the kernel writes no core here"
		fi
	done
	process_of graph "$real/$1" within
	within "$1" 'a process within a graph' "$process"
	released
}

# Within an operation in the middle of a graph, which is computed for the second time: what lies behind it is of the first.
amidst()
{
	same "$1, $2: what has been computed is known" \
		"$(sort <<<"$tensors_of_graph" | sed '/^\(part\|result\|turned\) /s/in memory/lazy/
			/^rows /s/in memory/evaluating/; s/in memory/ready/')" "$($3 list --limit 0 | named)"
	same "$1, $2: a node in front" $'y.q8_0[0,:3]: float32 (3,)\n[ 598.  755. -560.]' "$($3 print 'y.q8_0[0,:3]')"
	same "$1, $2: the node" 'rows: float32 (2, 64), evaluating: it has no value yet' "$($3 print rows | head -1)"
	same "$1, $2: a node behind" 'result: float32 (8, 3), lazy: it has no value yet' "$($3 print result | head -1)"
	same "$1, $2: a view behind, of one in front" 'turned: float32 (8, 3), lazy: it has no value yet' \
		"$($3 print turned | head -1)"
	same "$1, $2: where it is" $'computes GET_ROWS of rows\ninput a\ninput ids\nits graph ends with result
in ggml_graph_compute_with_ctx (LIBRARY), called by graph' "$(where_is "$3" | grep -v 'gave up')"
}

# What threads compute, without numbers, and once where several do; one may be between two nodes.
where_is()
{
	$1 where 2>&1 | anonymous | sed 's/, for thread N$//; s/ (#.*//; s/\(, called by [a-z]*\) at .*/\1/; s/^ *//' |
		grep -v '^computes no tensor' | grep '^computes\|^input\|^as one\|^its graph\|^in \|^gave up' | awk '!seen[$0]++'
}

failing()
{
	if core_of "$1-op" graph "$real/$1" op-abort; then
		amidst "$1" 'a core, an operation fails' "$O/bin/lazybones core $scratch/$1-op/dump"
		case $1 in
		*-2024-* | *-2025-06) ;; # it is a signal, or was printed piece by piece
		*) same "$1, an assertion: what it said" 'gave up: OPS: GGML_ASSERT(i01 >= 0 && i01 < ne01) failed' \
			"$(where_is "$O/bin/lazybones core $scratch/$1-op/dump" | sed -n 's/\(gave up: \).*ops.cpp:[0-9]*:/\1OPS:/p')" ;;
		esac
		same "$1, a report: what ran" 'computes GET_ROWS of rows' "$("$O/bin/lazybones" report "$scratch/$1-op/dump" 2>&1 |
			sed -n '/^In flight$/,/^NaN/s/^ *\(computes GET_ROWS of rows\) .*/\1/p')"
	else
		skip "$1: the kernel writes no core here"
	fi
	process_of graph "$real/$1" op
	amidst "$1" 'a process whose operation fails' "$process"
	released
}

# Within llama, which fails: nodes are of an earlier graph, if it has not let go of them.
decoding()
{
	local process number
	[ -f "$models/F32.gguf" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
	core_of "$1-decode" llama "$real/$1" "$models/F32.gguf" crash || return 0
	process="$O/bin/lazybones core $scratch/$1-decode/dump"
	same "$1, in llama_decode: no node is shown" '' "$($process list --state 'in memory' 2>&1 | grep '^#')"
	number=$($process list ffn_norm-1 --state unsure | sed -n '2s/^\(#[0-9]*\).*/\1/p')
	[[ $1 == ggml-2024-* ]] && [ -z "$number" ] ||
		same "$1, in llama_decode: why" "thread N is in llama_decode (LIBRARY)" \
			"$($process print "$number" 2>&1 | sed 's/.*computed yet: //' | anonymous)"
}

# What an origin ends with: how, where, and of what. Numbers of tensors differ.
origin_of()
{
	$1 origin "$2" 2>&1 | sed -n '/^NaN/,$p' | sed 's/#[0-9][0-9]*, //; s/, \(ready\|in memory\|overwritten\))/)/' |
		grep -v '^  by way of\|^The core'
}

# From a NaN in the logits to the weight's element, at rest, by nodes that have been overwritten; and to an operation that made
# one. A model has a NaN in a norm's weights, or as the step of a block.
origins()
{
	local kind case
	core_of "$1-nan" nan "$real/$1" abort || return 0
	process="$O/bin/lazybones core $scratch/$1-nan/dump"
	same "$1, a NaN: a logarithm made it" "NaN: LOG made it
  logs (float32 (3, 8)), first at [1, 5]
  the first is LOG(-2.0), in float32
  its input:
    x (float32 (3, 8))  from -2 to 24
  why: log of a negative number; clip it first" "$(origin_of "$process" result)"
	same "$1, a NaN: a division made it" $'NaN: DIV made it\n  ratios (float32 (3, 8)), first at [2, 4]
  the first is DIV(0.0, 0.0), in float32' "$(origin_of "$process" ratios | head -3)"
	[[ $1 != *-2024-* ]] && [ -f "$models/F32.gguf" ] &&
		nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
	for case in "F32 blk.1.ffn_norm.weight $((37 * 4)) 0000c07f float32 (256,)), first at [37]" \
		"Q8_0 blk.1.ffn_down.weight $(((5 * 16 + 3) * 34)) 007e q8_0 (256, 512)), first at [5, 96], in block 3 of its row" \
		"Q4_0 blk.1.ffn_down.weight $(((5 * 16 + 3) * 18)) 007e q4_0 (256, 512)), first at [5, 96], in block 3 of its row"; do
		set -- "$1" $case
		kind=$2
		python3 tests/real/ggml/poison.py "$models/$kind.gguf" "$scratch/nan-$kind.gguf" "$3" "$4" "$5" || return 1
		THREADS=1 core_of "$1-nan-$kind" llama "$real/$1" "$scratch/nan-$kind.gguf" abort
		same "$1, a NaN in $kind: it was in a weight" "NaN: it was in the data
  $3 (${case#* * * * }" "$(origin_of "$O/bin/lazybones core $scratch/$1-nan-$kind/dump" result_output)"
		[ $kind = F32 ] || same "$1, a NaN in $kind: the doctor names the scale" \
			'[5, 96], as the scale of that block of 32 is no finite number' \
			"$("$O/bin/lazybones" core "$scratch/$1-nan-$kind/dump" doctor 2>&1 |
				sed -n 's/.*first at \(.* finite number\).*/\1/p' | head -1)"
	done
}

# Half of the weights cannot be read: the first node that does ends it, whatever the number of threads. Newer builds compute
# it together with the one behind it.
unreadable()
{
	local threads node=$'computes MUL of attn_norm-0\ninput norm-0\ninput blk.0.attn_norm.weight' process
	[ -f "$models/F32.gguf" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
	case $1 in
	ggml-2026-09 | ggml-static) node=$'computes RMS_NORM of norm-0\ninput embd\nas one with MUL of attn_norm-0' ;;
	esac
	node=$node$'\nits graph ends with result_output\nin llama_decode (LIBRARY), called by llama'
	for threads in 1 2 4 7; do
		THREADS=$threads core_of "$1-unreadable" llama "$real/$1" "$models/F32.gguf" unmapped || return 0
		process="$O/bin/lazybones core $scratch/$1-unreadable/dump"
		same "$1, $threads threads: where llama_decode is" "$node" "$(where_is "$process" | sort_call)"
		same "$1, $threads threads: one node is evaluating" 1 "$($process list --state evaluating --limit 0 | grep -c '^#')"
	done
	same "$1, a report: what the fault is in" 'byte 0 of the buffer of blk.0.attn_norm.weight' \
		"$("$O/bin/lazybones" report "$scratch/$1-unreadable/dump" 2>&1 | sed -n '2s/.* is \(byte.*\) (#.*/\1/p')"
	[ "$1" = ggml-2024-02 ] || same "$1, a report: what memory is for" 'weights, state, compute, inputs' \
		"$("$O/bin/lazybones" report "$scratch/$1-unreadable/dump" 2>&1 |
			sed -n '/^Memory/,/buffer/s/^  [0-9.]* [KM]iB weights,/weights,/p' | sed 's/ [0-9.]* [KM]*i*B / /g')"
	THREADS=2 process_of llama "$real/$1" "$models/F32.gguf" unmapped-rest
	same "$1, a process: where llama_decode is" "$node" "$(where_is "$process" | sort_call)"
	released
}

# The thread that has called may be another one, and stand before who computes, or behind.
sort_call()
{
	local told
	told=$(cat)
	grep -v '^in ' <<<"$told"
	grep '^in ' <<<"$told"
}

# Within a function of llama's that only reads: nodes are as they were when llama_decode had returned.
reading()
{
	local process
	[ -f "$models/F32.gguf" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
	core_of "$1-reading" llama "$real/$1" "$models/F32.gguf" reading || return 0
	process="$O/bin/lazybones core $scratch/$1-reading/dump"
	same "$1, in llama_get_logits_ith: the thread is there" 'in llama_get_logits_ith' \
		"$($process threads --bare 2>&1 | grep -o -m 1 'in llama_get_logits_ith')"
	same "$1, in llama_get_logits_ith: no node is unsure" '' "$($process list --state unsure 2>&1 | grep '^#')"
	[[ $1 == ggml-2024-* ]] || same "$1, in llama_get_logits_ith: the graph's result" 'in memory' \
		"$($process list result_output --state 'in memory' | sed -n '2s/.*\(in memory\).*/\1/p')"
}

# Weights of a model, which the core has not: they are those of the file.
weights()
{
	local kind name=blk.0.attn_q.weight
	for kind in F32 Q4_0; do
		[ -f "$models/$kind.gguf" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
		if ! core_of "$1-$kind" llama "$real/$1" "$models/$kind.gguf" abort; then
			skip "$1: the kernel writes no core here"
			return
		fi
		same "$1, $kind: its parameters" '1.378 M parameters in 21 tensors' \
			"$("$O/bin/lazybones" core "$scratch/$1-$kind/dump" model 2>&1 | sed -n '1s/,[^,]*$//p')"
		same "$1, $kind: $name" '  all ELEMENTS elements are equal' \
			"$("$O/bin/lazybones" core "$scratch/$1-$kind/dump" diff $name "$models/$kind.gguf:$name" 2>&1 |
				sed -n '2s/[0-9][0-9]*/ELEMENTS/p')"
		same "$1, $kind: all weights" '21 of 21 parameters are in FILE by name: 21 equal' \
			"$("$O/bin/lazybones" core "$scratch/$1-$kind/dump" weights "$models/$kind.gguf" 2>&1 |
				sed -n '1s/ in [^ ]* / in FILE /p')"
		healthy "$1, $kind" "$O/bin/lazybones core $scratch/$1-$kind/dump"
	done
}

# A weight of a real model: what its file says in bits, and what make_llama.py quantises so that each code occurs.
quants()
{
	local kind said
	for kind in 'Q4_0 q4_0 4.5 16' 'Q4_K q4_K 4.5 16'; do
		set -- "$1" $kind
		[ -f "$models/$2.gguf" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
		[ -f "$scratch/$1-$2/dump" ] || core_of "$1-$2" llama "$real/$1" "$models/$2.gguf" abort || return 0
		said=$("$O/bin/lazybones" core "$scratch/$1-$2/dump" quant blk.0.attn_q.weight 2>&1)
		same "$1, $2: how it is quantised" "$3, $4 bits each, $5 different" \
			"$(sed -n '1s/.*ready): //p; s/^  values .*: \(.* bits each\)/\1/p; s/.*: \([0-9]* different\),.*/\1/p' <<<"$said" |
				paste -sd, | sed 's/,/, /g')"
	done
}

# A server that waits, seen beside its own memory: the weights of its file, each page of which it has used, its cache, and
# where it computes. Rates are not told, for ggml counts nothing.
watching()
{
	local said
	[ -f "$models/Q4_K.gguf" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
	process_of llama "$real/$1" "$models/Q4_K.gguf"
	said=$("$O/bin/lazybones" top $pid --once --interval 100)
	same "$1: top knows whose tensors they are" "lazybones top   process $pid   ggml   over" \
		"$(sed -n '1s/ over .*/ over/p' <<<"$said")"
	same "$1: top tells its cache" 1 "$(grep -c '^ *[0-9.]* [KM]iB  *[0-9.]* [KM]iB  *[0-9]*  \(state\|of unknown use\), CPU' <<<"$said")"
	# 35 cells of 256 bytes in each of 2 layers, of the keys, and of the values; these lie across in 2025-06: 2 lines for a row's 35
	case $1 in
	ggml-2025-06) cells='50 KiB' ;;
	ggml-2026-09 | ggml-static) cells='35 KiB' ;;
	*) cells= ;;
	esac
	same "$1: how much of its cache was written" "$cells" "$(sed -n 's/.*state, CPU; \(.*\) not zero$/\1/p' <<<"$said")"
	same "$1: all weights that it has used are in memory" '761 KiB 761 KiB 21 weights' \
		"$(sed -n 's/,.*//; s/  */ /g; s/^ //; /21 weights$/p' <<<"$said")"
	same "$1: memory says so, too" 1 "$("$O/bin/lazybones" pid $pid memory | grep -c '^ *761 KiB  *761 KiB  *21  weights')"
	healthy "$1, llama, Q4_K" "$process"
	released
	same "$1: top of a process that has ended" "lazybones: there is no process $pid" \
		"$("$O/bin/lazybones" top $pid --once 2>&1)"
}

# errors DUMP: reads lines KEY, COMPARE, SIZE with tabs between: two commands. One gdb is given all of them; for each line it
# says KEY and the largest error over the root of the mean square, or - and why there is none.
errors()
{
	local key compare size
	local -a asked=()
	while IFS=$'\t' read -r key compare size; do
		asked+=(-ex "echo key $key\\n" -ex "tensor $compare --explain off --json" -ex "tensor $size --json")
	done
	run_gdb "$program" "$1" "${asked[@]}" | awk '
		function json(key) {
			return match($0, "\"" key "\":[^,}]*") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : ""
		}
		function tell() {
			if (key != "")
				print key, error == "" || size == "" ? "- " said : error / (size > 0 ? size : 1)
		}
		/^key / { tell(); key = $2; error = size = said = ""; next }
		/^\{"a":/ {
			error = json("max_error")
			if (json("nan_in_one") != "0" || error == "null") {
				error = ""
				said = $0
			}
		}
		/"l2":/ { size = json("count") > 0 ? json("l2") / sqrt(json("count")) : 1 }
		/^tensor |"error":"/ { said = said == "" ? $0 : said }
		END { tell() }'
}

# too_far DUMP NAME…: those of the operations whose results are not what they are when they are computed again. ggml's kernels
# differ from one processor to the next; the kind, with which the name begins, says by how much (NEAR of gdbext/ggml/recipes.def).
too_far()
{
	local dump=$1
	shift
	printf '%s\n' "$@" | sed 's/.*/&\tdiff & --again\tstats &/' | errors "$dump" | awk '
		BEGIN { near["copy"] = 0; near["float"] = near["norm"] = 1e-5; near["half"] = 2 ^ -8; near["block"] = 2 ^ -5 }
		{ kind = $1; sub(/\..*/, "", kind) }
		$2 == "-" || $2 + 0 > near[kind]'
}

# A norm that is computed as one with the MUL behind it has no value: it is not shown, but computed again. In other builds
# it is what it has to be, wherever it is shown.
fused()
{
	local place there
	if [[ $($look print norm.before 2>&1) == *'computes it as one with the next node'* ]]; then
		place=$($look info norm.before --json | sed -n 's/.*"buffer":{"id":[0-9]*,"data":"\(0x[0-9a-f]*\)".*/\1/p')
		there=$($look diff "@$place:f32:2,4,6,48" norm.before 2>&1)
		[ "$1" = $newest ] && same "$1: a norm that is fused has no value" 'found differences' \
			"$([[ $there == *' different '* ]] && echo found differences || echo "$there")"
	else
		same "$1: a norm has its value" '' "$(too_far "$scratch/$1-operations/dump" norm.before)"
		[ "$1" = $newest ] && same "$1: norms are fused" yes no
	fi
}

# What each operation has given, beside what it gives when it is computed again.
operations()
{
	local look name names unknown=
	has_gdb "$1, its operations" || return 0
	if ! core_of "$1-operations" operations "$real/$1" abort; then
		skip "$1: the kernel writes no core here"
		return
	fi
	look="$O/bin/lazybones core $scratch/$1-operations/dump"
	mapfile -t names < <($look list --limit 0 --json | grep -o '"name":"\(copy\|float\|half\|block\)\.[^ "]*"' | cut -d'"' -f4)
	for name in $(run names "$real/$1" "$($look status | sed -n 's/^ *operations \([0-9]*\),.*/\1/p')"); do
		grep -q "RECIPE($name, " gdbext/ggml/recipes.def || unknown="$unknown $name"
	done
	fused "$1"
	same "$1: each operation has a recipe, or is known to have none" ' status 0' "$unknown"
	same "$1: each operation is computed again" "$(sed -n 's/ results$//p' "$scratch/$1-operations/out")" \
		"${#names[@]}$(too_far "$scratch/$1-operations/dump" "${names[@]}")"
	healthy "$1, its operations" "$look"
}

# What the nodes of a model's last graph held when they had been computed (trace.c), beside what is computed again of
# those that were overwritten. An input may be, too; then it is named.
traces()
{
	local kind=F32 folder=$scratch/$1-trace dump=$scratch/$1-nodes/dump said
	[ -f "$models/$kind.gguf" ] && nm -D --defined-only "$real/$1"/* 2>/dev/null | grep -q ' llama_decode$' || return 0
	has_gdb "$1, its nodes" || return 0
	mkdir -p "$folder"
	if ! TRACE=$folder core_of "$1-nodes" llama "$real/$1" "$models/$kind.gguf" abort; then
		skip "$1: the kernel writes no core here"
		return
	fi
	said=$("$O/bin/lazybones" core "$dump" list --limit 0 --json | grep -o '"id":[0-9]*\|"state":"[a-z ]*"\|"record":"[0-9a-fx]*"' |
		awk -F'[:"]+' '$2 == "id" { id = $3 } $2 == "state" { state = $3 } $2 == "record" && state == "overwritten" { print id, $3 }' |
		while read -r id at; do
			[ ! -f "$folder/$at.npy" ] || printf '#%d\tdiff #%d %s\tpeek #%d --stats\n' "$id" "$id" "$folder/$at.npy" "$id"
		done | errors "$dump" | grep -v ' - .*"error":"it .*, which has .* by ')
	if [ -z "$said" ]; then
		skip "$1: it keeps no graph"
		return
	fi
	same "$1: nodes that were overwritten are computed again" 'some, none far' \
		"$(awk '{ n++ } $2 == "-" || $2 > 2 ^ -8 { far = far " " $0 } END { print (n >= 10 ? "some" : n) ", " (far ? far : "none far") }' <<<"$said")"
}

# Weights that the back end for a newer processor has put into another order: they are what they were (repacked.c), and
# so are those of a model.
repacked()
{
	local cpu=$2 look type kind name different= shown= found=
	[ -f "$real/$1/libggml-cpu-$cpu.so" ] && has_gdb "$1, $cpu" || return 0
	if ! GGML_CPU=$cpu core_of "$1-$cpu" repacked "$real/$1" abort; then
		skip "$1: this processor is no $cpu, or the kernel writes no core here"
		return
	fi
	look="$O/bin/lazybones core $scratch/$1-$cpu/dump"
	for type in $(cat "$scratch/$1-$cpu/out"); do
		found="$found$type "
		[[ $($look diff "repacked.$type" "plain.$type" 2>&1) == *'elements are equal'* ]] || different="$different $type"
	done
	same "$1, $cpu: blocks are interleaved" yes "$([[ $found == *'q4_0 q4_0.experts '* ]] && echo yes || echo "only $found")"
	same "$1, $cpu: they are what they were" '' "$different"
	same "$1, $cpu: how they lie is told" '; those of 8 rows are interleaved (q4_0_8x8)' \
		"$($look info repacked.q4_0 | sed -n 's/^  encoding .* bits each//p')"
	same "$1, $cpu: products of them are computed again" '' "$(too_far "$scratch/$1-$cpu/dump" $(printf 'block.%s ' $found))"
	for name in $($look list 'left.*' --limit 0 --json | grep -o '"name":"[^"]*' | cut -d'"' -f4); do
		$look print "$name" 2>&1 | grep -q 'is stored as CPU_REPACK, an order that is not known' || shown="$shown $name"
	done
	same "$1, $cpu: others are refused" '' "$shown"
	healthy "$1, $cpu" "$look"
	for kind in Q4_0 Q4_K; do
		[ $cpu = haswell ] && [ -f "$models/$kind.gguf" ] || continue
		GGML_CPU=$cpu core_of "$1-$cpu-$kind" llama "$real/$1" "$models/$kind.gguf" abort || continue
		look="$O/bin/lazybones core $scratch/$1-$cpu-$kind/dump"
		same "$1, $cpu, $kind: weights of a model" '15 are interleaved, 21 equal' \
			"$($look list '*.weight' --limit 0 --json 2>/dev/null | grep -c '"interleaved":') are interleaved, $(
			$look weights "$models/$kind.gguf" 2>/dev/null | sed -n '1s/.*by name: //p')"
	done
}

# The same, where only ARM's processors have it done by themselves: without products.
repacked_by_hand()
{
	local look type different=
	[ "$1" = ggml-2024-12 ] || return 0
	core_of "$1-hand" repacked "$real/$1" abort || { skip "$1: the kernel writes no core here"; return; }
	look="$O/bin/lazybones core $scratch/$1-hand/dump"
	for type in $(cat "$scratch/$1-hand/out"); do
		[[ $($look diff "repacked.$type" "plain.$type" 2>&1) == *'elements are equal'* ]] || different="$different $type"
	done
	same "$1: blocks are interleaved" 'q4_0_4x4 q4_0_4x8 q4_0_8x8 iq4_nl_4x4 ' "$(cat "$scratch/$1-hand/out")"
	same "$1: they are what they were" '' "$different"
	same "$1: how they lie is told" '; those of 8 rows are interleaved (q4_0_8x8)' \
		"$($look info repacked.q4_0_8x8 | sed -n 's/^  encoding .* bits each//p')"
}

. tests/real/ggml/gdb.sh
. tests/real/ggml/stops.sh
. tests/real/ggml/slots.sh
. tests/real/ggml/forward.sh
. tests/real/ggml/hosts.sh

newest=ggml-2026-09
any=
for guest_name in $guests; do
	fetched "$guest_name" && any="$any $guest_name"
done
if [ -n "$any" ]; then
	python3 tests/examples/make_llama.py "$models" >/dev/null 2>&1
	python3 tests/examples/make_kinds.py "$models" >/dev/null 2>&1
	build_program || same 'the program is built' 0 "$?"
fi

# guest NAME: all that is tried with one
guest()
{
	graphs "$1"
	llamas "$1"
	[ "$1" != $newest ] || kinds "$1"
	blocks "$1"
	tensors "$1"
	waiting "$1"
	computing "$1"
	failing "$1"
	decoding "$1"
	reading "$1"
	unreadable "$1"
	origins "$1"
	weights "$1"
	quants "$1"
	watching "$1"
	operations "$1"
	repacked "$1" haswell
	repacked "$1" icelake
	repacked_by_hand "$1"
	in_gdb "$1"
	stops_in_gdb "$1"
	traces "$1"
	case $1 in
	ggml-static) [ ! -f "$models/Q8_0.gguf" ] || within_node "$1" ;;
	esac
}

# As many at a time as there are processors, each with a scratch folder and counts of its own.
for guest_name in $any; do
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		wait -n
	done
	mkdir "$scratch/$guest_name.alone"
	(
		scratch=$scratch/$guest_name.alone passed=0 failed=0 skipped=0
		guest "$guest_name"
		echo "$passed $failed $skipped" >"$scratch/counts"
	) >"$scratch/$guest_name.out" 2>&1 &
done
wait
for guest_name in $any; do
	cat "$scratch/$guest_name.out"
	read -r p f s <"$scratch/$guest_name.alone/counts" || { echo "FAILED: $guest_name: it did not come to its end"; p=0 f=1 s=0; }
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
fetched ggml-python && [ -f "$models/Q8_0.gguf" ] && within_python ggml-python
