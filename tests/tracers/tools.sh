# Each tool of probes/bpftrace, all at once, over one round of a program that runs already.

# Who waits for events has attached all its probes; who has ended will never: what it said is looked at later.
is_waiting()
{
	local call
	kill -0 "$1" 2>/dev/null || return 0
	read -r call _ 2>/dev/null <"/proc/$1/syscall" && [[ $call =~ ^(232|281|22)$ ]]
}

# Of a command that runs another one.
child_is_waiting()
{
	local child
	kill -0 "$1" 2>/dev/null || return 0
	child=$(tr -d ' ' 2>/dev/null <"/proc/$1/task/$1/children")
	[ -n "$child" ] && is_waiting "$child"
}

# run_tools NAME…: each over the same round; what it prints is $scratch/NAME.out
run_tools()
{
	local name pids=() pid
	start_held "$workload" again
	for name; do
		timeout 600 bpftrace "probes/bpftrace/$name.bt" "$library" $program \
			>"$scratch/$name.out" 2>"$scratch/$name.err" 9>&- &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		until_true child_is_waiting $pid
	done
	echo >&9
	until_true has_lines 2 "$scratch/printed"
	for pid in "${pids[@]}"; do
		kill -INT $pid 2>/dev/null
		wait $pid
	done
	exec 9>&-
	wait $program
}

if ! command -v bpftrace >/dev/null; then
	skip 'bpftrace is not installed (tests/deps tracers)'
elif ! bpftrace -e 'BEGIN { exit(); }' >"$scratch/said" 2>&1; then
	skip "bpftrace cannot run here: $(head -1 "$scratch/said")"
elif ! readelf -nW "$library" | grep -q stapsdt; then
	skip 'the library is built without probes'
