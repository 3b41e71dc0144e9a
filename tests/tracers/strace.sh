# LAZYBONES_STRACE=1, and the filter that reads a log.
filter=probes/strace/lazybones-strace.awk

line_of()
{
	grep -nF "$1" tests/tracers/workload.c | head -1 | cut -d: -f1
}

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
		'^[0-9]+ +write\(-1, "lazybones: eval_done eval=[0-9]+ op[s=]*"\.\.\., [0-9]+\) += -1 EBADF'
	says 'the filter reads such a log' "$(awk -f $filter "$log")" '^[0-9]+ events, 93 evaluations'

	LAZYBONES_STRACE=1 strace -f -ttt -s 256 -o "$log" -e trace=write,prctl "$workload" >/dev/null
	summary=$(awk -v lines=-1 -f $filter "$log")
	says 'the summary counts' "$summary" '93 evaluations, 117 operations, [0-9.]+ s$' \
		'^in evaluations [0-9.]+ s \([0-9]+ %\)' '^ +23  matmul$' '^ +23  divide$' \
		'^ +1  twice: first call$' '^ +1  twice: input 0: shape \(1\), compiled for \(24\)$'
	same 'misuses and implicit evaluations come from one place each' '      23  
      23  ' "$(grep -A1 -E '^(raw|implicit)' <<<"$summary" | sed -n "s|^  \( *[0-9]*  \)$workload+0x[0-9a-f]*$|\1|p")"
	# the process is gone
	if [ -n "$lazybones" ]; then
		lines=$("$lazybones" sites <<<"$summary")
		says 'call sites are functions and lines' "$lines" \
			"^ +23  evaluate_product at .*tests/tracers/workload.c:$(line_of 'lb_eval(kept')$" \
			"^ +23  misuse_view at .*workload.c:$(line_of 'lb_raw_data')$" \
			"^ +23  read_value at .*workload.c:$(line_of 'lb_item')$" \
			"eval_done .* site=queue_job at .*workload.c:$(line_of lb_async_eval)$"
		says 'those of the log itself, too' "$("$lazybones" sites <"$log")" \
			"\"lazybones: implicit_eval id=[0-9]+ site=read_value at .*workload.c:$(line_of 'lb_item')\", [0-9]+\) += -1"
		same 'the rest of the text stays' "$(sed 's/[^ =]*+0x.*//' <<<"$summary")" \
			"$(sed 's/[^ =]* at [^ ]*\.c:.*//' <<<"$lines")"
	fi
	mkdir "$scratch/a b"
	cp "$workload" "$scratch/a b"
	LAZYBONES_STRACE=1 strace -f -s 256 -o "$log.blank" -e trace=write "$scratch/a b/workload" >/dev/null
	says 'a path with blanks: the site is a number' "$(cat "$log.blank")" 'implicit_eval id=[0-9]+ site=0x[0-9a-f]+"'
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
	same 'a call site that strace has cut is not known' '         1  ?' "$(filtered \
		'write(-1, "lazybones: raw_misuse id=7 site=/home/ann/tra"..., 69) = -1 EBADF (Bad file descriptor)' |
		grep -A1 '^raw pointers' | tail -1)"
	says 'a log without events is refused' "$(echo 'write(1, "x", 1) = 1' | awk -f $filter)" \
		'LAZYBONES_STRACE=1'
fi
says 'a marked program runs as before' \
	"$(LAZYBONES_STRACE=1 "$workload")" '^3\.08701e\+09$'

