/* A named value over the evaluations of a program that runs on, as its log has it (runtime/eval/journal.h): the newest ones as
 * a chart in one line, or each in a line of its own. */
#ifndef LBX_FOLLOWER_H
#define LBX_FOLLOWER_H

#include "inspect/command.h"
#include "symtab.h"

enum { LBX_FOLLOWED_MOST = 1000, LBX_FOLLOWED = 50 };

#define LBX_FOLLOW_OPTIONS \
	{ "last", "N", "how many values the chart has at most (default 50)" }, \
	    { "stat", "FIGURE", "min, max, mean (the default), std or l2" }

struct lbx_follower {
	char names[LB_LOG_BYTES]; /* as the log takes them: several, or patterns, with commas between */
	const char *stat; /* a name of lbx_logged_figures */
	int64_t last;
	double values[LBX_FOLLOWED_MOST]; /* the newest ones, in order */
	int n;
	uint64_t count; /* of all */
	char line[1 << 13]; /* what has come of one that has not ended */
	size_t used;
	bool is_long; /* it does not fit, and is passed over */
};

/* By the name and options of the command's words. */
bool lbx_follower_begin(const struct lbx_args *args, struct lbx_follower *ret);
/* Whether it is one name, which one chart may show. */
bool lbx_follower_is_one(const struct lbx_follower *f);
/* What the log has got. What is no line of it, as what the program itself writes there, is passed over. Each value is told in a
 * line, unless `out` is NULL. */
void lbx_follower_take(struct lbx_follower *f, const char *bytes, size_t n, struct lbx_out *out);
/* The chart, without a newline. There must be a value. */
void lbx_follower_draw(const struct lbx_follower *f, struct lbx_out *out);

#endif
