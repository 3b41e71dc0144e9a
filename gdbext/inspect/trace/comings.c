/* A tensor is known by where it is and where its elements are: what is made anew at the same place, with the same memory and the
 * same number of elements, is not told from what was there. */
#include "inspect/trace/comings.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/vector.h"

enum { OFTEN = 1 << 13 };

static uint64_t key_of(const struct lbx_tensor *t)
{
	uint64_t key = lb_mix(t->address ? t->address : t->id);

	return lb_mix(lb_mix(key + t->data) + (uint64_t)t->size + (uintptr_t)t->of->provider);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* How many of n keys are not among the others. */
static int64_t count_others(const uint64_t *keys, size_t n, const uint64_t *others, size_t n_others)
{
	int64_t count = 0;

	for (size_t i = 0, k = 0; i < n; i++) {
		while (k < n_others && others[k] < keys[i])
			k++;
		if (k < n_others && others[k] == keys[i])
			k++;
		else
			count++;
	}
	return count;
}

bool lbx_comings_look(struct lbx_context *context, struct lbx_comings *comings)
{
	struct lbx_comings now = { .is_compared = comings->keys != NULL };
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0;
	enum lbx_next next = LBX_NEXT_ERROR;

	bool ok = lbx_context_tensors(context, &tensors) && lb_reserve(now.keys, now.room, 1);
	while (ok && (next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		ok = lb_reserve(now.keys, now.room, now.n + 1) || lb_fail("out of memory for %zu tensors", now.n);
		if (ok)
			now.keys[now.n++] = key_of(&t);
		ok = ok && (now.n % OFTEN || lbx_progress(context->out, "looking at tensors", (int64_t)now.n, 0));
	}
	if (!ok || next != LBX_NEXT_END) {
		free(now.keys);
		return lb_ok() && lb_fail("out of memory");
	}
	qsort(now.keys, now.n, sizeof *now.keys, compare);
	now.born = count_others(now.keys, now.n, comings->keys, comings->n);
	now.gone = count_others(comings->keys, comings->n, now.keys, now.n);
	free(comings->keys);
	*comings = now;
	return true;
}

void lbx_comings_deinit(struct lbx_comings *comings)
{
	free(comings->keys);
	*comings = (struct lbx_comings){ .n = 0 };
}
