# A named value over the evaluations of a program: all of them, and no other.

# follow_running PROGRAM: from the outside, while it runs on; and after that, too.
follow_running()
{
	local pid told=$work/followed.told follower
	FOLLOWED_QUIET=1 "$1" 1000000000 2>"$work/followed.err" &
	pid=$! pids+=($!)
	until "$O/bin/lazybones" pid $pid status >/dev/null 2>&1; do kill -0 $pid 2>/dev/null || break; done
	same_lines 'follow: a process, until nobody reads it' 'loss: loss: loss:' \
		"$("$O/bin/lazybones" pid $pid follow loss 2>&1 | head -3 | grep -o 'loss:')"
	"$O/bin/lazybones" pid $pid follow 'loss,w' --stat max --json >"$told" 2>&1 &
	follower=$!
	until grep -q '"name":"w"' "$told" || ! kill -0 $follower 2>/dev/null; do sleep 0.1; done
	check 'follow: a process that another follows' "the program's values go to process $follower, which follows them" \
		pid $pid follow w
	kill -TERM $follower
	wait $follower
	same_lines 'follow: a process, until it is ended' 0 "$?"
	expect 'follow: a process, as JSON' '{"name":"loss","max":' "$(head -1000 "$told")"
	expect 'follow: the log is off then' 'off' "$(grep -q 'nothing is logged' <(tail -n +2 "$work/followed.err") || echo off)"
	"$O/bin/lazybones" pid $pid follow loss >"$told" 2>&1 &
	follower=$!
	until grep -q 'loss: ' "$told" || ! kill -0 $follower 2>/dev/null; do sleep 0.1; done
	kill $pid
	wait $follower
	same_lines 'follow: a process, to its end' 0 "$?"
	check 'follow: no such process' 'process 999999999' pid 999999999 follow w
	status 'follow: nothing of a process' 2 pid $$ follow
	status 'follow: a process without a runtime' 1 pid $$ follow w
}

follow_values()
{
	local program=$work/followed drawn
	if ! ${CC:-gcc} -std=gnu17 -g -Iruntime tests/cli/followed.c -o "$program" -L"$O/lib" -llazybones -Wl,-rpath,"$O/lib"; then
		echo 'FAILED: tests/cli/followed.c does not build'
		failed=$((failed + 1))
		return
	fi
	same_lines 'follow: a line for each evaluation' 'loss: 1 loss: 0.5 loss: nan loss: 0.25' \
		"$("$O/bin/lazybones" follow loss -- "$program" 2>&1 | grep -v round)"
	same_lines 'follow: of several, which' 'w: 1 loss: 1 w: 2 loss: 0.5' \
		"$("$O/bin/lazybones" follow 'loss,w' --stat max -- "$program" 2 2>&1 | grep -v round)"
	check 'follow: as JSON' '{"name":"loss","mean":"NaN","step":3,"nan":1}' follow loss --json -- "$program"
	status 'follow: that of the program' 7 follow loss -- "$program"
	check 'follow: a name that never comes' 'no value of that name was computed' follow nosuch -- "$program"
	expect 'follow: no such program' 'cannot run /nonexistent/program' \
		"$("$O/bin/lazybones" follow loss -- /nonexistent/program 2>&1)"
	status 'follow: no such program' 127 follow loss -- /nonexistent/program
	check 'follow: no such figure' "--stat is min, max, mean, std or l2, not 'median'" follow loss --stat median -- "$program"
	status 'follow: no program' 2 follow loss
	follow_running "$program"
	if command -v script >/dev/null; then
		# the last three: two lie at the ends of the range, and one is none
		drawn=$(LC_ALL=C script -qec "'$O/bin/lazybones' follow loss --last 3 -- '$program'" /dev/null </dev/null | tr '\r' '\n')
		expect 'follow: a chart' 'loss #?_ 0.25' "$drawn"
	else
		skip 'follow: a chart: there is no script'
	fi
}

follow_values
