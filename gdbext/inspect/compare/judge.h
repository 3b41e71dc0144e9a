/* A parameter of a program beside an array of a checkpoint: whether they are equal, and how they differ. */
#ifndef LBX_JUDGE_H
#define LBX_JUDGE_H

#include "inspect/compare/checkpoint.h"
#include "inspect/compare/explain.h"
#include "inspect/memory/parameters.h"

enum lbx_judgement {
	LBX_EQUAL,
	LBX_ROUNDED,   /* equal once one of the two is rounded to the other's dtype */
	LBX_DIFFERENT,
	LBX_RESHAPED,  /* of another shape */
	LBX_UNJUDGED,  /* elements of one cannot be read */
	LBX_JUDGEMENTS
};

struct lbx_judged {
	enum lbx_judgement judgement;
	size_t parameter, saved; /* which of the program's, and of the checkpoint's list */
	int64_t count, different, nan_in_one, worst /* row-major index; -1: none */;
	double max; /* of the absolute errors */
	const char *dtypes[2]; /* ours, theirs */
	int ranks[2];
	int64_t shapes[2][LBX_ARRAY_RANK];
	char note[LBX_EXPLANATION_TEXT]; /* an explanation, or why it is not judged; or "" */
};

/* `seconds`: for an explanation; 0: none is looked for. False only where the user interrupts, or without memory. */
bool lbx_judge(struct lbx_context *context, const struct lbx_parameter *parameter,
	       const struct lbx_checkpoint *checkpoint, const struct lbx_saved *saved, double seconds,
	       struct lbx_judged *ret);
/* An array of a checkpoint that is tried on parameters, one after the other: it is opened once, when one may have its
 * values. The rest of it is 0 at first; to be closed. */
struct lbx_sought {
	const struct lbx_checkpoint *checkpoint;
	const struct lbx_saved *saved;
	bool is_open, is_unreadable;
	struct lbx_array_file file;
};
void lbx_sought_close(struct lbx_sought *sought);
/* Whether their values are the same, of one shape, and could not be so by chance: not all alike. Quick where they are
 * not. False, without an error, too where they cannot be read. */
bool lbx_is_same(struct lbx_context *context, const struct lbx_parameter *parameter, struct lbx_sought *sought);

#endif
