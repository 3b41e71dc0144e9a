/* What the rules have found, and which of them could not be checked. */
#ifndef LBX_DIAGNOSIS_H
#define LBX_DIAGNOSIS_H

#include "inspect/measure/nonfinite.h"
#include "inspect/out.h"
#include "inspect/say.h"
#include "target/target.h"
#include "tensors/tensors.h"

struct lbx_rule;    /* diagnose/rule.h */
struct lbx_looks;   /* diagnose/looks.h */
struct lbx_context; /* inspect/context.h */

enum lbx_severity { LBX_LOW, LBX_MEDIUM, LBX_HIGH };

enum { LBX_DIAGNOSED_MOST = 8, /* of one rule */ LBX_DIAGNOSED_TENSORS = 8 };

struct lbx_diagnosed {
	const struct lbx_rule *rule;
	enum lbx_severity severity;
	double confidence; /* from 0 to 1: how sure it is that this is wrong, and not meant so */
	char title[320];   /* what is wrong, of this program: a line */
	char evidence[1536];
	char cost[320];    /* "" where it is not known */
	char advice[768];
	uint64_t pc;       /* the call that it is about; 0: none, or not known */
	struct lbx_source_line line; /* of that: by lbx_diagnose(); without function and file where it is not known */
	int n_tensors;
	struct lbx_key tensors[LBX_DIAGNOSED_TENSORS];
};

struct lbx_unchecked {
	const struct lbx_rule *rule;
	const char *why;
};

struct lbx_diagnosis {
	size_t n, room;
	struct lbx_diagnosed *list; /* the worst first */
	size_t n_checked, checked_room, n_unchecked, unchecked_room;
	const struct lbx_rule **checked;
	struct lbx_unchecked *unchecked;
	char no_tensors[512]; /* why rules of tensors were not checked; "": they were */
	uint64_t left_out; /* findings of rules that had said enough */
	struct lbx_findings bad; /* all NaN and Inf, where values were looked at */
	struct lbx_nonfinite nonfinite;
};

void lbx_diagnosed_tensor(struct lbx_diagnosed *d, const struct lbx_key *key);

/* What is to be checked. */
struct lbx_diagnose {
	const char *only;    /* rules: "L1,L2b,nonfinite"; NULL: all */
	const char *
	    tensors; /* a glob of names, or "#12"; NULL: all. Events are of the whole program: then none are looked at */
	double seconds; /* that looking at values may take; 0: they are not looked at */
	const char *no_values; /* why they are not, where that is not what somebody asked for; or NULL */
	struct lbx_looks *looks; /* those before this one; NULL: there are none, nor will others be compared with it */
	bool without_tensors; /* a program that has none is checked, too */
};
/* Fails where the program has no tensors, and nothing else that is to be checked, or `only` means no rule; a debugger that must answer first is asked all at
 * once. */
bool lbx_diagnose(struct lbx_context *context, const struct lbx_diagnose *what, struct lbx_diagnosis *ret);
void lbx_diagnosis_deinit(struct lbx_diagnosis *diagnosis); /* all 0 is fine */

/* Adds what an earlier look has found, and `later` does not: to be told, not to be looked at any more. What compares looks
 * is left out, since the later one knows better, but for that at the program's end, when it has let go of its tensors. */
bool lbx_diagnosis_add(struct lbx_diagnosis *later, const struct lbx_diagnosis *earlier, bool is_end);

/* The same finding of another look: of that rule, about the same call, or else in the same words but for numbers. NULL:
 * it has none. */
const struct lbx_diagnosed *lbx_diagnosis_same(const struct lbx_diagnosis *diagnosis, const struct lbx_diagnosed *as);

const char *lbx_severity_name(enum lbx_severity severity);
/* The worst of them; LBX_LOW where there is none. */
enum lbx_severity lbx_diagnosis_worst(const struct lbx_diagnosis *diagnosis);
/* "3 findings by 33 rules" */
void lbx_describe_diagnosis(const struct lbx_diagnosis *diagnosis, char *ret, size_t size);
/* "not checked: L2a, L2c (the program records no events)"; "" where all was. */
void lbx_describe_unchecked(const struct lbx_diagnosis *diagnosis, char *ret, size_t size);
/* As text and JSON: the object that is open gets `findings`, `checked` and `not_checked`. `all`: those of low severity are
 * told in full, too. */
void lbx_diagnosis_tell(struct lbx_context *context, const struct lbx_diagnosis *diagnosis, bool all);
/* Likewise after an earlier look: in full what that had not found, or as less severe; a line of what it had, and as
 * `gone` what it alone had. */
void lbx_diagnosis_tell_since(struct lbx_context *context, const struct lbx_diagnosis *diagnosis,
			      const struct lbx_diagnosis *earlier, bool all);

#endif
