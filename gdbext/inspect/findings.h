/* What a search has found worth saying, one sentence each. */
#ifndef LBX_FINDINGS_H
#define LBX_FINDINGS_H

#include "inspect/command.h"

enum { LBX_FINDINGS_MAX = 200, LBX_FINDING_TEXT = 8192 };

struct lbx_finding {
	const char *kind;   /* a constant: "nan", "storage order", … */
	uint64_t tensor;    /* id; 0 without */
	uint64_t address;   /* 0 without */
	struct lbx_key key; /* of the tensor, of whatever set; `of` is NULL where who found it leaves that out */
	char text[LBX_FINDING_TEXT];
};

struct lbx_findings {
	int n, capacity;
	bool capped; /* there are more than LBX_FINDINGS_MAX */
	struct lbx_finding *list;
};

/* False when there is no room for more (then `capped` is set), or with an error. */
bool lbx_findings_add(struct lbx_findings *findings, const char *kind, uint64_t tensor, uint64_t address,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));
void lbx_findings_deinit(struct lbx_findings *findings);
/* `lead`, then the text, folded between words at the width; further lines are indented alike. */
void lbx_print_folded(struct lbx_out *out, const char *lead, const char *text);
/* One a paragraph, folded to the width; a list of objects under `key`. */
void lbx_findings_tell(struct lbx_out *out, const char *key, const struct lbx_findings *findings);
/* Likewise, of which text has the first `shown`, and how many follow; `how` names the command that shows those. */
void lbx_findings_tell_first(struct lbx_out *out, const char *key, const struct lbx_findings *findings, int shown,
			     const char *how);

#endif
