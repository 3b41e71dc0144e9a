#include "made.h"

#include "base/error.h"

struct lbx_tensors made_set;
int made_opened, made_closed;
static const struct made *now;
static struct lbx_provider providers[3];

static bool by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	if (id == 0 || id > now->n)
		return lb_fail("there is no made-up tensor #%llu", (unsigned long long)id);
	now->tensor(id, ret);
	ret->of = tensors;
	ret->id = id;
	return true;
}

static enum lbx_next next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	(void)bad;
	return *slot < now->n && by_id(tensors, ++*slot, ret) ? LBX_NEXT_TENSOR : LBX_NEXT_END;
}

static bool next_buffer(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_buffer *ret)
{
	if (*slot >= now->n_buffers)
		return false;
	now->buffer(++*slot, ret);
	ret->of = tensors;
	ret->id = *slot;
	return true;
}

static uint64_t input_id(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i)
{
	(void)tensors;
	return i < t->n_inputs ? now->input(t, i) : 0;
}

static bool input(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	return i < t->n_inputs ? by_id(tensors, now->input(t, i), ret) : lb_fail("no input %u", i);
}

static void facts(struct lbx_tensors *tensors, const struct lbx_tensor *t, lbx_fact_fn *fn, void *context)
{
	(void)tensors, (void)t;
	for (int i = 0; now->facts && now->facts[i][0]; i++)
		fn(context, now->facts[i][0], now->facts[i][1]);
}

static bool valid(struct lbx_tensors *tensors)
{
	(void)tensors;
	return now->valid;
}

static void close_made(struct lbx_tensors *tensors)
{
	(void)tensors;
	made_closed++;
}

static bool work(struct lbx_tensors *tensors, struct lbx_stacks *stacks, uint64_t *slot, struct lbx_work *ret)
{
	(void)stacks;
	if (!now->work((*slot)++, ret))
		return false;
	ret->of = tensors;
	return true;
}

static bool open_made(struct lbx_context *context, struct lbx_tensors **ret)
{
	static struct lbx_tensors_ops ops = {
		.next = next,
		.by_id = by_id,
		.next_buffer = next_buffer,
		.input = input,
		.input_id = input_id,
		.valid = valid,
		.facts = facts,
		.close = close_made,
	};

	ops.work = now->work ? work : NULL;
	made_set = (struct lbx_tensors){ .ops = &ops, .target = context->target, .provider = "made" };
	made_opened++;
	*ret = &made_set;
	return true;
}

struct lbx_provider made_provider(const struct made *made)
{
	now = made;
	return (struct lbx_provider){ .name = "made", .open = open_made };
}

void made_alone(struct session *s, const struct made *made)
{
	image_root(&s->image)->magic = 0;
	providers[0] = made_provider(made);
	providers[1] = (struct lbx_provider){ .name = NULL };
	s->context.providers = providers;
}

void made_beside(struct session *s, const struct made *made)
{
	providers[0] = lbx_providers[0];
	providers[1] = made_provider(made);
	providers[2] = (struct lbx_provider){ .name = NULL };
	s->context.providers = providers;
}
