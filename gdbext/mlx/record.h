/* An array of MLX's as it lies in memory, checked. */
#ifndef LBX_MLX_RECORD_H
#define LBX_MLX_RECORD_H

#include "lazybones.h"
#include "mlx/layout.h"
#include "target/cxx_classes.h"

enum { LBX_MLX_AXES = 64, LBX_MLX_ARRAYS = 1 << 16 /* inputs, or siblings, of one */ };

/* As mlx::core::array::Status has them. */
enum lbx_mlx_status {
	LBX_MLX_UNSCHEDULED, /* lazy */
	LBX_MLX_SCHEDULED, /* a stream will compute it; only in 0.21 */
	LBX_MLX_EVALUATED, /* it has memory, and has been handed to a stream */
	LBX_MLX_AVAILABLE,
	LBX_MLX_STATUSES
};

struct lbx_mlx_arrays {
	uint64_t at; /* each has 16 bytes, the first 8 of which are the address of its record */
	uint32_t n;
};

struct lbx_mlx_record {
	uint64_t address; /* of the ArrayDesc: what array::id() gives */
	uint32_t references;
	int rank;
	int64_t sizes[LBX_MLX_AXES], strides[LBX_MLX_AXES]; /* elements; strides are placeholders without a buffer */
	int64_t size; /* elements */
	enum lb_dtype dtype;
	enum lbx_mlx_status status;
	bool is_tracer, is_row_contiguous;
	uint64_t primitive; /* address; 0: none, it was given, or has been computed */
	uint64_t event, event_value; /* address of what counts; 0: none */
	uint64_t data; /* address of what holds its buffer; 0: none */
	uint64_t data_counts;
	uint64_t begin; /* address of the first element, or bytes from the buffer on (is_offset) */
	int64_t data_size; /* elements */
	struct lbx_mlx_arrays inputs, siblings;
	uint32_t position;
};

/* Memory that arrays share. */
struct lbx_mlx_buffer {
	uint64_t address; /* of the object that holds it */
	uint64_t data; /* address of its first byte */
	uint64_t bytes;
	uint32_t references;
};

/* False, quietly, where it cannot be read, has been freed, or cannot be one with that layout. */
bool lbx_mlx_record_read(struct lbx_target *target, const struct lbx_cxx_classes *classes,
			 const struct lbx_mlx_layout *layout, uint64_t address, struct lbx_mlx_record *ret);
/* That of an array that has one; likewise. */
bool lbx_mlx_buffer_read(struct lbx_target *target, uint64_t data, uint64_t counts, struct lbx_mlx_buffer *ret);
/* Whether it has its value: what is evaluated has when its event says so, or is gone, as array::is_available() has it. */
bool lbx_mlx_is_available(struct lbx_target *target, const struct lbx_mlx_record *r);
/* What a vector of at most LBX_MLX_AXES numbers of `width` bytes holds: *n of them, which must be as many as it says, or -1. */
bool lbx_mlx_vector_read(struct lbx_target *target, bool is_small, uint64_t address, size_t width, int *n,
			 int64_t *ret);
/* A std::vector of arrays at an address. */
bool lbx_mlx_arrays_read(struct lbx_target *target, uint64_t address, struct lbx_mlx_arrays *ret);
/* The address of the i-th one's record; 0: it cannot be read. */
uint64_t lbx_mlx_array_at(struct lbx_target *target, const struct lbx_mlx_arrays *arrays, uint32_t i);
/* Where the elements begin, in elements of the buffer; false: not in it. */
bool lbx_mlx_offset(const struct lbx_mlx_layout *layout, const struct lbx_mlx_record *r,
		    const struct lbx_mlx_buffer *buffer, int64_t *ret);

#endif
