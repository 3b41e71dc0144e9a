/* What the first word of a command line may be: the one table that lines are read by, and that the usage and the manual
 * pages show. */
#ifndef LBX_FORMS_H
#define LBX_FORMS_H

#include "inspect/command.h"

struct lbx_form {
	const char *name, *arguments, *summary; /* as in a synopsis */
	const char *help; /* where no row of a command says it */
	const char *operand; /* the word that tells what is to be looked into; NULL: there are any number */
	const struct lbx_command *command; /* NULL: the next word names it */
	bool is_core, is_pair;
	bool is_either; /* a core, or a process by its number */
	bool is_alone; /* looks into no program */
	bool is_own; /* reads its words itself: one of lbx_verbs, or help */
	const char *lacks; /* what is said where nothing follows */
};

enum { LBX_FORMS = 17 };
extern const struct lbx_form lbx_forms[LBX_FORMS];

/* NULL: there is none. */
const struct lbx_form *lbx_form_find(const char *name);

#endif
