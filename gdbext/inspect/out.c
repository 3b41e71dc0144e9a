#include "inspect/out.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lazybones.h"
#include "target/columns.h"
#include "target/printable.h"

enum { COMMAND_MOST = 40 }; /* bytes that stay together */

/* Columns of a word: colours take none. */
static int word_width(const char *word, size_t n)
{
	const char *end = word + n, *escape;
	int width = 0;

	while ((escape = memchr(word, '\033', (size_t)(end - word)))) {
		const char *last = memchr(escape, 'm', (size_t)(end - escape));
		width += lbx_columns_of(word, (size_t)(escape - word));
		word = last ? last + 1 : end;
	}
	return width + lbx_columns_of(word, (size_t)(end - word));
}

static void write_blanks(struct lbx_out *out, int n)
{
	static const char blanks[] = "                                ";

	for (; n > 0; n -= (int)sizeof blanks - 1)
		out->write(out, blanks, n < (int)sizeof blanks - 1 ? (size_t)n : sizeof blanks - 1);
}

static void end_word(struct lbx_out *out)
{
	struct lbx_wrap *w = &out->wrap;
	int width = word_width(w->word, w->n);

	if (out->width > 0 && !out->whole_lines && w->column + w->blanks + width > out->width && w->column > w->hang &&
	    width) {
		out->write(out, "\n", 1);
		write_blanks(out, w->hang);
		w->column = w->hang;
	} else {
		write_blanks(out, w->blanks);
		w->column += w->blanks;
	}
	if (w->n)
		out->write(out, w->word, w->n);
	w->column += width;
	w->blanks = 0;
	w->n = 0;
}

/* "(3, 4)" and "[0, -1]" are one word: at a blank, whether the list goes on if a number follows. */
static bool is_in_list(const struct lbx_wrap *w)
{
	if (w->n < 3 || w->n + 2 > sizeof w->word || w->word[w->n - 1] != ',' ||
	    !isdigit((unsigned char)w->word[w->n - 2]))
		return false;
	for (size_t i = w->n; i-- > 0;)
		if (strchr("()[]", w->word[i]))
			return w->word[i] == '(' || w->word[i] == '[';
	return false;
}

/* Likewise a command: "`tensor peek #7`". */
static bool is_in_command(const struct lbx_wrap *w)
{
	bool is_in = false;

	for (size_t i = 0; i < w->n; i++)
		is_in ^= w->word[i] == '`';
	return is_in && w->n < COMMAND_MOST;
}

/* What was put off at a blank: the next character tells. */
static void go_on(struct lbx_out *out, char next)
{
	struct lbx_wrap *w = &out->wrap;

	w->in_list = false;
	if (isdigit((unsigned char)next) || next == '-') {
		w->word[w->n++] = ' ';
	} else {
		end_word(out);
		w->blanks = 1;
	}
}

static void emit(struct lbx_out *out, const char *text, size_t n)
{
	struct lbx_wrap *w = &out->wrap;

	for (; n > 0 && w->is_on; text++, n--) {
		if (w->in_list)
			go_on(out, *text);
		if (*text == ' ' && (w->in_list = is_in_list(w)))
			continue;
		if (*text == ' ' && is_in_command(w)) {
			w->word[w->n++] = ' ';
			continue;
		}
		if (*text == ' ' || *text == '\n' || w->n == sizeof w->word) {
			if (w->n)
				end_word(out);
			w->blanks += *text == ' ';
		}
		if (*text == '\n') /* and blanks before it are nothing */
			w->is_on = false, w->blanks = 0, out->write(out, "\n", 1);
		else if (*text != ' ')
			w->word[w->n++] = *text == *LBX_STAY ? ' ' : *text;
	}
	if (n > 0)
		out->write(out, text, n);
}

void lbx_wrap(struct lbx_out *out, int column, int hang)
{
	int most = out->width > 4 ? out->width / 2 : 2;

	if (!out->wrap.is_on && !out->json)
		out->wrap = (struct lbx_wrap){ .is_on = true, .column = column, .hang = hang < most ? hang : most };
}

/* As much of a text's end as fits. */
static const char *end_of(const char *text, int room)
{
	while (*text && lbx_columns(text) > room)
		do
			text++;
		while ((*text & 0xc0) == 0x80); /* within a character of UTF-8 */
	return text;
}

