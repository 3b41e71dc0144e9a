/* What `browse` shows: one or two arrays, as one window sees them, and how. */
#ifndef LBX_VIEWER_H
#define LBX_VIEWER_H

#include "inspect/browse/window.h"
#include "inspect/operand/operand.h"
#include "inspect/tensor/number.h"

enum { LBX_PROMPT_MAX = 128, LBX_MESSAGE_MAX = 256 };

/* The part of an array that is seen, as it was read last. */
struct lbx_pane {
	const char *label;
	struct lbx_array plane;
	enum lb_dtype dtype; /* of `elements` */
	char *elements;      /* rows x columns that are seen, dense */
	struct lbx_number_format format;
	struct lbx_seen seen;
};

struct lbx_viewer {
	struct lbx_out out; /* first: its progress is ours */
	struct lbx_operand sides[2];
	int n; /* of them */
	char note[LBX_NOTE_MAX];
	struct lbx_window window;
	struct lbx_pane panes[3]; /* of the sides, and of their difference */
	bool shows_difference;    /* in place of the second */
	bool heat;
	int precision;
	int cell;   /* columns of a number: only more, until others are seen */
	int labels; /* columns of the rows' numbers */
	int64_t rows, columns; /* that were read */
	int64_t different;     /* of these, in the two */
	double most;           /* by how much */
	char unread[LBX_MESSAGE_MAX]; /* why they could not be, or "" */
	struct lbx_view_of { /* what was read last */
		int64_t top, left, height, width;
		uint64_t changes;
		int precision, lines, columns;
		bool shows_difference, is_there;
	} of;
	char message[LBX_MESSAGE_MAX];
	const char *asks; /* what is typed now; or NULL */
	char typed[LBX_PROMPT_MAX];
	struct lbx_wanted condition;
	bool has_condition, helps;
};

/* Reads what is to be seen on a screen of this size, and draws it. */
void lbx_viewer_draw(struct lbx_viewer *viewer);
/* One line, at the screen's bottom. */
void lbx_viewer_say(const char *text);
void lbx_viewer_deinit(struct lbx_viewer *viewer);

#endif
