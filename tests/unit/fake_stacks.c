#include "fake_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fake_threads(struct lbx_stacks *stacks, uint64_t *tids, int max)
{
	(void)stacks;
	for (int i = 0; i < 2 && i < max; i++)
		tids[i] = 100 + (uint64_t)i;
	return 2;
}

static bool fake_death(struct lbx_stacks *stacks, struct lbx_death *ret)
{
	(void)stacks;
	*ret = (struct lbx_death){ .pid = 100,
				   .tid = 100,
				   .signal = 11,
				   .code = 1,
				   .has_address = true,
				   .address = IMAGE_DATA - 8,
				   .command = "program <&>\xff" };
	return true;
}

static bool fake_walk(struct lbx_stacks *stacks, uint64_t tid, int max, int tail, struct lbx_stack *ret)
{
	(void)stacks;
	(void)tail;
	*ret = (struct lbx_stack){ .n = max < 3 ? max : 3 };
	ret->frames = calloc((size_t)ret->n, sizeof *ret->frames);
	snprintf(ret->end, sizeof ret->end, "damaged");
	for (int i = 0; i < ret->n; i++)
		ret->frames[i] = (struct lbx_frame){ .pc = 0x1000 * tid + (uint64_t)i, .after_call = i > 0 };
	return true;
}

static bool fake_line(struct lbx_stacks *stacks, const struct lbx_frame *frame, struct lbx_source_line *ret)
{
	(void)stacks;
	snprintf(ret->function, sizeof ret->function, "f%d", (int)(frame->pc & 15));
	return frame->pc & 1;
}

static bool fake_pointers(struct lbx_stacks *stacks, const struct lbx_frame *frame, lbx_pointer_fn *fn, void *context,
			  struct lbx_variables_told *ret)
{
	if (ret)
		*ret = (struct lbx_variables_told){ .cut = 0 };
	const struct image *image = ((struct fake_stacks *)stacks)->image;
	struct lbx_pointer p = { .expression = "x->y[0]" };
	bool more = true;

	(void)frame;
	for (int i = 0; i < image->n_regions && more; i++) {
		const struct image_region *r = &image->regions[i];
		p.value = r->address;
		more = fn(context, &p);
		for (uint64_t at = 0; at + 8 <= r->size && at < 512 && more; at += 8) {
			memcpy(&p.value, r->bytes + at, 8);
			more = fn(context, &p);
		}
	}
	return true;
}

static void fake_destroy(struct lbx_stacks *stacks)
{
	(void)stacks;
}

static const struct lbx_stacks_ops fake_ops = {
	.threads = fake_threads,
	.death = fake_death,
	.walk = fake_walk,
	.line = fake_line,
	.pointers = fake_pointers,
	.destroy = fake_destroy,
};

struct fake_stacks fake_stacks(struct image *image)
{
	return (struct fake_stacks){ { &fake_ops }, image };
}
