/* A large buffer of which a small view is all that anybody names. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/memory/holders.h"
#include "inspect/tensor/format.h"

enum { LOOKED_AT = LBX_HOLDERS_MAX, BYTES_MEDIUM = 16 << 20, BYTES_LEAST = 1 << 20 };

static bool tell(struct lbx_case *c, const struct lbx_holder *h)
{
	struct lbx_diagnosed *f = lbx_case_found(c, h->bytes >= BYTES_MEDIUM ? LBX_MEDIUM : LBX_LOW, 0.8);
	char all[32], named[32], who[1024];

	if (!f)
		return lb_ok();
	lbx_format_bytes(h->bytes, all, sizeof all);
	lbx_format_bytes(h->named ? h->named : h->covered, named, sizeof named);
	lbx_describe_holder(h, who, sizeof who);
	f->pc = h->site;
	LBX_SAY(f->title, "a view of %s keeps %s", named, all);
	LBX_SAY(f->evidence, "%s.", who);
	LBX_SAY(f->cost, "%s", all);
	LBX_SAY(f->advice, "Copy the part that is needed (lb_from_data(), .clone(), mx.array()), and let the rest go.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct lbx_holder holders[LOOKED_AT];
	int n;

	(void)state;
	if (!lbx_holders_find(c->context, LOOKED_AT, holders, &n))
		return false;
	for (int i = 0; i < n; i++)
		if (holders[i].bytes >= BYTES_LEAST && lbx_holder_is_pinned(&holders[i]) && !tell(c, &holders[i]))
			return false;
	return lb_ok();
}

const struct lbx_rule lbx_rule_pinned_storage = {
	.id = "L7b",
	.name = "pinned-storage",
	.title = "a small view that keeps a large buffer",
	.sees = LBX_SEES_TENSORS | LBX_SEES_HOLDERS,
	.meaning = "A slice shares its buffer with what it was cut from. As long as it lives, all of that stays.",
	.example = "big = torch.randn(1 << 28)\n"
		   "head = big[:16]\n"
		   "del big                        # 1 GiB stays",
	.demands = "Of a buffer among the 32 largest, of 1 MiB or more, a small part is all that has a name, or that\n"
		   "the program refers to; or, of 16 MiB or more, a hundredth is all that any tensor has, none of\n"
		   "which has a name, is in an open scope or an input of a lazy one. Above low from 16 MiB on.",
	.cure = "Copy the part (lb_from_data(), .clone(), mx.array(...)) before the large one goes.",
	.conclude = conclude,
};
