# lazybones trace: what it writes, of programs that end well, are killed, or run already.
reader=$scratch/timeline
json=$scratch/timeline.json

# events [--cut]: the file's events, counted
events()
{
	"$reader" "$@" "$json" 2>&1 | sort | uniq -c | sed 's/^ *//'
}

all='^23 X op matmul$|^23 X op exp$|^23 X compile recompile$|^1 X compile compile$'
all+='|^23 i mark raw_misuse$|^23 i mark implicit_eval$|^93 X eval eval$'

if [ ! -x "$lazybones" ]; then
	skip 'the lazybones command is not built'
else
	$CC -std=gnu17 -Wall -Werror -o "$reader" tests/tracers/timeline.c -ljansson || exit 1

	said=$("$lazybones" trace -o "$json" -- "$workload" 2>&1)
	same 'the program writes what it writes' 3.08701e+09 "$(head -1 <<<"$said")"
	says 'the trace counts' "$said" \
		"^$json: [0-9]+ events, 93 evaluations, 117 operations, 0 events lost; open it in ui.perfetto.dev$"
	found=$(events)
	same 'each event is in the timeline' 7 "$(grep -cE "$all" <<<"$found")"
	says 'threads and streams have rows, memory is counted' "$(cat "$json")" \
		'"name":"main thread"' '"name":"stream 1 side"' '"ph":"C".*"in use":[1-9]'
	says 'evaluations and recompilations say why' "$(cat "$json")" \
		'"name":"eval [0-9]+","args":.*"site":"evaluate_product at tests/tracers/workload.c:[0-9]+"' \
		'"reason":"input 0: shape \(1\), compiled for \(24\)"'

	"$lazybones" trace -o "$json" -- sh -c 'exit 7' >/dev/null 2>"$scratch/said"
	same "the program's status is the command's" 7 $?
	"$lazybones" trace -o "$json" -- "$scratch/none" 2>"$scratch/said"
	same 'a program that is not there' 127 $?
	says 'it is named' "$(cat "$scratch/said")" "cannot run $scratch/none: No such file"

	"$lazybones" trace -o "$json" -- "$workload" killed >/dev/null 2>&1
	same 'a killed program: its status' 137 $?
	same 'a killed program leaves every event' 7 "$(events | grep -cE "$all")"

	"$lazybones" trace -o"$json" --interval=1 sh -c '"$0"; "$0"; exit 3' "$workload" >/dev/null 2>"$scratch/said"
	same "programs that a program runs: the status is the first's" 3 $?
	says 'programs that a program runs are followed' "$(cat "$scratch/said")" \
		': 2 programs, [0-9]+ events, 186 evaluations, 234 operations, 0 events lost'
	same 'each of them is in the timeline' 46 "$(events | sed -n 's/ X op matmul$//p')"
	"$lazybones" trace --output="$json" -- "$workload" forks >/dev/null 2>"$scratch/said"
	says "a child has its own events, and not its parent's" "$(cat "$scratch/said")" \
		': 2 programs, [0-9]+ events, 116 evaluations, 140 operations, 0 events lost'
	same 'a child has rows of its own' 2 "$(/usr/bin/python3 -c '
