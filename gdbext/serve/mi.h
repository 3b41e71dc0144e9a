/* Lines of gdb's machine interface, as data. The syntax is that of gdb's manual, "GDB/MI Output Syntax"; what differs
 * from it in gdb 13 to 18 is taken, too: a list of pairs keeps the values, and a tuple of values is a list. */
#ifndef LBX_MI_H
#define LBX_MI_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct lbx_mi_line {
	enum lbx_mi_kind {
		LBX_MI_OTHER,   /* no line of the interface: a warning of a library in gdb, say */
		LBX_MI_PROMPT,  /* (gdb) */
		LBX_MI_RESULT,  /* ^done, ^error: of the command with this token */
		LBX_MI_EXEC,    /* *running, *stopped */
		LBX_MI_NOTICE,  /* =breakpoint-created, +download */
		LBX_MI_CONSOLE, /* ~"what a person reads" */
		LBX_MI_TARGET,  /* @"of a remote stub" */
		LBX_MI_LOG,     /* &"gdb's own complaints" */
	} kind;
	long token;      /* -1: none */
	char class[64];  /* "stopped"; of results, execution and notices */
	json_t *results; /* an object, likewise; what cannot be read of a line is left out */
	char *text;      /* of streams, decoded */
	size_t n;        /* its bytes; there is a NUL behind them */
};

/* Takes a line without its newline. Fails only for want of memory. */
bool lbx_mi_parse(const char *line, size_t n, struct lbx_mi_line *ret);
void lbx_mi_release(struct lbx_mi_line *line);

/* A member, "" where it is none or no string. Valid as long as the object. */
const char *lbx_mi_string(const json_t *results, const char *name);

/* Bytes of a program as a string of JSON; those that are no UTF-8 become U+FFFD. NULL: no memory. */
json_t *lbx_mi_text(const char *text, size_t n);

#endif
