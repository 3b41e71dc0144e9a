/* What holds memory at one moment: buffers, each once, and what lazy tensors would take; added up by
 * what they have in common. A snapshot may be kept, written to a file, and compared with another. */
#ifndef LBX_HOLDINGS_H
#define LBX_HOLDINGS_H

#include "inspect/command.h"
#include "inspect/memory/kept.h"

enum lbx_by {
	LBX_BY_SITE, /* of the owner's creation */
	LBX_BY_DTYPE,
	LBX_BY_NAME, /* "layers.*": up to its first point, slash or bracket */
	LBX_BY_STREAM,
	LBX_BY_STATE, /* "ready", "lazy", "evaluating"; "foreign" (mapped files, the program's own), "cached", "unowned" (no
			 tensor's, e.g. of an evaluation) */
	LBX_BY_USAGE, /* "weights" */
	LBX_BY_KIND, /* of memory, as its runtime calls it: "CPU_Mapped" */
	LBX_BY_DEVICE,
	LBX_BY_MODULE, /* whose parameter it is, or that of whose parameter it is the gradient or state: tensors/held.h */
	LBX_BY_HOLDER,
	LBX_BYS
};
extern const char *const lbx_by_names[LBX_BYS];
/* False, quietly: it is none of them. */
bool lbx_by_parse(const char *text, enum lbx_by *ret);

/* Everything that has all of these in common. A buffer's are those of the tensor that owns it: one
 * that is no view, or the oldest. */
struct lbx_holding {
	uint64_t pc; /* of the owner's creation; 0 of buffers without owner */
	uint32_t stream;
	const char *keys[LBX_BYS]; /* the snapshot's; "" if not known; NULL of streams, and of sites until
				      lbx_snapshot_describe() */
	int64_t bytes; /* of the buffers */
	int64_t buffers;
	int64_t lazy, lazy_bytes; /* tensors without a value; bytes that those take that are no views */
};

struct lbx_snapshot {
	bool counted; /* by a runtime, itself */
	struct lb_counters counters; /* then */
	char uncounted[LBX_WHY_MAX]; /* why a runtime's are not known, or "" */
	int64_t tensors; /* as a runtime counts them; else found: not those whose memory is another's, or none */
	int64_t buffers, bytes; /* found; without those that are cached */
	uint64_t unreadable;
	size_t n, room;
	struct lbx_holding *list;
	struct lbx_kept_texts texts; /* its keys */
	struct lbx_variables_held *variables; /* while it is taken with holders; else NULL */
	char limits[512]; /* which variables were not looked through for holders; or "" */
	bool described;
};

bool lbx_snapshot_take(struct lbx_context *context, struct lbx_snapshot *ret);
/* Likewise, with the program's variables as holders where its language does not tell (variables_held.h). */
bool lbx_snapshot_take_with_holders(struct lbx_context *context, struct lbx_snapshot *ret);
/* Gives all sites their text: needed to compare with another process' snapshot, and for calls on one
 * line to be one site. */
bool lbx_snapshot_describe(struct lbx_context *context, struct lbx_snapshot *snapshot);
void lbx_snapshot_deinit(struct lbx_snapshot *snapshot);
/* As JSON; sites must be described. */
json_t *lbx_snapshot_json(const struct lbx_snapshot *snapshot);
/* `name` is for errors. */
bool lbx_snapshot_parse(const char *name, const char *text, size_t n, struct lbx_snapshot *ret);

/* Rows of one key. */
struct lbx_holding_group {
	uint64_t pc; /* by site: of one of the calls; by stream: its number */
	const char *key; /* the snapshot's; NULL of streams, and of sites that are not described */
	int64_t bytes, buffers, lazy, lazy_bytes;
	int64_t before_bytes, before_buffers, before_lazy; /* of the snapshot compared with */
};
struct lbx_holding_groups {
	size_t n;
	struct lbx_holding_group *list; /* the largest first; compared: the largest change */
	int64_t bytes;
};
/* What the cache holds is a group by state alone. `before` is NULL, or a snapshot that is described
 * as this one is. Valid while both are. */
bool lbx_holding_groups_make(const struct lbx_snapshot *snapshot, const struct lbx_snapshot *before, enum lbx_by by,
			     struct lbx_holding_groups *ret);
void lbx_holding_groups_deinit(struct lbx_holding_groups *groups);

int64_t lbx_capped_sum(int64_t a, int64_t b);

#endif
