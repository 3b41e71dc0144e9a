/* A provider of tensors that is made up. A test says what the tensors are, each time they are asked for; they have
 * the numbers 1 … n, and no records. */
#ifndef TESTS_MADE_H
#define TESTS_MADE_H

#include "session.h"
#include "tensors/work.h"

struct made {
	uint64_t n, n_buffers;
	/* All but `of` and `id`. */
	void (*tensor)(uint64_t id, struct lbx_tensor *ret);
	/* Likewise. */
	void (*buffer)(uint64_t id, struct lbx_buffer *ret);
	/* The number of input i, below t->n_inputs. */
	uint64_t (*input)(const struct lbx_tensor *t, uint32_t i);
	const char *const (*facts)[2]; /* names and texts, of each tensor and of the set, ended by NULL; or NULL */
	/* What the threads do, from slot 0 on; NULL: that is not told. */
	bool (*work)(uint64_t slot, struct lbx_work *ret);
	bool valid; /* what is found stays good when the program runs */
};

/* Sets that were opened, and closed. */
extern int made_opened, made_closed;

/* The set that made_provider() opens. */
extern struct lbx_tensors made_set;

struct lbx_provider made_provider(const struct made *made);
/* The session's program has tensors of this provider alone, without the runtime; or beside the runtime's. */
void made_alone(struct session *s, const struct made *made);
void made_beside(struct session *s, const struct made *made);

#endif
