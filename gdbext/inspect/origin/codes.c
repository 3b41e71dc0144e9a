#include "inspect/origin/codes.h"

#include "base/error.h"
#include "base/op.h"
#include "kernels/codes.h"
#include "lazybones.h"

static enum lbx_codes of_quantised(const struct lbx_tensor *t, uint32_t i)
{
	bool four_bits = t->params[1] == 4;

	if (t->params[0] == LB_QUANT_AFFINE)
		return LBX_NO_CODES;
	if (i == 0)
		return four_bits ? LBX_NO_CODES : LBX_E4M3;
	return i > 1 ? LBX_NO_CODES : t->params[0] == LB_QUANT_NVFP4 ? LBX_E4M3 : LBX_E8M0;
}

/* Whether the elements of input i become the tensor's as they are. */
static bool moves(const struct lbx_tensor *t, int op, uint32_t i)
{
	return op == LB_OP_CONTIGUOUS || op == LB_OP_CONCATENATE || op == LB_OP_PAD || op == LB_OP_SLICE_UPDATE ||
	       (i == 0 && (t->op_class == LB_CLASS_VIEW || t->op_class == LB_CLASS_GATHER));
}

enum lbx_codes lbx_codes_of_input(const struct lbx_tensor *t, enum lbx_codes codes, int op, uint32_t i)
{
	if (op == LB_OP_DEQUANTIZE)
		return of_quantised(t, i);
	if (op == LB_OP_QUANTIZED_MATMUL)
		return i ? of_quantised(t, i - 1) : LBX_NO_CODES;
	if (op == LB_OP_GATHER_QMM)
		return i >= 3 ? of_quantised(t, i - 3) : LBX_NO_CODES;
	return moves(t, op, i) ? codes : LBX_NO_CODES;
}

struct count {
	struct lbx_summary *summary;
	enum lbx_codes codes;
	int width;
};

static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct count *c = context;
	const uint8_t *byte = elements;
	int64_t *nan = &c->summary->special[LBX_NAN];

	for (int64_t i = 0; i < n; i++) {
		bool is_nan = false;
		for (int k = 0; k < c->width; k++, byte++)
			is_nan |= c->codes == LBX_E8M0 ? *byte == LB_E8M0_NAN : (*byte & 0x7f) == LB_E4M3_NAN;
		if (is_nan && (*nan)++ == 0)
			c->summary->first[LBX_NAN] = first + i;
	}
	return true;
}

static bool count(struct lbx_search *s, struct lbx_origin_link *link, const struct lbx_region *region,
		  enum lbx_codes codes, struct lbx_summary *ret)
{
	struct count c = { .summary = ret, .codes = codes, .width = lb_dtypes[link->tensor.dtype].bytes };

	ret->special[LBX_NAN] = 0;
	return lbx_walk_part(s, &link->tensor, region, add_piece, &c);
}

bool lbx_look_at_codes(struct lbx_search *s, struct lbx_origin_link *link)
{
	enum lbx_codes codes = (enum lbx_codes)link->codes;
	struct lbx_region all;

	if (!codes || !link->known || !link->part_known ||
	    (link->tensor.dtype != LB_U8 && link->tensor.dtype != LB_U32))
		return true;
	lbx_region_all(link->tensor.rank, lbx_shape(&link->tensor), &all);
	link->part_known =
	    count(s, link, &all, codes, &link->summary) && count(s, link, &link->region, codes, &link->part);
	if (link->part_known)
		return true;
	return lbx_look_failed(link);
}
