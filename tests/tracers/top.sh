# lazybones top, once, as JSON, and on a screen of 80 x 24.
if [ ! -x "$lazybones" ]; then
	skip 'the lazybones command is not built'
else
	start_held "$workload" again
	yes >&9 2>/dev/null &
	feeder=$!
	shown=$(COLUMNS=80 "$lazybones" top $program --once --interval 500)
	says 'top --once' "$shown" "^lazybones top +process $program " '^memory +[0-9.]+ [KMG]iB in use' \
		'^evals +[1-9][0-9.]*/s, [0-9]+ % of the time' '^tensors +[0-9]+ alive, \+[1-9]' \
		'^ +[0-9.]+ +[0-9.]+  matmul$' \
		'^ +[0-9.]+ +[0-9.]+  evaluate_product at tests/tracers/workload.c:[0-9]+$' \
		'^ +[0-9.]+ MiB +[0-9]+  evaluate_product at'
	same 'top: nothing is wider than the screen' '' "$(awk 'length > 80' <<<"$shown")"
	says 'top --json' "$("$lazybones" top --json --interval 300 $program | /usr/bin/python3 -m json.tool)" \
		'"op": "matmul"' '"evals_per_second": [1-9]' '"bytes": [1-9]' '"created": [1-9]'
	for words in abc 0 '1 2' --bogus --interval ''; do
		"$lazybones" top $words 2>"$scratch/said"
		same "top $words: a wrong command line" 2 $?
		says "top $words: it says so" "$(cat "$scratch/said")" '^lazybones: top: '
	done
	TERM=nosuch script -qec "'$lazybones' top $program" /dev/null >"$scratch/said" 2>&1
	same 'top: on a terminal that nobody knows' 1 $?
	says 'top: it says so' "$(cat "$scratch/said")" 'this terminal cannot show a screen \(TERM\): use --once or --json'
	says 'top --json, before the verb' "$("$lazybones" --json top --interval=100 $program)" '^\{'
	if ! command -v tmux >/dev/null; then
		skip 'tmux is not installed: no screen for top'
	else
		tmux=(tmux -S "$scratch/tmux")
		"${tmux[@]}" -f /dev/null new-session -d -x 80 -y 24 \
			"'$lazybones' top $program --interval 200 2>'$scratch/said'; echo status \$? >>'$scratch/said'"
		drawn()
		{
			screen=$("${tmux[@]}" capture-pane -p 2>/dev/null)
			grep -q 'made by' <<<"$screen"
		}
		until_true drawn
		says 'top on a screen of 80 x 24' "$screen" '^lazybones top' '  matmul$' \
			'  evaluate_product at' '^q ends'
		same 'top: no line stays empty while there is more to show' yes \
			"$(awk '/  operation/ { n = NR } /  evaluated by/ { print (NR - n > 5 ? "yes" : "no") }' <<<"$screen")"
		same 'top: the screen has 24 lines' 24 "$(wc -l <<<"$screen")"
		# resized COLUMNS LINES: it is drawn anew at once, and fits
		resized()
		{
			"${tmux[@]}" resize-window -x $1 -y $2
			fits()
			{
				screen=$("${tmux[@]}" capture-pane -p)
				[ "$(tail -1 <<<"$screen")" = 'q ends' ] && [ "$(wc -l <<<"$screen")" = $2 ] &&
					grep -qE '^tensors ' <<<"$screen"
			}
			until_true fits $1 $2
			same "top on a screen of $1 x $2" 'q ends' "$(tail -1 <<<"$screen")"
		}
		resized 120 24
		resized 30 9
		resized 80 24
		kill $feeder $program
		until_true grep -q status "$scratch/said"
		says 'top: when the program ends, it says so' "$(cat "$scratch/said")" \
			"process $program (has ended|.*gone)|process $program" '^status 1$'
	fi
	kill $feeder $program 2>/dev/null
	wait $feeder $program 2>/dev/null
	exec 9>&-
	# a line that is cut ends with a whole character
	cp tests/tracers/workload.c "$scratch/größe_ünïcödé.c"
	(cd "$scratch" && $CC -std=gnu17 -g -O0 -w -fdebug-prefix-map="$scratch=/s" -I"$OLDPWD/runtime" -o uses_letters größe_ünïcödé.c \
		-L"$(dirname "$library")" -lpthread -llazybones -Wl,-rpath,"$(dirname "$library")") || exit 1
	start_held "$scratch/uses_letters" again
	yes >&9 2>/dev/null &
	feeder=$!
	if command -v tmux >/dev/null; then
		# shown LOCALE: the names on the screen
		shown()
		{
			local tmux=(tmux -u -S "$scratch/tmux.$1") screen
			LC_ALL=C.UTF-8 "${tmux[@]}" -f /dev/null new-session -d -x 120 -y 24 \
				"LC_ALL=$1 '$lazybones' top $program --interval 200"
			drawn()
			{
				screen=$(LC_ALL=C.UTF-8 "${tmux[@]}" capture-pane -p 2>/dev/null)
				grep -q 'made by' <<<"$screen"
			}
			until_true drawn
			"${tmux[@]}" kill-server
			grep -o 'at [^ ]*\.c:' <<<"$screen" | sort -u
		}
		same 'top: letters beyond ASCII, where the locale is UTF-8' 'at größe_ünïcödé.c:' "$(shown C.UTF-8)"
		same 'top: and where it is not' 'at gr??e_?n?c?d?.c:' "$(shown C)"
	fi
	for columns in {44..56}; do
		COLUMNS=$columns "$lazybones" top $program --once --interval 50
	done >"$scratch/cut"
	kill $feeder $program
	wait $feeder $program 2>/dev/null
	exec 9>&-
	says 'top: lines with letters beyond ASCII are cut' "$(cat "$scratch/cut")" ' at grö$' ' at größ$'
	same 'top: between characters' '' "$(iconv -f utf-8 -t utf-8 <"$scratch/cut" 2>&1 >/dev/null)"
	"$lazybones" top $program 2>"$scratch/said"
	same 'top: of a process that is gone' 1 $?
	says 'top: it is named' "$(cat "$scratch/said")" "no process $program"
	"$lazybones" top 2>"$scratch/said"
	same 'top: of no process' 2 $?
fi