import json, sys
print(len({e["pid"] for e in json.load(open(sys.argv[1])) if e["name"].startswith("eval ")}))' "$json")"

	"$lazybones" trace -o "$json" -- "$workload" strays >/dev/null 2>"$scratch/said"
	says 'a child that never came to the runtime is no program of its own' "$(cat "$scratch/said")" \
		"^$json: [0-9]+ events, 93 evaluations"

	$CC -std=gnu17 -g -O0 -Wall -Werror -Iruntime -o "$scratch/jobs" tests/tracers/jobs.c -L"$O/lib" \
		-llazybones -Wl,-rpath,"$(dirname "$library")" || exit 1
	timeout 600 "$lazybones" trace -o "$json" -- "$scratch/jobs" >/dev/null 2>"$scratch/said"
	says 'jobs: each is one evaluation' "$(cat "$scratch/said")" ': [0-9]+ events, 80 evaluations, '
	same 'each format of the timeline stands' 0 "$(events >"$scratch/jobs.events"; "$reader" "$json" >/dev/null 2>&1; echo $?)"
	same 'jobs: peaks, waits and arrows' "$(printf '%s\n' 'evaluations 80 80' 'peaks yes' 'allocations yes' \
		'waits 30' 'arrows 30 30')" "$(/usr/bin/python3 tests/tracers/jobs.py "$json")"

	$CC -std=gnu17 -g -O0 -Wall -Werror -Iruntime -o "$scratch/children" tests/tracers/children.c -L"$O/lib" \
		-lpthread -llazybones -Wl,-rpath,"$(dirname "$library")" || exit 1
	timeout 600 "$lazybones" trace -o "$json" -- "$scratch/children" >/dev/null 2>"$scratch/said"
	says 'children that live shortly are all in it' "$(cat "$scratch/said")" \
		': 301 programs, [0-9]+ events, 300 evaluations, 600 operations, 0 events lost'

	timeout 600 "$lazybones" trace -o "$json" -- "$scratch/children" threads >/dev/null 2>"$scratch/said"
	says 'children of other threads are in it, too' "$(cat "$scratch/said")" \
		': 301 programs, [0-9]+ events, 300 evaluations, 600 operations, 0 events lost'

	$CC -std=gnu17 -g -O0 -Wall -Werror -Iruntime -o "$scratch/becomes" tests/tracers/becomes.c -L"$O/lib" \
		-lpthread -llazybones -Wl,-rpath,"$(dirname "$library")" || exit 1
	timeout 600 "$lazybones" trace -o "$json" -- "$scratch/becomes" thread >/dev/null 2>"$scratch/said"
	says 'what a program becomes is in it, by whichever thread' "$(cat "$scratch/said")" \
		': 2 programs, [0-9]+ events, 18 evaluations, 36 operations, 0 events lost; open'
	# where the first thread does, what came after the last look is gone with its memory, perhaps all
	lines=$("$lazybones" trace -o "$json" -- "$scratch/becomes" first 2>&1 >/dev/null)
	cut='; the last milliseconds of 1 program before it became another \(exec\) may be missing; open it'
	says 'what its first thread did just before may be missing' "$lines" ': .*at least [0-9]+ events, 1[18] eval.*'"$cut"
	mkfifo "$scratch/line"
	rm -f "$json"
	"$lazybones" trace -o "$json" -- "$scratch/becomes" waits <"$scratch/line" >/dev/null 2>"$scratch/said" &
	tracer=$!
	exec 9>"$scratch/line"
	until_true grep -q '"eval 7"' "$json" 2>/dev/null
	exec 9>&-
	wait $tracer
	says 'also where it was looked at meanwhile' "$(cat "$scratch/said")" \
		": 2 programs, at least [0-9]+ events, 18 evaluations, 36 operations, 0 events lost$cut"

	echo kept >"$scratch/kept"
	"$lazybones" trace -o "$scratch/kept" -- "$scratch/none" 2>/dev/null
	"$lazybones" trace -o "$scratch/kept" -- true 2>"$scratch/said"
	same 'a program without a runtime is no success' 1 $?
	says 'it is named, too' "$(cat "$scratch/said")" 'no program with the Lazybones runtime was seen: true$'
	same 'a file stays as it is where there is nothing to write' kept "$(cat "$scratch/kept")"
	rm -f "$json"
	"$lazybones" trace -o "$json" -- true 2>/dev/null
	same 'nor does an empty one stay' no "$([ -e "$json" ] && echo yes || echo no)"
	for file in "$scratch/none/x.json" "$scratch"; do
		said=$("$lazybones" trace -o "$file" -- "$workload" 2>&1)
		same 'a file that cannot be written: the status' 1 $?
		says 'a file that cannot be written: it is named' "$said" "^lazybones: cannot write $file: "
	done
	said=$("$lazybones" trace -o /dev/full -- "$workload" 2>&1)
	same 'a full disk: the status' 1 $?
	same 'a full disk: what is said' "lazybones: cannot write /dev/full: No space left on device
3.08701e+09" "$(sort -r <<<"$said")"
	says 'the help knows the options that there are' "$("$lazybones" trace --help)" '--pid PID'
	same 'and no others' 0 "$("$lazybones" help trace | grep -c -e --json)"
	for words in --json -o --pid --pid=0 --bogus=1 '--pid 1 true' '--interval 0 true' ''; do
		"$lazybones" trace $words >/dev/null 2>"$scratch/said"
		same "trace $words: a wrong command line" 2 $?
		says "trace $words: it says so" "$(cat "$scratch/said")" '^lazybones: trace: '
	done

	start_held "$workload" again
	rm -f "$json"
	"$lazybones" trace -o "$json" --pid $program 2>"$scratch/said" &
	tracer=$!
	until_true grep -q tensors "$json" 2>/dev/null
	echo >&9
	until_true has_lines 2 "$scratch/printed"
	kill -INT $tracer
	wait $tracer
	same 'a running program: the end of the trace' 0 $?
	found=$(events)
	same 'a running program: its second round' 4 "$(grep -cE \
		'^23 X op matmul$|^23 X compile recompile$|^23 i mark raw_misuse$|^92 X eval eval$' \
		<<<"$found")"
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	if [ "$(id -u)" = 0 ] && "${nobody[@]}" "$lazybones" --version >/dev/null 2>&1; then
		for verb in "trace -o /dev/null --pid $program" "top $program"; do
			said=$("${nobody[@]}" "$lazybones" $verb 2>&1)
			same "${verb%% *}: another user's process" 1 $?
			says "${verb%% *}: it says who may" "$said" 'Permission denied.*as root'
		done
	else
		skip 'nobody cannot run the command here: no process of another user to look into'
	fi
	rm -f "$json"
	"$lazybones" trace -o "$json" --pid $program 2>"$scratch/said" &
	tracer=$!
	until_true grep -q tensors "$json" 2>/dev/null
	echo >&9
	until_true grep -q recompile "$json"
	kill -KILL $tracer
	wait $tracer 2>/dev/null
	says 'a killed tracer leaves a file that loads' "$(events --cut)" '^[0-9]+ X eval eval$'
	timed()
	{
		"$lazybones" pid $program events op_done --last 100 | grep -q ' exp .* us' && echo yes
	}
	same 'a killed tracer: events are timed for a while' yes "$(timed)"
	# each round's events take the place of the last one's
	untimed()
	{
		echo >&9
		rounds=$((rounds + 1))
		until_true has_lines $rounds "$scratch/printed" && [ -z "$(timed)" ]
	}
	rounds=3
	until_true untimed
	same 'a killed tracer: then no longer' '' "$(timed)"
	exec 9>&-
	wait $program
	same 'the program never noticed' 0 $?
	"$lazybones" trace -o "$json" --pid $program 2>"$scratch/said"
	says 'a process that is gone is named' "$(cat "$scratch/said")" "no process $program"
fi
