# The script that records with perf, and what it says of the workload.
tool=probes/perf/lazybones-perf

mount_tracefs()
{
	[ -e /sys/kernel/tracing/uprobe_events ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
	[ -w /sys/kernel/tracing/uprobe_events ]
}

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
				'umount /sys/kernel/tracing && "$@"' - $tool record -o "$scratch/none.perf" "$library" true 2>&1)" \
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
		says 'perf: the report' "$($tool report -i "$scratch/perf.data")" \
			'^93 evaluations by 2 threads in [0-9.]+ s$' '^utilisation [0-9]+ %' \
			'^ +[0-9.]+ ms +23  matmul$' '^ +[0-9.]+ ms +23  exp$' \
			'^ +[0-9.]+ ms +23  evaluate_product$' '^ +[0-9.]+ ms +23  read_value$'
		says 'perf: stacks for a flame graph' "$($tool flame -i "$scratch/perf.data")" \
			'^workload;.*main;do_all;evaluate_product;.*lb_evaluate [0-9]+$' \
			'^workload;.*main;do_all;read_value;.*lb_evaluate [0-9]+$'
	fi
fi
