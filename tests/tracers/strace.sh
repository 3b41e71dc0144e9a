# LAZYBONES_STRACE=1, and the filter that reads a log.
filter=probes/strace/lazybones-strace.awk

if ! command -v strace >/dev/null; then
	skip 'strace is not installed'
elif ! strace -o /dev/null true 2>/dev/null; then
	skip "strace cannot trace here: $(strace -o /dev/null true 2>&1 | head -1)"
else
	log=$scratch/strace.log
	strace -f -o "$log" -e trace=write "$workload" >/dev/null
	same 'without LAZYBONES_STRACE nothing is marked' '' "$(grep lazybones "$log")"
	LAZYBONES_STRACE=1 strace -f -o "$log" -e trace=write "$workload" >/dev/null
	says 'a plain strace shows events' "$(cat "$log")" \
		'^[0-9]+ +write\(-1, "lazybones: eval_done eval=[0-9]+ op"\.\.\., [0-9]+\) += -1 EBADF'
	says 'the filter reads such a log' "$(awk -f $filter "$log")" '^[0-9]+ events, 93 evaluations'

	LAZYBONES_STRACE=1 strace -f -ttt -s 256 -o "$log" -e trace=write,prctl "$workload" >/dev/null
	summary=$(awk -v lines=-1 -f $filter "$log")
	says 'the summary counts' "$summary" '93 evaluations, 117 operations, [0-9.]+ s$' \
		'^in evaluations [0-9.]+ s \([0-9]+ %\)' '^ +23  matmul$' '^ +23  divide$' \
		'^ +1  twice: first call$' '^ +1  twice: input 0: shape \(1\), compiled for \(24\)$'
	same 'misuses and implicit evaluations come from one place each' '      23  
      23  ' "$(grep -A1 -E '^(raw|implicit)' <<<"$summary" | sed -n 's/^  \( *[0-9]*  \)0x.*/\1/p')"
	same 'the timeline has every evaluation' 93 "$(grep -c ' eval_done ' <<<"$summary")"
	same 'mappings are named after their tensors' 23 \
		"$(grep -c ' mapping lazybones #[0-9]* product$' <<<"$summary")"
	if grep -q 'ANON_NAME.* = -1 EINVAL' "$log"; then
		skip 'this kernel has no names of anonymous mappings (CONFIG_ANON_VMA_NAME)'
	else
		says 'the kernel takes the names' "$(cat "$log")" 'ANON_NAME.*product"\) *= 0$'
	fi
	# filtered LINE…: what the filter says of such a log
	filtered()
	{
		printf '%s\n' "$@" | awk -v lines=-1 -f $filter
	}
	begun='write(-1, "lazybones: eval_start eval=1 roots=1 site=0xabc", 51) = -1 EBADF (Bad file descriptor)'
	ended='write(-1, "lazybones: eval_done eval=1 ops=2 ok=1 site=0xabc", 53) = -1 EBADF (Bad file descriptor)'
	while read -r option first second; do
		says "the filter reads the times of $option" "$(filtered "${first//_/ }$begun" "${second//_/ }$ended")" \
			'^2 events, 1 evaluations, 0 operations, 0\.250 s$' '^in evaluations 0\.250 s \(100 %\)'
	done <<-'END'
		-ttt 1795329911.500000_ 1795329911.750000_
		-tt 06:45:11.500000_ 06:45:11.750000_
		-tt,-f 29898_23:59:59.900000_ 29898_00:00:00.150000_
		-r _____0.000000_ _____0.250000_
		-r,-f 29842______0.001000_ 29842______0.250000_
		-f,terminal [pid_29842]_1795329911.500000_ [pid_29842]_1795329911.750000_
	END
	says 'the filter adds up the times of operations' "$(filtered \
		'write(-1, "lazybones: op_done id=1 op=exp ok=1 ns=1500000", 46) = -1 EBADF (Bad file descriptor)' \
		'write(-1, "lazybones: op_done id=2 op=add ok=1 ns=0", 40) = -1 EBADF (Bad file descriptor)' \
		'write(-1, "lazybones: op_done id=3 op=exp ok=1 ns=250000", 45) = -1 EBADF (Bad file descriptor)')" \
		'^ +2  exp$' '^ +1  add$' '^ +1\.750  exp$'
	same 'a call that another thread interrupts is read to its end' '       1  0xabc' \
		"$(filtered "7 ${ended/) = */ <unfinished ...>}" '7 <... write resumed>) = -1 EBADF (Bad file descriptor)' |
			sed -n 's/^  \( *[0-9]*  0xabc\)$/\1/p')"
	says 'a log without events is refused' "$(echo 'write(1, "x", 1) = 1' | awk -f $filter)" \
		'LAZYBONES_STRACE=1'
fi
says 'a marked program runs as before' \
	"$(LAZYBONES_STRACE=1 "$workload")" '^3\.08701e\+09$'
