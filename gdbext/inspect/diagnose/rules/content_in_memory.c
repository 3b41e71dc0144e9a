/* Weights of a file that was read into memory as a whole, where it could be mapped. */
#include <inttypes.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { BYTES_LEAST = 1 << 20, BYTES_MEDIUM = 8 << 20 };

struct content {
	uint64_t n;
	int64_t bytes;
	struct lbx_key first;
};

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct content *s = state;

	(void)c;
	if (t->torn || t->state != LBX_READY || !(t->buffer_flags & LB_BUFFER_CONTENT) || t->op_class != LB_CLASS_LEAF)
		return true;
	if (s->n++ == 0)
		s->first = lbx_tensor_key(t);
	s->bytes += lbx_tensor_nbytes(t);
	return true;
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct content *s = state;
	char text[LBX_DESCRIPTION_MAX], bytes[32];
	struct lbx_tensor t;

	if (s->bytes < BYTES_LEAST)
		return true;
	struct lbx_diagnosed *f =
	    lbx_case_found_of(c, s->bytes >= BYTES_MEDIUM ? LBX_MEDIUM : LBX_LOW, 0.7, &s->first, &t);
	if (!f)
		return lb_ok();
	lbx_describe(&t, text, sizeof text);
	lbx_format_bytes(s->bytes, bytes, sizeof bytes);
	LBX_SAY(f->title, "%s of a file's tensors lie in a copy of the file", bytes);
	LBX_SAY(f->evidence,
		"%" PRIu64 " tensor%s of bytes that the program had read before it opened them; the first is %s.", s->n,
		LB_PLURAL(s->n, " is", "s are"), text);
	LBX_SAY(f->cost, "%s, and the time to read them all before the first is used", bytes);
	LBX_SAY(f->advice,
		"lb_open(path) maps the file: a tensor is read when it is first used, and the system keeps one copy.");
	return lb_ok();
}

const struct lbx_rule lbx_rule_content_in_memory = {
	.id = "L8b",
	.name = "content-in-memory",
	.title = "a load that is not lazy",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "A file that is read as a whole and then opened from memory is held by the process itself, and all of it\n"
	    "was read before the first tensor was used.",
	.example = "void *bytes = read_whole(\"model.safetensors\", &n);\n"
		   "file = lb_open_bytes(bytes, n, \"model\");",
	.demands =
	    "Ready tensors whose memory is a file's content that the program had, not a mapped file: 1 MiB at least.\n"
	    "Above low from 8 MiB on.",
	.cure = "lb_open(path); lb_open_bytes() is for what comes over a network or out of an archive.",
	.state = sizeof(struct content),
	.tensor = see,
	.conclude = conclude,
};
