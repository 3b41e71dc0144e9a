# The script that records with perf, and what it says of the workload.
tool=probes/perf/lazybones-perf

mount_tracefs()
{
	[ -e /sys/kernel/tracing/uprobe_events ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
	[ -w /sys/kernel/tracing/uprobe_events ]
}

# A recording in which perf has lost the end of one evaluation and the beginning of an operation.
mkdir "$scratch/lossy"
cat >"$scratch/lossy/perf" <<'END'
#!/bin/sh
case $1 in
evlist) echo lazybones_1:eval_start ;;
report) printf '%s\n' 'Aggregated stats:' '    LOST_SAMPLES events:          4' \
	'lazybones_1:eval_done stats:' '          SAMPLE events:          2' '    LOST_SAMPLES events:          1' \
	'lazybones_1:op_start stats:' '    LOST_SAMPLES events:          1' ;;
script)
	sample() { printf 'work 7 %s: lazybones_1:%s: (1) %s\n\t  1 %s (/bin/work)\n\n' "$@" "$site"; }
	site=first
	sample 10.000000 eval_start 'arg1=1 arg2=5 arg3=1'
	sample 10.100000 op_start 'arg1=3 name="add"'
	site=second
	sample 10.500000 eval_start 'arg1=2 arg2=5 arg3=1'
	sample 10.600000 op_done 'arg1=4'
	sample 10.600000 op_start 'arg1=5 name="exp"'
	sample 10.700000 op_done 'arg1=5'
	sample 10.750000 eval_done 'arg1=2 arg2=5 arg3=1'
	sample 10.900000 eval_start 'arg1=3 arg2=5 arg3=1'
	sample 11.000000 eval_done 'arg1=3 arg2=5 arg3=1' ;;
esac
END
chmod +x "$scratch/lossy/perf"
: >"$scratch/lossy/data"
same 'perf: what was lost makes no figure wrong' 'perf lost 2 samples: the figures are lower bounds, idle time an upper bound
at least 2 evaluations by 1 threads in 1.000 s
utilisation at least 35 %: some evaluation runs for 0.350 s or more, none for 0.650 s or less

operations (at least)
     100.000 ms         1  exp

evaluations by call site (at least)
     350.000 ms         2  second

idle before the evaluations of (at most: some are missing between)
     150.000 ms         1  second' "$(PATH=$scratch/lossy:$PATH $tool report -i "$scratch/lossy/data")"

# A stream's thread computes what another thread has queued, and queues more.
mkdir "$scratch/queued"
cat >"$scratch/queued/perf" <<'END'
#!/bin/sh
case $1 in
evlist) echo lazybones_1:eval_start ;;
script)
	frames()
	{
		for name; do
			case $name in
			run_job) echo "	  1 $name (/lib/liblazybones.so.0)" ;;
			*) echo "	  1 $name (/bin/work)" ;;
			esac
		done
		echo
	}
	sample() { printf 'work %s %s: lazybones_1:%s: (1) %s\n' "$@"; }
	sample 7/7 10.000000 async_queue 'arg1=4 arg2=1'
	frames lb_async_eval caller main
	sample 8/8 10.000000 async_queue 'arg1=4 arg2=1'
	frames lb_async_eval another main
	for pid in 7 8; do
		sample $pid/9 10.100000 eval_start 'arg1=4 arg2=5 arg3=1'
		frames run_job start_thread
		sample $pid/9 10.200000 op_start 'arg1=3 name="add"'
		frames run_job start_thread
		sample $pid/9 10.300000 async_queue 'arg1=5 arg2=2'
		frames run_job start_thread
		sample $pid/9 10.500000 op_done 'arg1=3'
		frames run_job start_thread
		sample $pid/9 10.600000 eval_done 'arg1=4 arg2=5 arg3=1'
		frames run_job start_thread
		sample $pid/10 10.700000 eval_start 'arg1=5 arg2=5 arg3=1'
		frames run_job start_thread
		sample $pid/10 10.800000 eval_done 'arg1=5 arg2=5 arg3=1'
		frames run_job start_thread
	done
	sample 7/9 10.900000 eval_start 'arg1=6 arg2=5 arg3=1'
	frames run_job start_thread
	sample 7/9 11.000000 eval_done 'arg1=6 arg2=5 arg3=1'
	frames run_job start_thread ;;