# lazybones sites: what is not known stays, and nothing reaches a terminal that is not printable.
if [ -n "$lazybones" ]; then
	strange=$(printf 'site=/none+0x12 /etc/passwd+0x1 %s+0x /dev/zero+0x5 0x1234 /a+b+0xzz @by[0x12]: 3\nno newline' "$workload")
	same 'sites: what is not known stays' "$strange" "$("$lazybones" sites <<<"$strange")"
	same 'sites: controls' $'a?b?c\n?x' "$(printf 'a\033b\0c\n\001x' | "$lazybones" sites)"
	offset=0x$(nm "$workload" | sed -n 's/^0*\([0-9a-f]*\) . main$/\1/p')
	says 'sites: amid other text' "$(echo "@by[$workload+$(printf 0x%x $((offset + 1)))]: 23" | "$lazybones" sites)" \
		'^@by\[main at .*workload.c:[0-9]+\]: 23$'
	for words in '--pid' '--pid x' '--pid 0' '--bogus' 'more'; do
		"$lazybones" sites $words </dev/null >/dev/null 2>"$scratch/said"
		same "sites $words: a wrong command line" 2 $?
	done
	says 'sites: a process that is not there' "$("$lazybones" sites --pid 2147483647 2>&1 </dev/null)" 'cannot read /proc/2147483647'
	# of a process that ends before the text comes
	mkfifo "$scratch/hold" "$scratch/later"
	: >"$scratch/printed"
	"$workload" again <"$scratch/hold" >"$scratch/printed" &
	program=$!
	exec 8>"$scratch/hold"
	until_true has_lines 1 "$scratch/printed"
	base=0x$(awk -v file="$workload" '$6 == file { sub(/-.*/, "", $1); print $1; exit }' /proc/$program/maps)
	: >"$scratch/lines"
	"$lazybones" sites --pid $program <"$scratch/later" >"$scratch/lines" 8>&- &
	reader=$!
	exec 9>"$scratch/later"
	echo 'ready' >&9
	until_true has_lines 1 "$scratch/lines"
	exec 8>&-
	wait $program
	printf '@by[0x%x]: 23\n' $((base + offset + 1)) >&9
	exec 9>&-
	wait $reader
	says 'sites: of a process that has ended' "$(cat "$scratch/lines")" '^@by\[main at .*workload.c:[0-9]+\]: 23$'

	# processes that a tracer announces, and that have ended when their places come: two programs that lie at the
	# same addresses, and one anywhere
	for name in first second; do
		$CC -std=gnu17 -g -O0 -no-pie -Wall -Werror -DNAMED=${name}_one -o "$scratch/$name" tests/tracers/fixed.c || exit 1
	done
	fixed=0x$(nm "$scratch/first" | sed -n 's/^0*\([0-9a-f]*\) . first_one$/\1/p')
	same 'both programs have code there' "$fixed" \
		"0x$(nm "$scratch/second" | sed -n 's/^0*\([0-9a-f]*\) . second_one$/\1/p')"
	fixed=$(printf 0x%x $((fixed + 1)))
	# hold COMMAND…: runs it until end_all; $held is its number
	holders=()
	hold()
	{
		: >"$scratch/printed"
		"$@" <"$scratch/hold" >"$scratch/printed" 8>&- 9>&- &
		held=$!
		holders+=($held)
		exec 8>"$scratch/hold"
		until_true has_lines 1 "$scratch/printed"
	}
	end_all()
	{
		exec 8>&-
		wait "${holders[@]}"
		holders=()
	}
	# begin_sites: what is written to file 9 then is read by it; $scratch/lines is what it prints
	begin_sites()
	{
		: >"$scratch/lines"
		"$lazybones" sites <"$scratch/later" >"$scratch/lines" 2>"$scratch/why" 8>&- &
		reader=$!
		exec 9>"$scratch/later"
	}
	end_sites()
	{
		exec 9>&-
		wait $reader
	}
	begin_sites
	hold "$workload" again
	one=$held
	base=0x$(awk -v file="$workload" '$6 == file { sub(/-.*/, "", $1); print $1; exit }' /proc/$one/maps)
	hold "$scratch/first"
	printf 'process %d\n' $one $held >&9
	echo 'ready' >&9
	until_true has_lines 1 "$scratch/lines"
	end_all
	mv "$scratch/second" "$scratch/first.new"
	cp "$scratch/first" "$scratch/second"
	mv "$scratch/first.new" "$scratch/first" # another program has its name now
	printf '%s\n' "@by[$(printf 0x%x $((base + offset + 1)))]: 23" "@by[$fixed]: 23" "18:21:07 $held first 7 $fixed" \
		"18:21:07 $one workload 7 $fixed" "18:21:07 1234567890 workload 7 $fixed" '0x...: a note for others' \
		'@by[read_value]: 23' '@by[0x12]: 23' 'process of work' >&9
	end_sites
	same 'sites: of announced processes that have ended' "ready
