# Nothing that a program has named gives orders to the terminal, whatever the command.

# unfit FILE…: what a terminal must not get of it
unfit()
{
	/usr/bin/python3 - "$@" <<-'END'
		import sys, unicodedata
		for path in sys.argv[1:]:
		    text = open(path, "rb").read()
		    try:
		        text = text.decode()
		    except UnicodeDecodeError as error:
		        print(path, error)
		        continue
		    bad = {hex(ord(c)) for c in text if c not in "\n\t" and (unicodedata.category(c) == "Cc" or
		        unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))}
		    if bad:
		        print(path, *sorted(bad))
	END
}

if [ ! -x "$lazybones" ]; then
	skip 'the lazybones command is not built'
else
	$CC -std=gnu17 -g -O0 -Wall -Werror -D_GNU_SOURCE -Iruntime -o "$scratch/hostile" tests/tracers/hostile.c \
		-L"$O/lib" -llazybones -Wl,-rpath,"$(dirname "$library")" || exit 1
	start_held "$scratch/hostile"
	mkdir "$scratch/shown"
	commands=$("$lazybones" help | sed -nE 's/^  ([a-z-]+) .*/\1/p')
	for name in $commands; do
		for json in '' --json; do
			# with the newest tensor, and without
			"$lazybones" $json pid $program $name >"$scratch/shown/$name$json" 2>&1 </dev/null
			"$lazybones" $json pid $program $name '#1' >"$scratch/shown/$name$json.1" 2>&1 </dev/null
		done
	done
	says 'hostile names: commands were tried' "$(ls "$scratch/shown" | wc -l)" '^[1-9][0-9]{2}$'
	says 'hostile names are shown' "$(cat "$scratch"/shown/{list,compiled,events,compiled--json})" \
		'h\?\[31m' '^ *[0-9.-]+ s .* error .*h\?\[31m' '^h\?\[31m.*1 call' '\\u001b|h\?\[31m'
	COLUMNS=80 "$lazybones" top $program --once --interval 100 >"$scratch/shown/top" 2>&1
	"$lazybones" pid $program print $'\233\033[31m\342\200\256' >"$scratch/shown/mistake" 2>&1
	says 'a hostile argument is named' "$(cat "$scratch/shown/mistake")" '\?\?\[31m'
	exec 9>&-
	wait $program
	"$lazybones" trace -o "$scratch/shown/trace" -- "$scratch/hostile" </dev/null >"$scratch/shown/said" 2>&1
	same 'hostile names: nothing of them reaches a terminal' '' "$(unfit "$scratch"/shown/*)"
fi
