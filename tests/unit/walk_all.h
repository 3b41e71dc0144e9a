/* A walk over all tensors of a set. */
#ifndef TESTS_WALK_ALL_H
#define TESTS_WALK_ALL_H

#include "base/error.h"
#include "tensors/tensors.h"

/* How many there are; whatever is said of one must be so. */
static inline int walk_all(struct lbx_tensors *set, uint64_t *ret_bad)
{
	uint64_t slot = 0, begin, end;
	struct lbx_tensor t, other;
	int n = 0;

	*ret_bad = 0;
	while (lbx_tensors_next(set, &slot, &t, ret_bad) == LBX_NEXT_TENSOR) {
		n++;
		assert_in_range(t.rank, 0, LBX_RANK_MAX);
		for (int i = 0; i < t.rank; i++)
			assert_true(lbx_shape(&t)[i] >= 0);
		if (t.state == LBX_READY && lbx_tensor_range(&t, &begin, &end))
			assert_true(begin >= t.data && end > begin && end - t.data <= (uint64_t)t.buffer_bytes);
		assert_true(lbx_tensors_by_address(set, t.address, &other) && other.id == t.id);
		assert_true(lb_ok());
	}
	assert_int_equal(lbx_tensors_damage(set, &begin, &end), *ret_bad > 0);
	return n;
}

#endif
