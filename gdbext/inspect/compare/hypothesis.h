/* What the hypotheses of explain.c are made of. Each says: A's elements are B's, taken from other
 * places (a layout) and with other values (a change of value). */
#ifndef LBX_HYPOTHESIS_H
#define LBX_HYPOTHESIS_H

#include "inspect/compare/explain.h"

enum { LBX_LAYOUT_RANK = LBX_ARRAY_RANK + 2, LBX_SEGMENTS = 4, LBX_SAMPLES = 512 };

/* A, row-major, taken as an array of `shape`, has at each place the element of B at
 * offset + sum of coordinate * stride. Along one axis it may be in segments: the n indices from
 * `to` on have B's from `from` on; what lies in none is not spoken of. */
struct lbx_layout {
	int rank;
	int64_t shape[LBX_LAYOUT_RANK], strides[LBX_LAYOUT_RANK], offset;
	int axis, n_segments; /* 0 segments: none, and no axis */
	struct {
		int64_t to, n, from, step;
	} segments[LBX_SEGMENTS];
};

enum lbx_rounding {
	LBX_ROUND_F32,
	LBX_ROUND_F16,
	LBX_ROUND_BF16,
	LBX_CUT_BF16,
	LBX_ROUND_E4M3,
	LBX_ROUND_E5M2,
	LBX_ROUND_INTEGER,
	LBX_CUT_INTEGER,
	LBX_ROUNDINGS
};

enum lbx_change { LBX_AS_IS, LBX_LINEAR, LBX_ROUND, LBX_ABSOLUTE, LBX_RECIPROCAL, LBX_SWAP_BYTES, LBX_REINTERPRET };

struct lbx_candidate {
	const struct lbx_array *a, *b; /* dense but for the bounds that the layout keeps */
	struct lbx_layout layout;
	enum lbx_change change;
	double factor, offset;        /* LBX_LINEAR */
	enum lbx_rounding rounding;   /* LBX_ROUND */
	enum lb_dtype as;             /* LBX_REINTERPRET: what B's bytes are read as */
	double rtol, atol;
	bool speaks_of_a_part;        /* not all of A need be covered */
	bool against_equal;           /* what it explains is inequality, not disagreement */
	bool tells_of_one;            /* of A alone, whatever B is: then chance has no part in it */
	/* for the phrase */
	int axis;
	int64_t n[2];
	int order[LBX_LAYOUT_RANK], n_order;
	char note[LBX_EXPLANATION_TEXT]; /* the phrase, where who generates knows it */
};

struct lbx_explainer {
	struct lbx_array a, b;        /* dense, local; complex ones as floats, with one more axis */
	struct lbx_array given_a, given_b;
	bool same_shape;
	int a_rank, b_rank;           /* without the axis of complex parts */
	double rtol, atol;
	int64_t plain_agree;          /* elements that agree within these as they are */
	/* indices of A; those from n_uniform on are of elements that differ */
	int n_uniform, n_samples;
	int64_t samples[LBX_SAMPLES];
	const struct lbx_comparison *comparison;
	const struct lbx_hypothesis *row;
	struct lbx_out out;           /* with a progress that knows the time limit */
	struct lbx_out *user_out;
	double deadline;
	bool interrupted, out_of_time, failed;
	struct lbx_explanations *found;
};

struct lbx_hypothesis {
	const char *name;
	void (*generate)(struct lbx_explainer *e);
	void (*phrase)(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size);
	bool is_of_rounding; /* also tried when all agree within the tolerance */
};

/* The candidate that says A is B. */
struct lbx_candidate lbx_candidate_plain(const struct lbx_explainer *e);
/* The candidate the other way round: B is A, so to say. */
void lbx_candidate_turn(const struct lbx_explainer *e, struct lbx_candidate *c);
/* Makes *a an array in this process, row-major; false when it is too large, or cannot be read. *own
 * is to be freed. */
