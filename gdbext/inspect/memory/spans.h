/* Memory that may be several tensors': each byte counts once. */
#ifndef LBX_SPANS_H
#define LBX_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbx_span {
	uint64_t start, end; /* addresses */
	bool is_sure;        /* a value lies there */
	uint64_t number;     /* unlike any other's: which comes first of those that begin together */
	int64_t bytes;       /* what is counted for it: of those that are sure, all */
};

/* Sets the bytes, and changes the order of the spans. Fails without memory. */
bool lbx_spans_share_out(struct lbx_span *spans, size_t n);

#endif