@by[main at workload.c:L]: 23
@by[first_one at fixed.c:L]: 23
18:21:07 $held first 7 first_one at fixed.c:L
18:21:07 $one workload 7 $fixed
18:21:07 1234567890 workload 7 $fixed
@by[read_value]: 23
@by[0x12]: 23
process of work" "$(sed -E 's| at .*/([a-z]*\.c):[0-9]+| at \1:L|' "$scratch/lines")"
	same 'sites: it says what is left, and why' "lazybones: sites: 1 place is left as an address: the tracer has not announced their process
lazybones: sites: 2 places are left as addresses: no file's code was there" "$(cat "$scratch/why")"
	mv "$scratch/first" "$scratch/first.new"
	mv "$scratch/second" "$scratch/first"
	mv "$scratch/first.new" "$scratch/second"
	# what is not certain stays
	begin_sites
	hold "$scratch/first"
	one=$held
	hold "$scratch/second"
	printf 'process %d\n' $one $held >&9
	echo "@by[$fixed]: 23" >&9
	until_true has_lines 1 "$scratch/lines"
	end_all
	printf '%s\n' "7 $fixed" "$one $fixed" "$held $fixed" >&9
	end_sites
	same 'sites: two programs, one address' "@by[$fixed]: 23
7 $fixed
$one first_one at fixed.c:L
$held second_one at fixed.c:L" "$(sed -E 's| at .*/([a-z]*\.c):[0-9]+| at \1:L|' "$scratch/lines")"
	says 'sites: and that they differ' "$(cat "$scratch/why")" ': processes have different code there$'
	begin_sites
	hold "$scratch/first"
	printf '%s\n' "process $held" "@by[$fixed]: 1" 'process 2147483647' "@by[$fixed]: 2" "$held $fixed" >&9
	until_true has_lines 3 "$scratch/lines"
	end_all
	end_sites
	same 'sites: after one that was gone too soon' "@by[first_one at fixed.c:L]: 1
@by[$fixed]: 2
$held first_one at fixed.c:L" "$(sed -E 's| at .*/([a-z]*\.c):[0-9]+| at \1:L|' "$scratch/lines")"
	says 'sites: and which one it was' "$(cat "$scratch/why")" \
		'1 place is left as an address: process 2147483647 could not be looked at: it had ended$'
	begin_sites
	hold "$scratch/first"
	printf '%s\n' "process $held" "@by[$fixed]: 1" 'Lost 3 events' "@by[$fixed]: 2" >&9
	until_true has_lines 3 "$scratch/lines"
	end_all
	end_sites
	same 'sites: when announcements may be lost' "@by[first_one at fixed.c:L]: 1
Lost 3 events
@by[$fixed]: 2" "$(sed -E 's| at .*/([a-z]*\.c):[0-9]+| at \1:L|' "$scratch/lines")"
	says 'sites: and that they may be' "$(cat "$scratch/why")" ': the tracer has lost events'
	strange=$'process\nprocess x\nprocess -1\nprocess 0\nprocess 99999999999\nprocess 1 2\n process 1\nLost\nLost events'
	same 'sites: what announces nothing' "$strange" "$("$lazybones" sites <<<"$strange" 2>&1)"
fi
