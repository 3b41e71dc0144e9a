/* How attention spreads over the keys, head by head: from its weights, or from queries and keys where no weights are kept.
 *
 * Of a query that sees n keys with the weights w, the entropy -sum(w log w) lies between 0, where one key has all the
 * weight, and log(n), where all have the same. It is told as a share of log(n), so that heads of any length compare. */
#ifndef LBX_ATTENTION_H
#define LBX_ATTENTION_H

#include "inspect/tensor/array.h"

struct lbx_attention_head {
	int64_t queries; /* that see two keys or more, with weights that are numbers and sum to 1 */
	int64_t odd; /* others that see two keys or more: NaN, or no weight anywhere */
	/* Of `queries`; NaN where there are none. */
	double entropy, least, most; /* as a share of log(keys seen): mean, least, largest */
	double largest, first; /* means of each one's largest weight, and of that of key 0 */
	double
	    spread; /* standard deviation of a query's scores, as they go into softmax; of weights, of their logarithms */
};

struct lbx_attention {
	int rank; /* axes before queries and keys: batch, heads */
	int64_t shape[LBX_ARRAY_RANK];
	int64_t n_heads, n_queries, n_keys;
	int64_t looked_at; /* queries of each head, spread evenly from the first to the last */
	bool is_causal; /* query i sees no key behind i + keys - queries */
	int64_t features; /* of a query; 0: the weights were given */
	double scale; /* likewise */
	struct lbx_attention_head *heads; /* row-major */
};

/* What weights are computed from: softmax(scale * q k^T + mask). */
struct lbx_attention_scores {
	const struct lbx_array *q; /* (…, queries, features) */
	/* (…, keys, features): the axes before are q's, or 1, or absent; the last of them may be a divisor of q's, where several
	 * heads share keys. */
	const struct lbx_array *k;
	/* Broadcasts to (…, queries, keys): bool, true where a key may be seen, or a number that is added; or NULL. */
	const struct lbx_array *mask;
	double scale;
	bool is_causal;
};

/* lb_attention() keeps no weights; what they were computed from it says itself. */
enum lbx_attention_side { LBX_ATTENTION_Q, LBX_ATTENTION_K, LBX_ATTENTION_MASK, LBX_ATTENTION_SIDES };
struct lbx_fused_attention {
	double scale;
	bool is_causal, has_mask;
	uint32_t inputs[LBX_ATTENTION_SIDES]; /* which input of the tensor each is */
};
/* Whether a tensor is such a result. */
bool lbx_fused_attention(const struct lbx_tensor *t, struct lbx_fused_attention *ret);

/* Looks at `queries` of each head at most (0: at all). `ret` is to be deinitialised, also after a failure.
 *
 * weights: (…, queries, keys), of a softmax over the last axis. That it is causal is read off them. Fails where rows do not
 * sum to 1. */
bool lbx_attention_of_weights(const struct lbx_array *weights, int64_t queries, struct lbx_out *out,
			      struct lbx_attention *ret);
/* Fails where shapes do not fit. */
bool lbx_attention_of_scores(const struct lbx_attention_scores *scores, int64_t queries, struct lbx_out *out,
			     struct lbx_attention *ret);
void lbx_attention_deinit(struct lbx_attention *a);

/* What is told of a head; of fewer keys than LBX_ATTENTION_KEYS only whether it is odd. */
enum { LBX_ATTENTION_KEYS = 8 };
enum lbx_attention_kind {
	LBX_HEAD_SPREADS,
	LBX_HEAD_COLLAPSED, /* each query sees one key: the entropy is 2 % or less */
	LBX_HEAD_UNIFORM, /* all keys are alike: 99.9 % or more */
	LBX_HEAD_ODD, /* no query has weights that are weights */
};
enum lbx_attention_kind lbx_attention_kind(const struct lbx_attention *a, int64_t head);
/* Of all heads that have queries; NaN without. */
double lbx_attention_entropy(const struct lbx_attention *a);
double lbx_attention_spread(const struct lbx_attention *a);
/* Whether scores that are multiplied by nothing spread as where 1/sqrt(features) has been forgotten: of 16 features or more
 * by 3 or more, and with that factor they would by 2 or less. */
bool lbx_attention_lacks_scale(const struct lbx_attention *a, int64_t features);

#endif
