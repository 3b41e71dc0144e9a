/* What the breakpoints of this room are known by (stops/breakpoints.h). */
#ifndef LBX_PLUGIN_GGML_KEYS_H
#define LBX_PLUGIN_GGML_KEYS_H

#include "plugin/stops/breakpoints.h"

enum {
	/* by name, before it is known what the program has */
	LBX_KEY_SCHEDULER = LBX_BREAKPOINT_OTHERS, /* where a scheduler is made: the program is looked at there */
	LBX_KEY_BUILD, /* where a graph is built: a program without a scheduler does so first */
	LBX_KEY_COMPUTE, /* where a graph is computed, with a scheduler or without */
	/* at addresses of the process */
	LBX_KEY_OWN, /* at the end of what is in the slots */
	LBX_KEY_ENTRY = LBX_BREAKPOINT_OTHERS + 16, /* and so many: where a scheduler computes */
	LBX_KEY_ANSWER = LBX_BREAKPOINT_OTHERS + 32, /* where the program's own callback returns to */
	/* and the number of a catch */
	LBX_KEY_NODES = 1 << 20, /* at what is in the slots */
	LBX_KEY_FORWARD = 1 << 21, /* where a thread comes to a node */
	LBX_KEY_FUSED = 1 << 22, /* likewise, to two at once */
	LBX_KEY_END = 1 << 23, /* where a graph has been computed: the number times LBX_ENDS, and which end */
};
enum { LBX_ENDS = 4 };

/* What the breakpoints say whose they are. */
#define LBX_GGML "ggml"

#endif
