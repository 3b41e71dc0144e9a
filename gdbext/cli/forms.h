/* What the first word of a command line may be: the one table that lines are read by, and that the usage and the manual
 * pages show. */
#ifndef LBX_FORMS_H
#define LBX_FORMS_H

#include "inspect/command.h"

struct lbx_verb; /* cli/verbs.h */

struct lbx_form {
	const char *name; /* NULL: that of its row */
	const char *arguments, *summary; /* as in a synopsis */
	const char *help; /* where no row of a command says it */
	const char *operand; /* the word that tells what is to be looked into; NULL: there are any number */
	const struct lbx_command *command; /* NULL: the next word names it */
	const struct lbx_verb *verb; /* reads its words itself; NULL: none does */
	bool is_core, is_pair;
	bool is_either; /* a core, or a process by its number */
	bool is_alone; /* looks into no program */
	bool is_help;
	const char *lacks; /* what is said where nothing follows */
};

enum { LBX_FORMS = 19 };
extern const struct lbx_form lbx_forms[LBX_FORMS];

const char *lbx_form_name(const struct lbx_form *form);
/* NULL: there is none. */
const struct lbx_form *lbx_form_find(const char *name);

#endif
