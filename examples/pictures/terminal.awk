# Draws what a program wrote to a terminal as SVG: colours (SGR), and half blocks as rectangles.
#
#	awk -v columns=50 -f terminal.awk LOG >PICTURE.svg
#
# Text is stretched to its columns, whatever font the viewer has.
BEGIN {
	CELL = 10; LINE = 21; MARGIN = 14; TAB = 4
	split("#ff7b72 #7ee787 #e3b341 #79c0ff #d2a8ff #76e3ea", palette, " ") # SGR 31 to 36
	for (i = 1; i < 256; i++)
		byte[sprintf("%c", i)] = i
	reset()
}

function reset() { colour = ground = ""; bold = dim = 0 }

# "1;38;2;155;97;98"
function style(codes,   n, i, c)
{
	n = split(codes, c, ";")
	if (n == 0)
		reset()
	for (i = 1; i <= n; i++) {
		if (c[i] == 0)
			reset()
		else if (c[i] == 1)
			bold = 1
		else if (c[i] == 2)
			dim = 1
		else if (c[i] == 22)
			bold = dim = 0
		else if (c[i] >= 31 && c[i] <= 36)
			colour = palette[c[i] - 30]
		else if (c[i] == 38 || c[i] == 48) {
			hex = sprintf("#%02x%02x%02x", c[i + 2], c[i + 3], c[i + 4])
			if (c[i] == 38)
				colour = hex
			else
				ground = hex
			i += 4
		}
	}
}

function escape(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text); return text }

# Each piece between two or more blanks stands at a place of its own: viewers make one blank of them.
function flush_text(   n)
{
	sub(/ +$/, "", text)
	while (text != "") {
		match(text, /^ */)
		start += RLENGTH
		text = substr(text, RLENGTH + 1)
		n = index(text, "  ")
		print_piece(n ? substr(text, 1, n - 1) : text)
		start += used(n ? substr(text, 1, n - 1) : text)
		text = n ? substr(text, n) : ""
	}
	start = column
}

function print_piece(piece)
{
	body = body sprintf("<text x=\"%d\" y=\"%d\" textLength=\"%d\"%s%s>%s</text>\n", MARGIN + start * CELL,
		MARGIN + rows * LINE + 16, used(piece) * CELL, bold ? " font-weight=\"bold\"" : "",
		colour ? " fill=\"" colour "\"" : dim ? " fill=\"#8b949e\"" : "", escape(piece))
}

# columns of a text: its bytes, but for those that go on with a character
function used(text,   i, n)
{
	for (i = 1; i <= length(text); i++)
		n += byte[substr(text, i, 1)] < 128 || byte[substr(text, i, 1)] >= 192
	return n
}

function flush_run(half)
{
	if (run[half])
		body = body sprintf("<path d=\"M%d %gh%dv%gh-%dz\" fill=\"%s\"/>\n", MARGIN + from[half] * CELL,
			MARGIN + rows * LINE + half * LINE / 2, (column - from[half]) * CELL, LINE / 2,
			(column - from[half]) * CELL, run[half])
	run[half] = ""
}

# one half of a cell, joined with those of its colour on the left
function fill(half, with)
{
	if (with != run[half]) {
		flush_run(half)
		from[half] = column
		run[half] = with
	}
}

{
	sub(/\r+$/, "")
	column = start = 0
	for (i = 1; i <= length($0);) {
		rest = substr($0, i, 64)
		if (match(rest, /^\033\[[0-9;]*m/)) {
			n = RLENGTH
			flush_text()
			style(substr(rest, 3, n - 3))
			i += n
			continue
		}
		block = substr(rest, 1, 3)
		if (block == "\342\226\200" || block == "\342\226\204") {
			flush_text()
			fill(block == "\342\226\204", colour)
			fill(block == "\342\226\200", ground)
			i += 3
			start = ++column
			continue
		}
		flush_run(0)
		flush_run(1)
		if (substr(rest, 1, 1) == "\t") {
			do {
				text = text " "
				column++
			} while (column % TAB)
			i++
			continue
		}
		n = 1
		while (byte[substr($0, i + n, 1)] >= 128 && byte[substr($0, i + n, 1)] < 192)
			n++
		text = text substr($0, i, n)
		i += n
		column++
	}
	flush_text()
	flush_run(0)
	flush_run(1)
	rows++
}

END {
	width = columns * CELL + 2 * MARGIN
	height = rows * LINE + 2 * MARGIN
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" fill=\"#e6edf3\" " \
		"font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"16\">\n",
		width, height, width, height
	printf "<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#161b22\"/>\n<g shape-rendering=\"crispEdges\">\n%s</g>\n</svg>\n", body
}
