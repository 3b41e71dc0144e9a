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
	same 'the program writes what it writes, and the trace counts' "3.08701e+09
$json: 402 events, 93 evaluations, 117 operations, 0 events lost; open it in ui.perfetto.dev" "$said"
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

	mkfifo "$scratch/lines"
	"$workload" again <"$scratch/lines" >"$scratch/printed" &
	program=$!
	exec 9>"$scratch/lines"
	until_true grep -q . "$scratch/printed"
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
	rm -f "$json"
	"$lazybones" trace -o "$json" --pid $program 2>"$scratch/said" &
	tracer=$!
	until_true grep -q tensors "$json" 2>/dev/null
	echo >&9
	until_true grep -q recompile "$json"
	kill -KILL $tracer
	wait $tracer 2>/dev/null
	says 'a killed tracer leaves a file that loads' "$(events --cut)" '^[0-9]+ X eval eval$'
	exec 9>&-
	wait $program
	same 'the program never noticed' 0 $?
	"$lazybones" trace -o "$json" --pid $program 2>"$scratch/said"
	says 'a process that is gone is named' "$(cat "$scratch/said")" "no process $program"
fi
