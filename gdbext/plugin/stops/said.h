/* What breakpoints of a guest's say when they are hit: whose they are, a word for which of them, and what it has to say. */
#ifndef LBX_PLUGIN_SAID_H
#define LBX_PLUGIN_SAID_H

#include "inspect/command.h"

/* One ended by NULL for a word is the last of a list. */
struct lbx_said {
	const char *word;
	bool (*hear)(struct lbx_context *context, const char *words);
	bool stops; /* perhaps, which it decides itself; else the program goes on */
};

/* Hands `words` to the row of their second word. False while an answer is awaited, or with an error, which names the guest. */
bool lbx_said_hear(struct lbx_context *context, const struct lbx_said *rows, const char *guest, const char *words);

#endif
