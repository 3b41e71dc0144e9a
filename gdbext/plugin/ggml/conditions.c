#include "plugin/ggml/conditions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ggml/record.h"
#include "plugin/stops/catch_forms.h"

static void name_condition(const struct lbx_catch *c, const char *node, const struct lbx_ggml_layout *layout,
			   struct text *ret)
{
	size_t n = c->is_glob ? strcspn(c->name, "*?[\\") : strlen(c->name) + 1; /* of a glob, what it begins with */
	char name[80];

	snprintf(name, sizeof name, "(%s + 0x%x)", node, layout->name);
	if (n > layout->name_max) {
		text_printf(ret, " && 0"); /* longer than any name */
	} else if (n) {
		text_printf(ret, " && ");
		lbx_bytes_condition(name, c->name, n, ret);
	}
}

/* Another view of what is there already gives no value. */
static void value_condition(const char *node, const struct lbx_ggml_anchor *anchor, struct text *ret)
{
	for (int i = 0; i < anchor->n_ops; i++)
		if (lbx_ggml_writes_nothing(anchor, i))
			text_printf(ret, " && {unsigned int}(%s + 0x%x) != 0x%x", node, LBX_GGML_OP, (unsigned)i);
}

void lbx_node_condition(const struct lbx_catch *c, const char *node, const struct lbx_ggml_callback *callback,
			const struct lbx_ggml_anchor *anchor, struct text *ret)
{
	if (c->record)
		text_printf(ret, " && %s == 0x%" PRIx64, node, c->record);
	if (c->op[0])
		for (int i = 0; i < anchor->n_ops; i++)
			if (strcmp(anchor->ops[i], c->op) == 0)
				text_printf(ret, " && {unsigned int}(%s + 0x%x) == 0x%x", node, LBX_GGML_OP,
					    (unsigned)i);
	if (c->name[0])
		name_condition(c, node, &callback->layout, ret);
	if (c->kind->looks)
		value_condition(node, anchor, ret);
}

void lbx_slot_condition(const struct lbx_catch *c, const struct lbx_ggml_callback *callback,
			const struct lbx_ggml_anchor *anchor, struct text *ret)
{
	const struct lbx_call_words *words = lbx_call_words(callback->machine);

	text_printf(ret, "(unsigned long)%s - 0x%" PRIx64 " < 0x%x && (unsigned char)%s %s 0", words->third,
		    lbx_ggml_mark(callback->code.start, 0), 2 * LBX_GGML_MARKS, words->second,
		    c->kind->node == LBX_BEFORE_NODE ? "!=" : "==");
	lbx_node_condition(c, words->first, callback, anchor, ret);
}