static void print_shortened(struct lbx_out *out, enum lbx_style style, const char *text, int room)
{
	int used;
	size_t bytes = lbx_columns_fit(text, room, &used);

	if (!text[bytes] || out->whole_lines) {
		lbx_styled(out, style, "%s", text);
		return;
	}
	const char *end = style == LBX_NAME ? end_of(text, (room - 1) / 2) : "";
	bytes = lbx_columns_fit(text, room - 1 - lbx_columns(end), &used);
	lbx_styled(out, style, "%.*s…%s", (int)bytes, text, end);
	used += lbx_columns(end);
	lbx_printf(out, "%*s", room - 1 - used, ""); /* where a wide character would not fit */
}

void lbx_cell(struct lbx_out *out, enum lbx_style style, int width, const char *text)
{
	int room = width < 0 ? -width : width, columns = lbx_columns(text),
	    blanks = columns < room ? room - columns : 0;

	lbx_printf(out, "%*s", width < 0 ? blanks : 0, "");
	print_shortened(out, style, text, room);
	lbx_printf(out, "%*s", width < 0 ? 0 : blanks, "");
}

void lbx_titles(struct lbx_out *out, int width, const char *name, const char *rest)
{
	lbx_printf(out, "  ");
	lbx_cell(out, LBX_TITLE, width, name);
	lbx_styled(out, LBX_TITLE, "%s", rest);
	lbx_printf(out, "\n");
}

void lbx_field(struct lbx_out *out, const char *name, int width)
{
	lbx_styled(out, LBX_DIM, "  %-*s", width - 3, name);
	lbx_printf(out, " ");
	lbx_wrap(out, width, width);
}

/* The mark of a blank that stays is ours while a line is wrapped. */
static void emit_printable(struct lbx_out *out, const char *text, size_t n)
{
	size_t from = 0;

	for (size_t i = 0; i < n;) {
		bool ours = text[i] == '\n' || text[i] == '\t' || (out->wrap.is_on && text[i] == *LBX_STAY);
		int bytes = ours ? 1 : lbx_printable(text + i);
		if (bytes == 0) {
			emit(out, text + from, i - from);
			emit(out, "?", 1);
			from = i + 1;
		}
		i += bytes ? (size_t)bytes : 1;
	}
	emit(out, text + from, n - from);
}

typedef void write_fn(struct lbx_out *out, const char *text, size_t n);

static void vwrite(struct lbx_out *out, write_fn *write, const char *format, va_list args)
{
	char text[1024], *whole = text;
	va_list again;

	va_copy(again, args);
	int n = vsnprintf(text, sizeof text, format, args);
	if (n >= (int)sizeof text) {
		whole = malloc((size_t)n + 1);
		if (whole) {
			vsnprintf(whole, (size_t)n + 1, format, again);
		} else {
			whole = text;
			n = sizeof text - 1;
		}
	}
	va_end(again);
	if (n > 0)
		write(out, whole, (size_t)n);
	if (whole != text)
		free(whole);
}

static void vprint(struct lbx_out *out, write_fn *write, const char *format, va_list args)
{
	if (!out->json)
		vwrite(out, write, format, args);
}

void lbx_write(struct lbx_out *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vwrite(out, out->write, format, args);
	va_end(args);
}

void lbx_printf(struct lbx_out *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vprint(out, emit_printable, format, args);
	va_end(args);
}

void lbx_escape_terminal(struct lbx_out *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vprint(out, emit, format, args);
	va_end(args);
}

void lbx_styled(struct lbx_out *out, enum lbx_style style, const char *format, ...)
{
	/* as gdb's own styles: function, address and file names, titles */
	static const char *const start[] = {
		[LBX_PLAIN] = "",        [LBX_NAME] = "\033[33m", [LBX_ADDRESS] = "\033[34m",
		[LBX_FILE] = "\033[32m", [LBX_TITLE] = "\033[1m", [LBX_WARNING] = "\033[31m",
		[LBX_DIM] = "\033[2m",
	};
	bool coloured = out->colour && style != LBX_PLAIN && !out->json;
	va_list args;

	if (coloured)
		emit(out, start[style], strlen(start[style]));
	va_start(args, format);
	vprint(out, emit_printable, format, args);
	va_end(args);
	if (coloured)
		emit(out, "\033[m", 3);
}

int lbx_terminal_colours(void)
{
	const char *colorterm = getenv("COLORTERM"), *term = getenv("TERM");

	if (colorterm && (strcmp(colorterm, "truecolor") == 0 || strcmp(colorterm, "24bit") == 0))
		return 1 << 24;
	return term && strstr(term, "256color") ? 256 : 0;
}

bool lbx_progress(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	return !out->progress || out->progress(out, what, done, total) ||
	       lb_fail_because(LB_INTERRUPTED, "interrupted");
}
