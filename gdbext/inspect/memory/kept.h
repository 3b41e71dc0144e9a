/* Texts that are kept once each, however often they come up. */
#ifndef LBX_KEPT_H
#define LBX_KEPT_H

#include <stdbool.h>
#include <stddef.h>

struct lbx_kept_texts {
	size_t n, n_slots;
	char **slots;
};

/* The text that is kept; valid until all are freed. NULL, with an error, without memory. */
const char *lbx_keep_text(struct lbx_kept_texts *texts, const char *text);
void lbx_kept_texts_free(struct lbx_kept_texts *texts); /* all 0 is fine */

#endif
