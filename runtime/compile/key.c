#include "compile/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "graph/shape.h"

struct input {
	uint8_t dtype, rank;
	bool weak;
	int64_t value[3]; /* of a weak scalar, as its parameters have it */
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK];
};

struct lb_key {
	uint32_t stream;
	int n_in, n_out;
	size_t nbytes;
	unsigned char *constants;
	struct input inputs[];
};

static bool is_weak(const struct lb_tensor *x)
{
	return lb_tensor_flags(x) & LB_FLAG_WEAK;
}

struct lb_key *lb_key_new(const struct lb_request *request)
{
	size_t inputs = (size_t)request->n_in * sizeof(struct input);
	struct lb_key *key = calloc(1, sizeof *key + inputs + request->nbytes);
	if (!key) {
		lb_fail("compile: out of memory for a key of %d inputs and %zu bytes", request->n_in, request->nbytes);
		return NULL;
	}
	key->stream = request->stream;
	key->n_in = request->n_in;
	key->n_out = request->n_out;
	key->nbytes = request->nbytes;
	key->constants = (unsigned char *)key + sizeof *key + inputs;
	if (request->nbytes)
		memcpy(key->constants, request->constants, request->nbytes);
	for (int i = 0; i < key->n_in; i++) {
		const struct lb_tensor *x = request->in[i];
		struct input *to = &key->inputs[i];
		to->dtype = x->dtype;
		to->rank = x->rank;
		to->weak = is_weak(x);
		if (to->weak)
			memcpy(to->value, x->params, sizeof to->value);
		memcpy(to->shape, x->shape, x->rank * sizeof *x->shape);
		memcpy(to->strides, x->strides, x->rank * sizeof *x->strides);
	}
	return key;
}

void lb_key_free(struct lb_key *key)
{
	free(key);
}

#define DIFFERS(...) \
	({ \
		if (size) \
			snprintf(why, size, __VA_ARGS__); \
		false; \
	})

/* Strides along which there is but one element mean nothing. */
static bool same_strides(const struct input *from, const struct lb_tensor *x)
{
	for (int i = 0; i < x->rank && x->size; i++) {
		if (x->shape[i] != 1 && from->strides[i] != x->strides[i])
			return false;
	}
	return true;
}

static const char *value_text(const int64_t *params, char text[32])
{
	double value;
	memcpy(&value, params, sizeof value);
	if (params[2])
		snprintf(text, 32, "%lld", (long long)params[1]);
	else
		snprintf(text, 32, "%g", value);
	return text;
}

static bool scalar_matches(int i, const struct input *from, const struct lb_tensor *x, char *why, size_t size)
{
	char now[32], then[32];
	if (from->weak != is_weak(x))
		return DIFFERS("input %d: %s, compiled for %s", i, is_weak(x) ? "a weak scalar" : "a tensor",
			       from->weak ? "a weak scalar" : "a tensor");
	if (from->weak && memcmp(from->value, x->params, sizeof from->value) != 0)
		return DIFFERS("input %d: scalar %s, compiled for %s", i, value_text(x->params, now),
			       value_text(from->value, then));
	return true;
}

static bool input_matches(int i, const struct input *from, const struct lb_tensor *x, bool shapeless, char *why,
			  size_t size)
{
	char now[LB_SHAPE_TEXT], then[LB_SHAPE_TEXT];
	if (from->rank != x->rank)
		return DIFFERS("input %d: shape %s, compiled for %s", i, lb_shape_text(x->rank, x->shape, now),
			       shapeless && from->rank == 1 ? "1 axis"
			       : shapeless                  ? (snprintf(then, sizeof then, "%d %s", from->rank,
									LB_PLURAL(from->rank, "axis", "axes")),
                                              then)
							    : lb_shape_text(from->rank, from->shape, then));
	if (!shapeless && memcmp(from->shape, x->shape, x->rank * sizeof *x->shape) != 0)
		return DIFFERS("input %d: shape %s, compiled for %s", i, lb_shape_text(x->rank, x->shape, now),
			       lb_shape_text(from->rank, from->shape, then));
	if (from->dtype != x->dtype)
		return DIFFERS("input %d: dtype %s, compiled for %s", i, lb_dtypes[x->dtype].name,
			       lb_dtypes[from->dtype].name);
	if (!shapeless && !same_strides(from, x))
		return DIFFERS("input %d: strides %s, compiled for %s", i, lb_shape_text(x->rank, x->strides, now),
			       lb_shape_text(from->rank, from->strides, then));
	return scalar_matches(i, from, x, why, size);
}

bool lb_key_matches(const struct lb_key *key, const struct lb_request *request, char *why, size_t size)
{
	if (key->n_in != request->n_in)
		return DIFFERS("%d input%s, compiled for %d", request->n_in, LB_S(request->n_in), key->n_in);
	if (key->n_out != request->n_out)
		return DIFFERS("%d output%s, compiled for %d", request->n_out, LB_S(request->n_out), key->n_out);
	for (int i = 0; i < key->n_in; i++) {
		if (!input_matches(i, &key->inputs[i], request->in[i], request->shapeless, why, size))
			return false;
	}
	if (key->stream != request->stream)
		return DIFFERS("stream %u, compiled for %u", request->stream, key->stream);
	if (key->nbytes != request->nbytes ||
	    (key->nbytes && memcmp(key->constants, request->constants, key->nbytes) != 0))
		return DIFFERS("constants differ");
	return true;
}
