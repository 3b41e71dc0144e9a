# Many tensors beside those of the same names: in another core, in files, and files beside files.

# same_lines WHAT WORDS LINES
same_lines()
{
	if [ "$2" = "$(tr '\n' ' ' <<<"$3" | sed 's/ $//')" ]; then
		echo "ok: $1"
		passed=$((passed + 1))
	else
		printf 'FAILED: %s: not %s, but\n%s\n' "$1" "$2" "$3"
		failed=$((failed + 1))
	fi
}

many_tensors()
{
	local good sick which
	if ! ${CC:-gcc} -std=gnu17 -g -Iruntime tests/cli/layers.c -o "$work/layers" -L"$O/lib" -llazybones \
		-Wl,-rpath,"$O/lib"; then
		echo 'FAILED: tests/cli/layers.c does not build'
		failed=$((failed + 1))
		return
	fi
	mkdir -p "$work/layers.good" "$work/layers.sick"
	(cd "$work/layers.good" && exec "$work/layers") >/dev/null 2>&1
	(cd "$work/layers.sick" && exec "$work/layers" sick) >/dev/null 2>&1
	good=$(echo "$work/layers.good"/core*) sick=$(echo "$work/layers.sick"/core*)
	if [ ! -f "$good" ] || [ ! -f "$sick" ]; then
		skip 'many tensors: the kernel writes no core here'
		return
	fi
	check 'many: beside another core' '12 of 12 tensors are in '"$good"' by name: 9 correct, 3 broken' \
		core "$sick" diff 'layers.*' "$good" --rtol 1e-4
	check 'many: the first is marked' '> layers.3.out  broken' core "$sick" diff 'layers.*' "$good"
	check 'many: and explained' 'layers.3.out is the first that is not correct: equal' core "$sick" diff 'layers.*' "$good"
	same_lines 'many: in the order in which they came about' 'layers.0.w layers.0.out layers.1.w layers.1.out' \
		"$("$O/bin/lazybones" core "$sick" diff 'layers.*' "$good" | sed -n 's/^  \(layers[^ ]*\) .*/\1/p' | sed 4q)"
	check 'many: NaN in one alone' 'NaN in one alone, the first at' core "$sick" diff 'last*' "$good"
	check 'many: another shape' 'float32 (5,), and there float32 (4,)' core "$sick" diff 's*' "$good"
	check 'many: the second of one name' '  hidden@2  correct' core "$sick" diff 'hid*' "$good"
	check 'the second of one name' 'computed by evaluation 2' core "$good" info hidden@2
	check 'many: a name like that of a second' '3 of 3 tensors are in '"$good"' by name: 3 correct' core "$sick" diff 'odd*' "$good"
	check 'many: of it and of another' 'odd (no. 2 of that name)  correct' core "$sick" diff 'odd*' "$good"
	check 'there is no seventh' "no tensor 'hidden@7'" core "$good" print hidden@7
	check 'several of one name' "tensors are 'hidden': #" core "$good" print hidden
	check 'many: no name' 'no tensor has a name that matches nosuch.*' core "$good" diff 'nosuch.*' "$good"
	check 'many: no file' "$work/nosuch.npz: No such file or directory" core "$good" diff 'layers.*' "$work/nosuch.npz"
	check 'many: a line a tensor at most' '… 11 more (--limit 0 shows all)' core "$sick" diff 'layers.*' "$good" --limit 1
	mkdir -p "$work/layers.saved"
	for which in 0 1 2; do
		"$O/bin/lazybones" core "$good" save "layers.$which.out" "$work/layers.saved/layers.$which.out.npy" >/dev/null
	done
	check 'many: beside a folder of files' '3 of 6 tensors are in '"$work/layers.saved"' by name: 3 correct' \
		core "$good" diff 'layers.?.out' "$work/layers.saved"
	check 'many: a folder beside a core' '3 of 3 tensors are in '"$good"' by name: 3 correct' \
		diff "$work/layers.saved" "$good"
	check 'many: a file beside a file' '1 of 1 tensor is in '"$work/layers.saved/layers.0.out.npy"' by name: 1 correct' \
		diff "$work/layers.saved/layers.0.out.npy" "$work/layers.saved/layers.0.out.npy"
	check 'many: a file beside one of another name' 'the one array of each, here beside layers.2.out of ' \
		diff "$work/layers.saved/layers.0.out.npy" "$work/layers.saved/layers.2.out.npy"
	check 'many: and what is in them' 'layers.0.out is not correct' \
		diff "$work/layers.saved/layers.0.out.npy" "$work/layers.saved/layers.2.out.npy"
	cp "$work/layers.saved/layers.0.out.npy" "$work/other.npy"
	check 'many: the same in a file of another name' 'here beside other of '"$work/other.npy: 1 correct" \
		diff "$work/layers.saved/layers.0.out.npy" "$work/other.npy"
	check 'many: no name in common' \
		"$work/layers.saved has none of the 6 names of layers.?.w, but layers.0.out, layers.1.out, layers.2.out (\`weights\` finds arrays by values)" \
		core "$good" diff 'layers.?.w' "$work/layers.saved"
	status 'many: no name in common' 1 core "$good" diff 'layers.?.w' "$work/layers.saved"
	check 'many: no name in common with a core' "$good has none of the 1 name of $work/other.npy, but hidden, hidden@2, " \
		diff "$work/other.npy" "$good"
	check 'many: what only the other has' '2 there that match no other here' \
		diff "$work/layers.saved/layers.0.out.npy" "$work/layers.saved"
	check 'diff: what is nearly the other, transposed' 'With axes 0 and 1 exchanged their correlation is 0.9' \
		core "$sick" diff layers.0.w 'layers.0.w.T + 0.1 * layers.1.w'
	check 'diff: shapes that are transposed' 'one of them is transposed? (swapaxes(T, -2, -1) exchanges the axes)' \
		core "$sick" diff layers.0.out 'layers.0.out.T' --explain off
	check 'many: as JSON' '"correct":1,"as_expected":0,"look_at_it":0,"broken":1,"not_compared":0,"missing":0,"only_there":0,"tensors":[' \
		diff "$sick:layers.3.*" "$good" --json
}

