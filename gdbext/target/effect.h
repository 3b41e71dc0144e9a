/* What an expression would do besides having a value. A debugger that is asked for one evaluates it, perhaps several times: for its
 * type, its value, its sign. */
#ifndef LBX_EFFECT_H
#define LBX_EFFECT_H

#include <stdbool.h>

enum lbx_effect {
	LBX_NO_EFFECT,
	LBX_CHANGES, /* it assigns, or counts up or down */
	LBX_CALLS /* it calls a function of the program. Operators of classes are not seen */
};

/* Of an expression of C or its like; what reads like a call is one: a(1) is in Fortran, too. Functions of gdb's, $_strlen(x), and casts
 * are none. */
enum lbx_effect lbx_effect_of(const char *expression);
/* Fails: it changes something. */
bool lbx_fail_change(const char *expression);
/* The quote that closes the one here; the text's last byte, where none does. */
const char *lbx_past_quoted(const char *at);

#endif
