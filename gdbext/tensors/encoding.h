/* How elements are stored. Plain dtypes, formats of blocks (some elements share a scale, and lie in some bytes
 * together) and quantised integers (each is (q - zero) * scale) are alike to an inspection: a name, blocks of
 * elements, and what they decode to.
 *
 * A buffer is a row of blocks. Strides and offsets count elements in that order, whatever the encoding, so a slice
 * may begin or end within a block: whole blocks are decoded, then cut. Where blocks of several rows are interleaved
 * (interleave.h), elements are counted as if they were not. */
#ifndef LBX_ENCODING_H
#define LBX_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab.h"
#include "tensors/interleave.h"

int64_t lbx_dtype_bytes(enum lb_dtype dtype);
const char *lbx_dtype_name(enum lb_dtype dtype);
/* "float32" or "f32"; false, without an error, for another text. */
bool lbx_dtype_parse(const char *text, enum lb_dtype *ret);
/* An element of an integer dtype or of bool, exactly; bits of uint64. */
int64_t lbx_element_int(const void *element, enum lb_dtype dtype);

enum { LBX_BLOCK_MAX = 256 }; /* elements */

struct lbx_encoding {
	const char *name;    /* "float32", "q4_0", "qint8" */
	enum lb_dtype dtype; /* of the elements: decoded ones are float32 */
	int elements, bytes; /* of a block; of plain and of quantised ones, one element */
	/* n whole blocks; NULL: there are none */
	void (*decode)(const struct lbx_encoding *encoding, const void *blocks, int64_t n, float *to);
	enum lb_encoding kernel; /* for decode(): whose blocks they are (kernels/decode.c) */
	/* blocks of several rows that are interleaved; NULL: they are not */
	const struct lbx_interleave *interleave;
	int64_t row_blocks; /* of a row */
	const struct lbx_encoding *as_bytes; /* then: the blocks themselves, as uint8, as they would lie without that */
	/* quantised integers; 0 scales: it is none */
	enum lb_dtype stored;
	int axis; /* along which each index has its scale; -1: there is one for all */
	int64_t n_scales; /* 1, or as many as the axis has elements */
	const double *scales;
	const int64_t *zeros; /* as many */
};

/* The encoding of a plain dtype. */
struct lbx_encoding lbx_encoding_of_dtype(enum lb_dtype dtype);
/* A format of ggml's blocks by the name that ggml gives it, "q4_K", in any case; NULL, without an error, if there is
 * none. */
const struct lbx_encoding *lbx_encoding_of_blocks(const char *name);
/* The name of the i-th of them; NULL: there are i. */
const char *lbx_blocks_name(size_t i);

/* Whether the text is the name of a dtype, or of a format of blocks. */
bool lbx_is_encoding(const char *text);

/* How many elements lie together, apart from others: those of a block, or of a group of rows that are interleaved. */
int64_t lbx_encoding_period(const struct lbx_encoding *encoding);
/* The bytes of the blocks that hold elements 0 … n-1; false if they do not fit 64 bits. */
bool lbx_encoding_bytes(const struct lbx_encoding *encoding, int64_t n, int64_t *ret);
/* Where the block begins that an element is in, or the unit: bytes. */
int64_t lbx_encoding_at(const struct lbx_encoding *encoding, int64_t element);
/* The first element of the block, or of the unit, that holds a byte; *ret: that byte of it. */
int64_t lbx_encoding_holds(const struct lbx_encoding *encoding, int64_t byte, int64_t *ret);
/* The bytes that hold the blocks of the elements `first` … `last`: where they begin; returns how many there are. */
int64_t lbx_encoding_span(const struct lbx_encoding *encoding, int64_t first, int64_t last, int64_t *ret_at);
/* Elements from *ret_first on, of which `element` is one, whose span has at most `bytes`, which are some thousand;
 * returns how many. Not for plain ones. */
int64_t lbx_encoding_window(const struct lbx_encoding *encoding, int64_t element, int64_t bytes, int64_t *ret_first);

/* Whether its elements are integer codes times a step (runtime/kernels/blocks.def). */
bool lbx_encoding_has_codes(const struct lbx_encoding *encoding);
/* Those of n whole blocks from element `first` on, likewise out of the bytes of its buffer from `at` on: in place, or in
 * `own`, where they are put next to each other. */
const void *lbx_encoding_blocks(const struct lbx_encoding *encoding, const void *bytes, int64_t at, int64_t first,
				int64_t n, void *own);

/* n elements, `stride` apart from element `first` on; the first has the scale of index `at` along the encoding's
 * axis, and each one after it that of the index `step` further. */
struct lbx_run {
	int64_t first, stride, n, at, step;
};
/* To dense elements of the encoding's dtype, out of the bytes of its buffer from `at` on, which hold all of their
 * blocks. Not for plain ones, which are there already. */
void lbx_decode(const struct lbx_encoding *encoding, const void *bytes, int64_t at, const struct lbx_run *run,
		void *to);

#endif
