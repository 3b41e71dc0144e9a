#include "inspect/diagnose/promotions.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

static struct lbx_promotion *row_of(struct lbx_promotions *p, const struct lbx_promotion *like)
{
	for (int i = 0; i < p->n; i++)
		if (p->list[i].site == like->site && p->list[i].narrow == like->narrow && p->list[i].wide == like->wide)
			return &p->list[i];
	if (p->n == LBX_PROMOTIONS_MOST)
		return NULL;
	p->list[p->n] = *like;
	return &p->list[p->n++];
}

void lbx_promotions_take(struct lbx_case *c, struct lbx_promotions *p, const struct lbx_tensor *t, lbx_widens *widens)
{
	int narrow, wide;

	if (t->torn || t->is_shapeless)
		return;
	const struct lbx_operands *o = lbx_case_operands(c, t);
	if (!o->n || !widens(t, o->list, o->n, &narrow, &wide))
		return;
	struct lbx_promotion *row = row_of(p, &(struct lbx_promotion){
						  .site = t->site,
						  .is_certain = o->is_certain,
						  .narrow = o->list[narrow].dtype,
						  .wide = o->list[wide].dtype,
						  .result = t->dtype,
						  .made = lbx_tensor_key(t),
						  .narrower = o->list[narrow].key,
						  .wider = o->list[wide].key,
					      });
	if (!row)
		return;
	row->times++;
	row->bytes += lbx_tensor_nbytes(t);
	row->is_certain &= o->is_certain;
}

static void name_of(const struct lbx_key *key, char *ret, size_t size)
{
	struct lbx_tensor t;

	if (lbx_tensor_by_key(key, &t))
		lbx_describe(&t, ret, size);
	else
		snprintf(ret, size, "#%" PRIu64 ", which is gone", key->id);
	lb_clear_error();
}

static bool tell(struct lbx_case *c, const struct lbx_promotion *row, const char *cost, const char *advice)
{
	char text[LBX_DESCRIPTION_MAX], bytes[32];
	struct lbx_tensor t;
	struct lbx_diagnosed *f =
	    lbx_case_found_of(c, row->is_certain ? LBX_MEDIUM : LBX_LOW, row->is_certain ? 0.85 : 0.5, &row->made, &t);

	if (!f)
		return lb_ok();
	lbx_diagnosed_tensor(f, &row->wider);
	LBX_SAY(f->title, "%s of %s and %s gives %s", t.op, lbx_dtype_name(row->narrow), lbx_dtype_name(row->wide),
		lbx_dtype_name(row->result));
	name_of(&row->made, text, sizeof text);
	LBX_SAY(f->evidence, "%s is %s", text, lbx_dtype_name(row->result));
	name_of(&row->wider, text, sizeof text);
	LBX_SAY(f->evidence, " because of its operand %s", text);
	name_of(&row->narrower, text, sizeof text);
	LBX_SAY(f->evidence, "; the other is %s. %" PRIu64 " such result%s here.%s", text, row->times,
		LB_PLURAL(row->times, " is", "s are"),
		row->is_certain ? "" : " Whether the program has asked for that is not known.");
	lbx_format_bytes(row->bytes, bytes, sizeof bytes);
	LBX_SAY(f->cost, "%s in %s: %s", bytes, lbx_dtype_name(row->result), cost);
	LBX_SAY(f->advice, "%s", advice);
	return lb_ok();
}

bool lbx_promotions_tell(struct lbx_case *c, const struct lbx_promotions *p, const char *cost, const char *advice)
{
	for (int i = 0; i < p->n; i++)
		if (!tell(c, &p->list[i], cost, advice))
			return false;
	return lb_ok();
}