# The same from logs of values: a folder of the program's own, as both are written by the same command.
logs_of_values()
{
	local logs=$work/layers.logs
	[ -x "$work/layers" ] || return
	mkdir -p "$logs"
	(cd "$logs" && ulimit -c 0 && LAZYBONES_LOG=good.jsonl LAZYBONES_LOG_NAMES='layers.*' exec "$work/layers") >/dev/null 2>&1
	(cd "$logs" && ulimit -c 0 && exec "$O/bin/lazybones" trace -o trace.json --log sick.jsonl --names 'layers.*' -- \
		"$work/layers" sick) >/dev/null 2>&1
	check 'log: a file that cannot be' 'log: /nonexistent/log cannot be written: No such file or directory' \
		trace -o "$logs/nothing.json" --log /nonexistent/log -- "$work/layers"
	check 'log: names and ranges' 'layers.0.w ' log "$logs/good.jsonl"
	check 'log: beside another' '9 the same bit for bit, 0 alike in their figures, 3 different' \
		log "$logs/sick.jsonl" "$logs/good.jsonl"
	check 'log: the first that differs' 'layers.3.out, time 1 (line 8, evaluation 4): the same elements in another order' \
		log "$logs/sick.jsonl" "$logs/good.jsonl"
	check 'log: the same' '12 the same bit for bit, 0 alike in their figures, 0 different' \
		log "$logs/good.jsonl" "$logs/good.jsonl"
	printf '%s\n' '# what is expected' 'layers.*.w -10 10' 'layers.3.out -0.5 0.5' >"$logs/ranges"
	check 'log: beyond what is expected' 'layers.3.out: 1 time beyond -0.5 to 0.5, first layers.3.out, time 1' \
		log "$logs/good.jsonl" --expect "$logs/ranges"
	printf '%s\n' 'layers.* -1e9 1e9' >"$logs/ranges"
	check 'log: within it' 'all values are within what is expected' log "$logs/good.jsonl" --expect "$logs/ranges"
	printf '%s\n' 'layers.* 3' >"$logs/ranges"
	check 'log: no ranges' 'line 1: not a name or pattern' log "$logs/good.jsonl" --expect "$logs/ranges"
	sed 's/"min":[^,]*,"max":[^,]*,"mean":[^,]*,"std":[^,]*/"min":null,"max":null,"mean":null,"std":null/; s/"nan":0/"nan":3/' \
		"$logs/good.jsonl" >"$logs/nan.jsonl"
	check 'log: nothing that is finite' '         -           -           -           -  3 NaN, 0 Inf' log "$logs/nan.jsonl"
	check 'log: likewise as JSON' '"min":null,"max":null,"nan":3,"inf":0,"first_std":null,"last_std":null' \
		log "$logs/nan.jsonl" --json
	sed '5,$s/"nan":0/"nan":3/; 3s/"inf":0/"inf":2/' "$logs/good.jsonl" >"$logs/later.jsonl"
	check 'log: where NaN came first' 'the first NaN that was logged: layers.2.w, time 1 (line 5, evaluation 3), made by random_normal: 3 NaN, 0 Inf' \
		log "$logs/later.jsonl"
	check 'log: and Inf' 'the first Inf that was logged: layers.1.w, time 1 (line 3, evaluation 2), made by random_normal: 0 NaN, 2 Inf' \
		log "$logs/later.jsonl"
	check 'log: likewise, as JSON' '"first_nan":{"name":"layers.2.w","op":"random_normal","time":1,"step":5,"eval":3,"nan":3,"inf":0,' \
		log "$logs/later.jsonl" --json
	check 'log: where there was none' '"first_nan":null,"first_inf":null' log "$logs/good.jsonl" --json
	printf '%s\n' 'layers.* -1e9 1e9' >"$logs/ranges"
	check 'log: NaN is within no range' '12 times beyond -1e+09 to 1e+09, first layers.0.w' log "$logs/nan.jsonl" --expect "$logs/ranges"
	sed 's/layers.0.w/layers\\n0/' "$logs/good.jsonl" >"$logs/lines.jsonl"
	check 'log: a name of two lines' '  layers?0 ' log "$logs/lines.jsonl"
	check 'log: no log' 'no JSON' log "$logs/ranges"
	check 'log: no file' 'No such file' log "$logs/nosuch"
	check 'log: which' 'log: which log?' log
	check 'log: as JSON' '"same":9,"alike":0,"different":3,"not_there":0,"only_there":0,"first":{"is":"the same elements in another order","name":"layers.3.out"' \
		log "$logs/sick.jsonl" "$logs/good.jsonl" --json
}