esac
END
chmod +x "$scratch/queued/perf"
: >"$scratch/queued/data"
same 'perf: queued work has the call site of who queued it' '     600.000 ms         2  another
     600.000 ms         2  caller
     100.000 ms         1  ?' "$(PATH=$scratch/queued:$PATH $tool report -i "$scratch/queued/data" |
	sed -n '/by call site/,/^$/p' | grep ms | sort -k1,1nr -k4)"
same 'perf: and its operations are frames above it' 'work;main;another;lb_async_eval;(queued) 200000
work;main;another;lb_async_eval;(queued);(queued) 100000
work;main;another;lb_async_eval;(queued);add 300000
work;main;caller;lb_async_eval;(queued) 200000
work;main;caller;lb_async_eval;(queued);(queued) 100000
work;main;caller;lb_async_eval;(queued);add 300000
work;start_thread;run_job 100000' "$(PATH=$scratch/queued:$PATH $tool flame -i "$scratch/queued/data" |
	LC_ALL=C sort)"

# Two calls in one function, of a process that is gone.
if [ -n "$lazybones" ]; then
	mkdir "$scratch/places"
	read -r segment at size < <(readelf -lW "$workload" | awk '$1 == "LOAD" && / R E / { print $2, $3, $5 }')
	call_at()
	{
		echo $((0x10000000 + 1 + 0x$(nm "$workload" | sed -n "s/^0*\([0-9a-f]*\) . $1$/\1/p")))
	}
	{
		echo '#!/bin/sh'
		echo 'case $* in evlist*) echo lazybones_1:eval_start ;;'
		printf "*show-mmap*) echo 'work 7/7 9.0: PERF_RECORD_MMAP2 7/7: [0x%x(%s) @ %s %x:%x %d 1]: r-xp %s' ;;\n" \
			$((0x10000000 + at)) "$size" "$segment" $(stat -c '%Hd %Ld %i' "$workload") "$workload"
		echo 'script*)'
		for name in evaluate_product read_value evaluate_product; do
			for event in eval_start eval_done; do
				seconds=$((seconds + 1))
				printf "printf 'work 7/7 %d.0: lazybones_1:$event: (1) arg1=1 arg2=%d arg3=1\\\\n\\\\t 1 main (/bin/work)\\\\n\\\\n'\n" \
					$seconds "$(call_at $name)"
			done
		done
		echo ';; esac'
	} >"$scratch/places/perf"
	chmod +x "$scratch/places/perf"
	: >"$scratch/places/data"
	calls()
	{
		PATH=$scratch/places:$(dirname "$lazybones"):$PATH $tool report -i "$scratch/places/data" |
			sed -n '/by call site/,/^$/s/^.* ms *//p' | sed 's|at .*/|at |'
	}
	says 'perf: each call site has its line' "$(calls)" '^2  evaluate_product at workload.c:[0-9]+$' \
		'^1  read_value at workload.c:[0-9]+$'
	touch -d '1 hour' "$workload"
	same 'perf: but not of a file that was built anew since' '3  main' "$(calls)"
	touch -d '1 hour ago' "$workload"
fi

if ! command -v perf >/dev/null; then
	skip 'perf is not installed (tests/deps tracers)'
elif ! readelf -nW "$library" | grep -q stapsdt; then
	skip 'the library is built without probes'
