/* That one thread is within a node (spot.h) says that all have done with those before it, if they compute the same graph. */
#include "ggml/progress.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/layout.h"

enum { TOGETHER = 2, TO_COMPUTE = 0x10 };

/* Where all threads are that compute: an address; 0: they do not agree, or it is not known of one. */
static uint64_t agreed_slot(const struct lbx_ggml_spots *spots)
{
	uint64_t agreed = spots->n ? spots->list[0].slot : 0;

	for (int i = 1; i < spots->n; i++)
		if (spots->list[i].slot != agreed)
			return 0;
	return agreed;
}

/* Where in the whole the part begins that is being computed: of several, the one that begins last. */
static int64_t find_first(const struct lbx_ggml_spots *spots, uint64_t slot, const struct lbx_ggml_array *whole)
{
	uint64_t first = whole->at;

	for (int i = 0; i < spots->n_arrays; i++) {
		const struct lbx_ggml_array *a = &spots->arrays[i];
		if (slot >= a->at && slot - a->at < a->n * sizeof slot && a->at > first)
			first = a->at;
	}
	return (int64_t)((first - whole->at) / sizeof slot);
}

/* Newer builds mark the nodes that are to be computed; then the others of a graph are not. */
static bool uses_marks(const struct lbx_ggml_program *of, const struct lbx_ggml_array *a)
{
	uint32_t flags;

	for (uint64_t i = 0; i < a->n; i++)
		if (lbx_target_try_read(of->target, a->nodes[i] + LBX_GGML_FLAGS, &flags, sizeof flags) &&
		    flags & TO_COMPUTE)
			return true;
	return false;
}

static bool take_places(const struct lbx_ggml_program *of, const struct lbx_ggml_array *a,
			struct lbx_ggml_progress *ret)
{
	bool marks = uses_marks(of, a);
	uint32_t flags;

	for (size_t i = 0; i < of->contexts->n_tensors; i++)
		ret->at[i] = LBX_GGML_ELSEWHERE_IN;
	for (uint64_t i = 0; i < a->n; i++) {
		int64_t *at = &ret->at[of->id_at(of->context, a->nodes[i]) - 1];
		if (*at != LBX_GGML_ELSEWHERE_IN)
			return false;
		bool left =
		    marks && (!lbx_target_try_read(of->target, a->nodes[i] + LBX_GGML_FLAGS, &flags, sizeof flags) ||
			      !(flags & TO_COMPUTE));
		*at = left ? LBX_GGML_LEFT_OUT : (int64_t)i;
	}
	return true;
}

bool lbx_ggml_may_have_written(const struct lbx_ggml_progress *progress, int64_t at)
{
	return at >= 0 && (progress->is_between ? at < progress->place : at <= progress->place + TOGETHER);
}

static bool find_writers(const struct lbx_ggml_program *of, struct lbx_ggml_progress *ret)
{
	size_t n = of->n_extents;
	lb_auto_free struct lbx_ggml_extent *extents = calloc(n + 1, sizeof *extents);

	if (!extents)
		return lb_fail("out of memory for %zu tensors of ggml", n);
	for (size_t i = 0; i < of->contexts->n_tensors; i++)
		ret->writers[i] = ret->touched[i] = LBX_GGML_KEPT;
	for (size_t i = 0; i < n; i++) {
		extents[i] = of->extents[i];
		extents[i].writes &= lbx_ggml_may_have_written(ret, ret->at[extents[i].ordinal]);
	}
	if (!lbx_ggml_find_reuse(extents, n, ret->writers))
		return false;
	for (size_t i = 0; i < n; i++) {
		extents[i] = of->extents[i];
		extents[i].writes &= ret->at[extents[i].ordinal] >= 0;
		extents[i].since = -1; /* before any of them */
	}
	return lbx_ggml_find_reuse(extents, n, ret->touched);
}

bool lbx_ggml_progress_find(const struct lbx_ggml_program *program, const struct lbx_ggml_running *running,
			    struct lbx_ggml_spots *spots, struct lbx_ggml_progress *ret)
{
	size_t n = program->contexts->n_tensors + 1;
	struct lbx_ggml_array whole;

	*ret = (struct lbx_ggml_progress){ .at = NULL };
	const struct lbx_ggml_asked *asked = &running->asked;
	uint64_t slot = 0;
	if (running->doing == LBX_GGML_COMPUTES && (spots->n == 0 || !asked->node))
		slot = asked->node ? lbx_ggml_asked_slot(program, asked->node, spots) : agreed_slot(spots);
	if (!slot || !lbx_ggml_whole_graph(program, slot, &whole))
		return true;
	ret->place = (int64_t)((slot - whole.at) / sizeof slot);
	ret->first = asked->node ? 0 : find_first(spots, slot, &whole);
	ret->n = (int64_t)whole.n;
	ret->is_between = asked->node;
	ret->is_asked = asked->node && !asked->is_done;
	ret->place += ret->is_between && !ret->is_asked;
	ret->at = malloc(n * sizeof *ret->at);
	ret->writers = malloc(n * sizeof *ret->writers);
	ret->touched = malloc(n * sizeof *ret->touched);
	bool ok = (ret->at && ret->writers && ret->touched) || lb_fail("out of memory for %zu tensors of ggml", n);
	bool known = ok && take_places(program, &whole, ret);
	ok = ok && (!known || find_writers(program, ret));
	free(whole.nodes);
	if (!ok || !known)
		lbx_ggml_progress_free(ret);
	return ok;
}

void lbx_ggml_progress_free(struct lbx_ggml_progress *progress)
{
	free(progress->at);
	free(progress->writers);
	free(progress->touched);
	*progress = (struct lbx_ggml_progress){ .at = NULL };
}
