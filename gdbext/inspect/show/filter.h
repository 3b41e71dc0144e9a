/* What `list` is to show, beside name, state and dtype. */
#ifndef LBX_FILTER_H
#define LBX_FILTER_H

#include "base/number_map.h"
#include "inspect/command.h"

enum { LBX_FILTER_AXES = 16, LBX_FILTER_SEEN = 12 };

struct lbx_filter {
	const char *op, *site, *scope, *since; /* as given; NULL: any */
	int64_t thread; /* 0: any */
	bool nan, inf;
	/* the shape: a size, -1: any one, -2: any number of axes; n_axes -1: any shape */
	int n_axes;
	int64_t axes[LBX_FILTER_AXES];
	int64_t least, most; /* bytes */
	const uint64_t *ids; /* of those that were there at the mark, sorted */
	size_t n_ids;
	struct lbx_number_map held;  /* records that a scope of that name holds */
	struct lbx_number_map sites; /* return addresses: 1 + whether it is that place */
	bool has_found[3]; /* something has that op, is made at that place, by that thread */
	int n_seen[3];
	char seen[3][LBX_FILTER_SEEN][80]; /* what there is of these instead */
	uint64_t valueless, unread; /* that were not looked at for NaN: without a value, or too costly to read */
};

/* The options as they were given. To be released, also after a failure. */
bool lbx_filter_parse(struct lbx_context *context, const struct lbx_args *args, struct lbx_filter *ret);
/* False, without an error, for one that is not wanted; with one where it cannot be known. */
bool lbx_filter_takes(struct lbx_context *context, struct lbx_filter *filter, const struct lbx_tensor *t);
/* When all have been seen: fails, saying what there is, where nothing has what was asked for. */
bool lbx_filter_check(const struct lbx_filter *filter);
void lbx_filter_deinit(struct lbx_filter *filter);

#define LBX_FILTER_OPTIONS \
	{ "op", "NAME", "only those of an operation; also a pattern: 'log*'" }, \
	    { "shape", "SHAPE", "only those of a shape: '(*, 64)' of two axes, '(2, ...)' of any number" }, \
	    { "bytes", "SIZE", "only those of so many bytes: '>1M', '<=64K', 4096" }, \
	    { "site", "FILE[:LINE]", "only those that were made there" }, \
	    { "thread", "TID", "only those that a thread has made" }, \
	    { "scope", "FUNCTION", "only those that an open scope holds which FUNCTION has opened" }, \
	    { "since", "MARK", "only those that were made since `memory mark MARK`" }, \
	    { "nan", NULL, "only those that hold NaN now: reads all values" }, \
	    { "inf", NULL, "only those that hold Inf now; with --nan, either" }

#endif
