# Turns a log of strace into a summary and a timeline of the runtime's life events.
#
#	LAZYBONES_STRACE=1 strace -f -ttt -s 256 -e trace=write,prctl -o LOG PROGRAM …
#	awk -f lazybones-strace.awk [-v lines=N] LOG | lazybones sites
#
# Call sites are places such as /home/ann/train+0x51de; `lazybones sites`, or addr2line, makes lines of them.
# Events are the writes to descriptor -1 whose text begins with "lazybones: ". -f and -ttt are
# optional (-t, -tt and -r will do): without them there is one thread, and no time. Texts that strace has cut (-s) are
# read as far as they go; a number or a place that is cut is not known. Of the timeline, `lines` are shown (20; 0: none; -1: all).

BEGIN { if (lines == "") lines = 20 }

# The value of "name=" in this event's text, or "".
function value(name, at, rest) {
	at = index(text, " " name "=")
	if (!at)
		return ""
	rest = substr(text, at + length(name) + 2)
	if (substr(rest, 1, 1) == "'")
		return substr(rest, 2, index(substr(rest, 2) "'", "'") - 1)
	if (!sub(/ .*/, "", rest) && is_cut)
		return ""
	return rest
}

function bytes(n, i) {
	for (i = 1; n >= 1024 && i < 4; i++)
		n /= 1024
	return sprintf(i > 1 ? "%.1f %s" : "%d %s", n, substr("B  KiBMiBGiB", 3 * i - 2, i > 1 ? 3 : 1))
}

function add_line(what) {
	if (++n_lines <= lines || lines < 0)
		shown[n_lines] = sprintf("%s  %7s  %s", timed ? sprintf("%12.6f", now - first) : "-", thread, what)
}

# Seconds since 1970 (-ttt), the time of day (-t, -tt), or seconds since the line before (-r).
function take_time(time, part) {
	if (split(time, part, ":") == 3) {
		now = day + part[1] * 3600 + part[2] * 60 + part[3]
		if (last != "" && now < last - 43200) {
			day += 86400
			now += 86400
		}
	} else {
		time += 0
		now = time > 100000000 ? time : now + time
	}
}

# Prints the keys of `count`, the largest first; `format` is that of a number, "%8d" without.
function table(title, count, format, n, key, best, done, i) {
	if (format == "")
		format = "%8d"
	for (key in count)
		n++
	if (n)
		print "\n" title
	for (i = 0; i < n && i < 10; i++) {
		best = ""
		for (key in count)
			if (!(key in done) && (best == "" || count[key] > count[best] ||
			    (count[key] == count[best] && key < best)))
				best = key
		done[best] = 1
		printf "  " format "  %s\n", count[best], best
	}
	if (n > 10)
		printf "  %8s  and %d more\n", "", n - 10
}

{
	thread = "-"
	line = $0
	# "[pid 12] " on a terminal, "12 " in a file
	if (match(line, /^\[pid +[0-9]+\] +/) || match(line, /^[0-9]+ +[0-9a-z<+-]/)) {
		if (match(line, /^\[pid +[0-9]+\] +/)) {
			thread = substr(line, 6, RLENGTH - 6)
			gsub(/[^0-9]/, "", thread)
			line = substr(line, RLENGTH + 1)
		} else {
			thread = line
			sub(/ .*/, "", thread)
			sub(/^[0-9]+ +/, "", line)
		}
	}
	sub(/^ +/, line ~ /^ +[0-9.:]+ / ? "" : " ", line)
	timed = match(line, /^([0-9]+:[0-9]+:[0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]+) +/)
	if (timed) {
		take_time(substr(line, 1, RLENGTH))
		line = substr(line, RLENGTH + 1)
		if (first == "")
			first = now
		last = now
	}
}

line ~ /^prctl\(PR_SET_VMA, PR_SET_VMA_ANON_NAME, / && match(line, /"lazybones #.*"/) {
	text = substr(line, RSTART + 1, RLENGTH - 2)
	add_line("mapping " text)
	mappings++
}

line !~ /^write\(-1, "lazybones: / { next }

{
	text = substr(line, index(line, "lazybones: ") + 11)
	is_cut = text ~ /"\.\.\., [0-9]+(\)| <unfinished)/
	sub(/"(\.\.\.)?, [0-9]+(\)| <unfinished).*/, "", text)
	event = text
	sub(/ .*/, "", event)
	events[event]++
	n_events++
	if (event != "op_done")
		add_line(text)
}

event == "eval_start" { begun[value("eval")] = timed ? now : "" }
event == "eval_done" {
	evals++
	sites[value("site") == "" ? "?" : value("site")]++
	if (timed && value("eval") in begun) {
		took = now - begun[value("eval")]
		busy += took
		if (took > longest) {
			longest = took
			longest_eval = value("eval")
		}
	}
	delete begun[value("eval")]
}
event == "op_done" {
	ops[value("op") == "" ? "?" : value("op")]++
	n_ops++
	# short ones are measured with LAZYBONES_TIMES=1 only
	if (value("ns") > 0)
		op_ms[value("op")] += value("ns") / 1e6
}
event == "alloc" { allocated += value("nbytes"); held += value("nbytes"); if (held > peak) peak = held }
event == "dealloc" { held -= value("nbytes") }
event == "raw_misuse" { misuse[value("site") == "" ? "?" : value("site")]++ }
event == "implicit_eval" { implicit[value("site") == "" ? "?" : value("site")]++ }
event == "compile" { compiles[value("name") ": " value("reason")]++ }
event == "error" { errors[value("message")]++ }

END {
	if (!n_events) {
		print "no event in this log: was the program started with LAZYBONES_STRACE=1, and " \
			"strace with -e trace=write?"
		exit 1
	}
	printf "%d events, %d evaluations, %d operations", n_events, evals, n_ops
	if (last > first)
		printf ", %.3f s", last - first
	print ""
	if (busy)
		printf "in evaluations %.3f s (%.0f %%), the longest %s with %.6f s\n", busy,
			100 * busy / (last - first), longest_eval, longest
	if (allocated)
		printf "from the system %s, at most %s at a time\n", bytes(allocated), bytes(peak)
	if (mappings)
		printf "%d times a mapping was given a tensor's name\n", mappings
	for (eval in begun)
		printf "evaluation %s never ended\n", eval
	table("operations", ops)
	table("operations that were measured, in ms", op_ms, "%8.3f")
	table("evaluations by call site", sites)
	table("raw pointers of strided views by call site", misuse)
	table("implicit evaluations by call site", implicit)
	table("compilations", compiles)
	table("errors", errors)
	if (lines && n_lines) {
		print "\ntimeline"
		for (i = 1; i <= n_lines && (lines < 0 || i <= lines); i++)
			print shown[i]
		if (i <= n_lines)
			printf "%d more (-v lines=-1 shows all)\n", n_lines - i + 1
	}
}
