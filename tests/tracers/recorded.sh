# The script that records with perf, and what it says of the workload.
tool=probes/perf/lazybones-perf

mount_tracefs()
{
	[ -e /sys/kernel/tracing/uprobe_events ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
	[ -w /sys/kernel/tracing/uprobe_events ]
}

if ! command -v perf >/dev/null; then
	skip 'perf is not installed'
elif ! readelf -nW "$library" | grep -q stapsdt; then
	skip 'the library is built without probes'
else
	says 'perf: a file that is not there' "$($tool report -i "$scratch/none" 2>&1)" 'cannot read .*none'
	if ! mount_tracefs; then
		says 'perf: what is missing is said' "$($tool record "$library" true 2>&1)" 'tracefs|by root'
		skip 'perf cannot set probes here: no tracefs that may be written'
	else
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