else
	says 'perf: a file that is not there' "$($tool report -i "$scratch/none" 2>&1)" 'cannot read .*none'
	says 'perf: a file of another kind' "$($tool report -i "$workload" 2>&1)" 'is no recording of lazybones-perf'
	says 'perf: the help' "$($tool --help 2>/dev/null)" '^lazybones-perf record .* PROGRAM'
	for words in '' bogus record 'record -o' 'record -x y z' "record $library" 'report -x' 'report more' 'flame -i'; do
		$tool $words >/dev/null 2>"$scratch/said"
		same "perf $words: a wrong command line" 2 $?
	done
	if ! mount_tracefs; then
		says 'perf: what is missing is said' "$($tool record -o "$scratch/none.perf" "$library" true 2>&1)" 'tracefs|by root'
		skip 'perf cannot set probes here: no tracefs that may be written'
	else
		nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		if "${nobody[@]}" $tool --help >/dev/null 2>&1; then
			public=$(mktemp -d) # the library may lie where others may not look
			chmod 755 "$public" && cp -L "$library" "$public/library.so"
			says 'perf: without root, what is missing is said' \
				"$("${nobody[@]}" $tool record -o "$public/none.perf" "$public/library.so" true 2>&1)" \
				'probes are set up by root'
			rm -rf "$public"
		else
			skip 'perf: nobody cannot run the script here'
		fi
		if unshare -m true 2>/dev/null; then
			says 'perf: without tracefs, what is missing is said' "$(unshare -m bash -c \
				'umount -a -t tracefs && "$@"' - $tool record -o "$scratch/none.perf" "$library" true 2>&1)" \
				'no tracefs: mount -t tracefs'
		else
			skip 'perf: tracefs cannot be taken away here'
		fi
		says 'perf: a program that is not there' "$($tool record -o "$scratch/none.perf" "$library" "$scratch/none" 2>&1)" \
			'cannot run .*none'
		says 'perf: a library that is not there' "$($tool record -o "$scratch/none.perf" "$scratch/none" true 2>&1)" \
			'cannot read .*none'
		says 'perf: a library without probes' "$($tool record -o "$scratch/none.perf" "$workload" true 2>&1)" 'no probes in'
		says 'perf: a folder that is not there' \
			"$($tool record -o "$scratch/none/perf.data" "$library" true 2>&1)" 'cannot write .*none'
		same 'perf: what could not be recorded leaves no file' no "$([ -e "$scratch/none.perf" ] && echo yes || echo no)"
		says 'perf: a full disk' "$($tool record -o /dev/full "$library" true 2>&1)" 'could not write'
		offset=$(readelf -nW "$library" | grep -o -m1 'Location: 0x[0-9a-f]*')
		echo "p:lazybones_4194305/left $library:${offset#* }" >>/sys/kernel/tracing/uprobe_events
		$tool record -o "$scratch/perf.data" "$library" "$workload" >/dev/null 2>"$scratch/said"
		same 'perf: the program runs' 0 $?
		says 'perf: it says what comes next' "$(cat "$scratch/said")" 'lazybones-perf report -i'
		same 'perf: its probes are gone afterwards' 0 \
			"$(grep -c "$library" /sys/kernel/tracing/uprobe_events)"
		place=${lazybones:+ at .*workload.c:[0-9]+}
		says 'perf: the report' "$(PATH=$(dirname "$lazybones"):$PATH $tool report -i "$scratch/perf.data")" \
			'^93 evaluations by 2 threads in [0-9.]+ s$' '^utilisation [0-9]+ %' \
			'^ +[0-9.]+ ms +23  matmul$' '^ +[0-9.]+ ms +23  exp$' \
			"^ +[0-9.]+ ms +23  evaluate_product$place\$" \
			"^ +[0-9.]+ ms +23  read_value$place\$" \
			"^ +[0-9.]+ ms +23  queue_job$place\$"
		same 'perf: no call site is a thread' '' "$($tool report -i "$scratch/perf.data" | grep start_thread)"
		says 'perf: stacks for a flame graph' "$($tool flame -i "$scratch/perf.data")" \
			'^workload;.*main;do_all;evaluate_product;.*lb_evaluate [0-9]+$' \
			'^workload;.*main;do_all;read_value;.*lb_evaluate [0-9]+$' \
			'^workload;.*main;do_all;evaluate_product;.*lb_evaluate;matmul [0-9]+$' \
			'^workload;.*main;do_all;queue_job;.*;\(queued\);exp [0-9]+$'
	fi
fi