else
	tools=$(basename -a -s .bt probes/bpftrace/*.bt)
	run_tools $tools
	seen=$program # by all of them
	# tool SAYS…
	tool()
	{
		local name=$1
		shift
		says "$name" "$(cat "$scratch/$name.out" "$scratch/$name.err")" "$@"
	}
	# bpftrace 0.17 now and then closes a map of its own before it has shown all stacks, and says so
	for _ in 1 2 3; do
		grep -q 'failed to look up stack id' "$scratch/lbslower.err" || break
		run_tools lbslower
	done
	same 'while a process lives, no tool says that it has ended' '' \
		"$(cd "$scratch" && grep -l 'process that has ended' *.out)"
	tool lboplat '^@count\[matmul\]: 23$' '^@count\[exp\]: 23$' '^@ns\[matmul\]: $'
	tool lbslower '^@slow: 92$' '^ +read_value\+[0-9]+$'
	tool lballoc '^@buffers\[evaluate_product\]: 23$' '^@bytes\[evaluate_product\]: 24117248$'
	tool lbleak '^@alive\[evaluate_product\]: 23$'
	same 'lbleak: what was freed has no row' '' "$(grep -E '^@alive.*: 0$' "$scratch/lbleak.out")"
	tool lbmisuse '^@misuses: 23$' '^@by\[misuse_view\]: 23$' ' workload .*  0x[0-9a-f]+$'
	tool lbrecompile '^@recompiles\[twice\]: 23$' ' twice .*  evicted: more than 16 graphs were wanted$'
	tool lbimplicit '^@by\[read_value\]: 23$'
	tool lbpromote '^@by\[promote_half\]: 23$' ' add +0x[0-9a-f]+$'
	tool lbnan '^@by\[divide_by_zero\]: 23$'
	tool lbqueue '^@queued\[1\]: 23$'
	tool lbmem '^@buffers: 23$' "^@held\\[$seen\\]: 24117248\$"
	# two threads at once, and a buffer that was there before: nothing is lost, and below 0 is below 0
	$CC -std=gnu17 -g -O0 -Wall -Werror -Iruntime -o "$scratch/races" tests/tracers/races.c -L"$O/lib" \
		-lpthread -llazybones -Wl,-rpath,"$(dirname "$library")" || exit 1
	start_held "$scratch/races"
	timeout 600 bpftrace probes/bpftrace/lbmem.bt "$library" $program >"$scratch/lbmem.out" 2>"$scratch/lbmem.err" 9>&- &
	tracer=$!
	until_true child_is_waiting $tracer
	echo >&9
	until_true has_lines 2 "$scratch/printed"
	kill -INT $tracer
	wait $tracer
	exec 9>&-
	wait $program
	tool lbmem '^@buffers: 200000$' "^@held\\[$program\\]: -1048576\$"
	# what a tool prints when the process is gone
	if [ -n "$lazybones" ]; then
		rm -f "$scratch/pipe"
		mkfifo "$scratch/pipe"
		start_held "$workload" again
		: >"$scratch/named"
		"$lazybones" sites --pid $program <"$scratch/pipe" >"$scratch/named" 2>&1 9>&- &
		reader=$!
		timeout 600 bpftrace probes/bpftrace/lbmisuse.bt "$library" $program >"$scratch/pipe" 2>&1 9>&- &
		tracer=$!
		until_true child_is_waiting $tracer
		until_true grep -q ^TIME "$scratch/named"
		echo >&9
		exec 9>&-
		wait $program
		kill -INT $tracer
		wait $tracer $reader
		says 'lbmisuse and lazybones sites: lines when the process is gone' "$(cat "$scratch/named")" \
			' workload +7  misuse_view at .*workload.c:[0-9]+$' '^@by\[misuse_view at .*workload.c:[0-9]+\]: 23$'
	fi
	# all processes, those that begin later, too: of a library that nobody else uses meanwhile
	mkdir "$scratch/lib"
	cp -L "$library" "$scratch/lib/liblazybones.so.0"
	system_wide()
	{
		bpftrace "probes/bpftrace/$1.bt" "$scratch/lib/liblazybones.so.0" >"$scratch/$1.out" 2>"$scratch/$1.err" &
		pids+=($!)
		until_true is_waiting $!
	}
	pids=()
	system_wide lbmisuse
	system_wide lbnan
	system_wide lbmem
	LD_LIBRARY_PATH=$scratch/lib "$workload" >/dev/null &
	first=$!
	LD_LIBRARY_PATH=$scratch/lib "$workload" >/dev/null
	wait $first
	for pid in "${pids[@]}"; do
		kill -INT $pid
		wait $pid
	done
	tool lbmisuse '^@misuses: 46$' \
		'^0x\.\.\.: in a process that has ended.*: lbmisuse.bt LIBRARY [|] lazybones sites$'
	same 'lbmisuse: both processes are told apart' 2 \
		"$(awk '/ workload / { print $2 }' "$scratch/lbmisuse.out" | sort -u | wc -l)"
	tool lbmem '^@buffers: [1-9]'
	same 'lbmem: what has ended holds nothing' '' \
		"$(awk '/^@buffers/ { held = "" } /^@held/ { held = held $0 } END { print held }' "$scratch/lbmem.out")"
	same 'lbnan: of both processes' 46 "$(grep -c ' workload .* 0x' "$scratch/lbnan.out")"
	# of two programs at once, one that is gone when the tools end
	if [ -n "$lazybones" ]; then
		has_read()
		{
			ls -l "/proc/$1/fd" 2>/dev/null | grep -q -- "-> $2$"
		}
		mkdir "$scratch/other"
		cp "$workload" "$scratch/other"
		pids=() readers=()
		for name in lbimplicit lbmisuse; do
			rm -f "$scratch/$name.pipe"
			mkfifo "$scratch/$name.pipe"
			"$lazybones" sites <"$scratch/$name.pipe" >"$scratch/$name.out" 2>"$scratch/$name.err" &
			readers+=($!)
			bpftrace "probes/bpftrace/$name.bt" "$scratch/lib/liblazybones.so.0" >"$scratch/$name.pipe" \
				2>"$scratch/$name.log" &
			pids+=($!)
			until_true is_waiting $!
		done
		LD_LIBRARY_PATH=$scratch/lib start_held "$workload" again
		first=$program
		for reader in "${readers[@]}"; do
			until_true has_read $reader "$workload"
		done
		exec 9>&-
		wait $first
		LD_LIBRARY_PATH=$scratch/lib start_held "$scratch/other/workload" again
		for reader in "${readers[@]}"; do
			until_true has_read $reader "$scratch/other/workload"
		done
		for pid in "${pids[@]}"; do
			kill -INT $pid
			wait $pid
		done
		wait "${readers[@]}"
		exec 9>&-
		wait $program
		tool lbimplicit '^@by\[read_value at .*workload.c:[0-9]+\]: 23$' '^@by\[read_value\]: 23$'
		tool lbmisuse '^@by\[misuse_view at .*workload.c:[0-9]+\]: 23$' '^@by\[misuse_view\]: 23$' \
			" $first +workload .* misuse_view at .*workload.c:[0-9]+$" \
			" $program +workload .* misuse_view at .*workload.c:[0-9]+$"
		same 'their announcements are not shown, and nothing is left' '' \
			"$(cat "$scratch"/{lbimplicit,lbmisuse}.{out,err} | grep -E '^process|^0x|left as|@by\[0x')"
	fi
	for name in $tools; do
		same "$name has an example and a manual page" 'yes' \
			"$([ -s probes/bpftrace/${name}_example.txt ] &&
				grep -q '^\.SH OVERHEAD' probes/man/man8/$name.8 && echo yes)"
	done
fi
