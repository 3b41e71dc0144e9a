/* A log of values as the runtime writes it (runtime/eval/journal.h): an entry for each time that a named value was computed. */
#ifndef LBX_VALUE_LOG_H
#define LBX_VALUE_LOG_H

#include "inspect/out.h"

enum lbx_logged_figure {
	LBX_LOGGED_MIN,
	LBX_LOGGED_MAX,
	LBX_LOGGED_MEAN,
	LBX_LOGGED_STD,
	LBX_LOGGED_L2,
	LBX_LOGGED_FIGURES
};
/* "min", "max", … */
extern const char *const lbx_logged_figures[LBX_LOGGED_FIGURES];

struct lbx_logged {
	uint32_t name; /* index in the log's names */
	uint32_t nth; /* of that name, from 1 on */
	uint64_t step, eval;
	uint64_t hash; /* of dtype and elements: equal where these are */
	uint64_t bag; /* likewise of the elements in whatever order */
	uint64_t type; /* likewise of the shape */
	int64_t count, nan, inf;
	uint32_t op; /* index in the log's operations */
	double figures[LBX_LOGGED_FIGURES]; /* of the finite values; NaN: there are none */
};

struct lbx_value_log {
	size_t n, room, n_names, names_room;
	struct lbx_logged *list; /* in the order in which they were computed */
	struct lbx_logged_name {
		char *name;
		size_t n, room, *entries; /* its places in the list, in order */
		uint32_t number;
	} **names; /* in the order in which they came up */
	void *tree; /* of them, by name */
	size_t n_ops, ops_room;
	char **ops; /* the operations that made them; "" where a line names none */
	bool is_cut; /* the last line is not whole, as where the program is still running, or has died */
};

/* Fails for what is no such log, naming the line. To be closed, also after a failure. */
bool lbx_value_log_read(const char *path, struct lbx_out *out, struct lbx_value_log *ret);
void lbx_value_log_close(struct lbx_value_log *log);
/* The nth time of a name; NULL: there is none. */
const struct lbx_logged *lbx_value_log_find(const struct lbx_value_log *log, const char *name, uint32_t nth);

#endif