bool lbx_explain_dense(struct lbx_explainer *e, struct lbx_array *a, char **own);
/* False when the time is up, or the user has interrupted. */
bool lbx_explain_has_time(struct lbx_explainer *e);
/* Tries it on the samples, then on all elements, and keeps it if it explains. False: stop. */
bool lbx_candidate_try(struct lbx_explainer *e, const struct lbx_candidate *c);
/* Of all elements, at memory speed. */
struct lbx_tally {
	const struct lbx_candidate *candidate;
	int64_t covered, agree, exact;
};
bool lbx_candidate_measure(struct lbx_explainer *e, const struct lbx_candidate *c, struct lbx_tally *ret);
bool lbx_candidate_agrees(const struct lbx_candidate *c, double a, double b);
/* Chooses the samples and the tolerance; *all_close tells that all elements agree within it. False
 * when the time is up, or reading failed. */
bool lbx_explain_sample(struct lbx_explainer *e, const struct lbx_explain_options *options, bool *all_close);
/* The number of B that c has for A's i-th element; false where it speaks of none. */
bool lbx_candidate_at(const struct lbx_candidate *c, int64_t i, double *a, double *b);

/* An array that is made of the one to be compared with the other: float64, row-major, of their shape. */
struct lbx_made {
	struct lbx_array array;
	double *values; /* to be freed */
};
/* False where they are too large for that; no error. */
bool lbx_explain_make(const struct lbx_explainer *e, struct lbx_made *ret);
/* The candidate that says: the first is what was made of the second; or, turned, the other way round. */
bool lbx_candidate_try_made(struct lbx_explainer *e, const struct lbx_made *made, bool is_turned, double rtol,
			    const char *note);
/* Their root mean square, of the samples. */
double lbx_explain_size(const struct lbx_explainer *e, const struct lbx_array *a);

/* Whether this kind is among what was found. */
bool lbx_explained_by(const struct lbx_explainer *e, const char *kind);
void lbx_layout_axis(struct lbx_layout *l, int64_t n, int64_t stride);
void lbx_layout_segment(struct lbx_layout *l, int64_t to, int64_t n, int64_t from, int64_t step);
/* The parts of complex numbers, where there are such, stay the innermost axis. */
void lbx_layout_parts(const struct lbx_explainer *e, struct lbx_layout *l);
double lbx_round(enum lbx_rounding rounding, double x);
extern const char *const lbx_rounding_names[LBX_ROUNDINGS];

#define LBX_HYPOTHESIS(name) \
	void lbx_generate_##name(struct lbx_explainer *e); \
	void lbx_phrase_##name(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size)
LBX_HYPOTHESIS(constant);
LBX_HYPOTHESIS(storage);
LBX_HYPOTHESIS(buffer);
LBX_HYPOTHESIS(reshape);
LBX_HYPOTHESIS(transpose);
LBX_HYPOTHESIS(flip);
LBX_HYPOTHESIS(parts);
LBX_HYPOTHESIS(regroup);
LBX_HYPOTHESIS(repeat);
LBX_HYPOTHESIS(shift);
LBX_HYPOTHESIS(rounded);
LBX_HYPOTHESIS(factor);
LBX_HYPOTHESIS(offset);
LBX_HYPOTHESIS(linear);
LBX_HYPOTHESIS(absolute);
LBX_HYPOTHESIS(reciprocal);
LBX_HYPOTHESIS(bytes);
LBX_HYPOTHESIS(precision);
#undef LBX_HYPOTHESIS
/* Of what is computed: the candidate's note is the phrase. */
void lbx_generate_norm(struct lbx_explainer *e);
void lbx_generate_channels(struct lbx_explainer *e);
void lbx_generate_rotary(struct lbx_explainer *e);
void lbx_phrase_note(const struct lbx_explainer *e, const struct lbx_candidate *c, char *ret, size_t size);

#endif
