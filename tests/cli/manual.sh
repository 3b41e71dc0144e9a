# The examples of the manual's pages, as a shell takes them.

# examples: "PAGE<tab>LINE" of each. A line that ends with a comma goes on in the next.
examples()
{
	local page
	for page in $("$O/bin/lazybones" --manual); do
		"$O/bin/lazybones" --manual "$page" | sed 's/\\-/-/g; s/\\e/\\/g' | awk -v page="$page" '
			sub(/^Example: /, "") { text = ""; inside = 1 }
			!inside { next }
			{ text = text (text == "" ? "" : " ") $0; inside = /,$/ }
			!inside {
				n = split(text, lines, /, lazybones /)
				for (i = 1; i <= n; i++)
					print page "\t" (i > 1 ? "lazybones " : "") lines[i]
			}'
	done
}

# No word is a comment, no bracket or sign the shell's own.
is_for_shell()
{
	local bare
	bare=$(sed "s/'[^']*'//g" <<<"$1")
	bash -n <<<"$1" 2>/dev/null && ! grep -qE '(^| )#|[()<>;&$`]' <<<"$bare"
}

# manual_examples CORE: none is misuse, of a core; what else it says is for its program.
manual_examples()
{
	local page line said n=0 played=0 bad=0 folder=$work/examples core
	core=$(realpath "$1")
	mkdir -p "$folder"
	while IFS=$'\t' read -r page line; do
		n=$((n + 1))
		is_for_shell "$line" || { bad=$((bad + 1)); echo "FAILED: $page: no line for a shell: $line"; }
		[[ $line == 'lazybones core CORE '* ]] || continue
		played=$((played + 1))
		said=$(cd "$folder" && PATH=$O/bin:$PATH timeout 60 bash -c "${line/CORE/$core}" 2>&1 </dev/null)
		[ $? != 2 ] || { bad=$((bad + 1)); echo "FAILED: $page: misuse: $line: $said"; }
	done < <(examples)
	failed=$((failed + bad))
	if [ "$n" -ge 60 ] && [ "$played" -ge 40 ]; then
		echo "ok: of $n examples of the manual $played were played"
		passed=$((passed + 1))
	else
		echo "FAILED: of $n examples of the manual $played were played"
		failed=$((failed + 1))
	fi
}
