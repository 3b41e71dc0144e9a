/* How gdb calls what a function has when it begins. */
#ifndef LBX_PLUGIN_CALL_WORDS_H
#define LBX_PLUGIN_CALL_WORDS_H

struct lbx_call_words {
	const char *first, *second, *third; /* arguments */
	const char *stack; /* its top */
	const char *back; /* where it returns to */
	unsigned pushed; /* bytes that lie on the stack then, and do not any more when it has returned */
	const char *result; /* when it has returned */
};

/* On a machine, as ELF files name it (EM_X86_64, …). */
const struct lbx_call_words *lbx_call_words(unsigned machine);

#endif
