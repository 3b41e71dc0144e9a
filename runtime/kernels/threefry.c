/* Random bits by Threefry2x32 of 20 rounds (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11), with
 * the counters in two halves as JAX has them: word i of a key's goes with that half of them further on. */
#include "base/plural.h"
#include "kernels/layout.h"
#include "kernels/model.h"

enum { GRAIN = 1 << 12 };

struct pair {
	uint32_t a, b;
};

static inline uint32_t rotate(uint32_t x, int by)
{
	return x << by | x >> (32 - by);
}

static struct pair threefry(struct pair key, uint32_t a, uint32_t b)
{
	static const int turns[2][4] = { { 13, 15, 26, 6 }, { 17, 29, 16, 24 } };
	uint32_t keys[3] = { key.a, key.b, key.a ^ key.b ^ 0x1bd11bda };

	a += keys[0];
	b += keys[1];
	for (uint32_t i = 0; i < 5; i++) {
		for (int k = 0; k < 4; k++) {
			a += b;
			b = rotate(b, turns[i % 2][k]) ^ a;
		}
		a += keys[(i + 1) % 3];
		b += keys[(i + 2) % 3] + i + 1;
	}
	return (struct pair){ a, b };
}

struct job {
	struct lb_view keys; /* (…, 2) */
	char *to;
	int64_t bytes, words; /* of each key */
};

static uint32_t word_of(struct pair key, int64_t words, int64_t i)
{
	int64_t half = words / 2, odd = words % 2;

	if (i < half)
		return threefry(key, (uint32_t)i, (uint32_t)(i + half + odd)).a;
	if (odd && i == half)
		return threefry(key, (uint32_t)half, 0).a;
	return threefry(key, (uint32_t)(i - half - odd), (uint32_t)i).b;
}

static struct pair key_at(const struct job *job, int64_t number)
{
	const struct lb_view *keys = &job->keys;
	int64_t index[LB_MAX_RANK], last = keys->strides[keys->rank - 1];
	const uint32_t *data = keys->data;

	lb_index_of(keys->rank - 1, keys->shape, number, index);
	int64_t at = lb_offset_of(keys->rank - 1, index, keys->strides);
	return (struct pair){ data[at], data[at + last] };
}

static void words(void *arg, int64_t begin, int64_t end)
{
	const struct job *job = arg;

	for (int64_t i = begin; i < end; i++) {
		int64_t at = i % job->words * 4, n = job->bytes - at < 4 ? job->bytes - at : 4;
		uint32_t word = word_of(key_at(job, i / job->words), job->words, i % job->words);
		memcpy(job->to + i / job->words * job->bytes + at, &word, (size_t)n);
	}
}

bool lb_kernel_random_bits(struct lb_exec *exec, const struct lb_view *keys, int64_t bytes, void *to)
{
	if (keys->rank < 1 || keys->shape[keys->rank - 1] != 2 || keys->dtype != LB_U32)
		return lb_fail("random_bits: keys are uint32 (…, 2)");
	struct job job = { .keys = *keys, .to = to, .bytes = bytes, .words = bytes / 4 + (bytes % 4 > 0) };
	int64_t n = lb_shape_size(keys->rank - 1, keys->shape);
	if (n && bytes)
		lb_parallel(exec, n * job.words, GRAIN, words, &job);
	return true;
}
