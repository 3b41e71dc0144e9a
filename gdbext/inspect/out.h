/* Where an inspection writes: text or JSON, of a known width, with or without colour.
 * The front end provides it and does with the bytes what it likes. What is printed by these functions is text:
 * where JSON is wanted it is left out, and answer.h says what stands there. */
#ifndef LBX_OUT_H
#define LBX_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lbx_style { LBX_PLAIN, LBX_NAME, LBX_ADDRESS, LBX_FILE, LBX_TITLE, LBX_WARNING, LBX_DIM };

struct lbx_tensor; /* tensors/tensor.h */

/* Words of a line that is broken where the terminal ends. */
struct lbx_wrap {
	bool is_on;        /* else lines are not broken */
	int hang;          /* columns before what goes on in the next line */
	int column, blanks; /* where the last word ended, and the blanks since */
	bool in_list;       /* the word goes on after a blank, if a number follows */
	size_t n;
	char word[512];
};

/* An object or a list of JSON that has begun (inspect/answer.h). */
enum { LBX_OPEN_MAX = 96 }; /* within each other: as many axes as there are, and some */
struct lbx_open {
	struct json_t *value; /* what it has so far; NULL once it is being written */
	const char *key;
	bool is_list, is_written, has_members;
	bool has_lines; /* its last member was a long list of objects: what follows stands in a line of its own */
};

struct lbx_out {
	bool json; /* what is printed is left out: see inspect/answer.h */
	bool colour;
	int colours; /* for pictures: 0, 256, or 1 << 24 */
	bool pixels; /* the terminal may be asked to draw some (inspect/draw/pixels.h) */
	int width; /* columns */
	bool whole_lines; /* neither broken nor cut: a program reads them, or the user wants it so */
	struct lbx_wrap wrap; /* lbx_wrap()'s own */
	void *context;
	void (*write)(struct lbx_out *out, const char *text, size_t n);
	/* Likewise, what must arrive in one piece: no pager may break it. NULL: write() does it. */
	void (*write_whole)(struct lbx_out *out, const char *text, size_t n);
	/* Variables for scripts (inspect/convenience.h), where the front end has such; or NULL. */
	void (*set_int)(struct lbx_out *out, const char *name, int64_t value);
	void (*set_double)(struct lbx_out *out, const char *name, double value);
	void (*set_tensor)(struct lbx_out *out, const struct lbx_tensor *t);
	/* What is open of the document (inspect/answer.h) */
	struct lbx_open open[LBX_OPEN_MAX];
	int depth, too_deep;
	struct json_t *chosen; /* which of several tensors was meant (inspect/operand/by_name.h); or NULL */
	bool is_short; /* of memory */
	/* Called now and then by long work; false: the user wants it to stop. Or NULL. */
	bool (*progress)(struct lbx_out *out, const char *what, int64_t done, int64_t total);
	/* Whether a person is at a terminal of which all may be taken for a while, the keys too (inspect/browse/screen.h); fails,
	 * saying why not. NULL: nobody is. */
	bool (*takes_terminal)(struct lbx_out *out);
};

void lbx_printf(struct lbx_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A sequence that is meant for the terminal: all else that is printed is made printable, but for its
 * newlines and tabs (target/printable.h). */
void lbx_escape_terminal(struct lbx_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lbx_styled(struct lbx_out *out, enum lbx_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* From here, at `column`, to the end of the line: words that do not fit go to another line,
 * after `hang` blanks; but not where lines stay whole. The text must come to that end. */
void lbx_wrap(struct lbx_out *out, int column, int hang);
#define LBX_STAY "\037" /* while it is wrapped: a blank at which it is not */
/* Text in a column of a table: `width` columns, of which blanks follow it, or stand before it when width
 * is negative. What is longer is shortened, with "…" (at least 1 column), unless lines stay whole: at its end,
 * names (LBX_NAME) in the middle, since their ends tell them apart. */
void lbx_cell(struct lbx_out *out, enum lbx_style style, int width, const char *text);
/* The titles of a table whose rows begin with a name in such a column, behind two blanks. */
void lbx_titles(struct lbx_out *out, int width, const char *name, const char *rest);
/* "  name        ", `width` columns in all, and what follows is wrapped behind them. */
void lbx_field(struct lbx_out *out, const char *name, int width);
/* How many colours the terminal says it has, by COLORTERM and TERM. */
int lbx_terminal_colours(void);
/* Bytes as they are, whatever is wanted. */
void lbx_write(struct lbx_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* False, with an error (LB_INTERRUPTED), when the user wants to stop. */
bool lbx_progress(struct lbx_out *out, const char *what, int64_t done, int64_t total);

#endif
