/* Sets of tensors: what an inspection sees of a program. Each comes from a provider: the runtime's symbol
 * table (table/) is one, other runtimes' tensors are others, and inspections do not notice. */
#ifndef LBX_TENSORS_H
#define LBX_TENSORS_H

#include "base/number_map.h"
#include "target/stacks.h"
#include "tensors/tensor.h"

struct lbx_program; /* tensors/program.h */
struct lbx_work;    /* tensors/work.h */
struct lbx_part;    /* tensors/part.h */
struct lbx_recipe;  /* tensors/recipe.h */
struct lbx_held;    /* tensors/held.h */
struct lbx_keeper;  /* likewise */
struct lbx_scope;   /* tensors/scope.h */

/* What one who goes through a set wants of it; the set may give more, but is quicker where it need not. */
struct lbx_wish {
	bool no_names; /* those of its tensors may be empty */
	const char *pattern; /* tensors with names that do not match may be left out; NULL: none may */
	bool (*matches)(const char *pattern, const char *name);
	uint64_t left_out; /* so many were: whoever leaves them out counts them */
};

struct lbx_tensors {
	const struct lbx_tensors_ops *ops;
	struct lbx_wish *wish; /* what it need give now; NULL: all */
	struct lbx_target *target;
	const char *provider; /* "lazybones", "ggml" */
	struct lbx_axes *axes; /* of its tensors that have many (axes.h); or NULL */
	const char
	    *strided; /* what is said of tensors whose elements do not lie in their order; NULL: a general sentence */
	bool has_devices; /* the memory of its tensors is called by the device that it is on */
	bool ids_grow; /* ids tell the order in which tensors were made */
	bool knows_asked; /* whether the program has asked for a tensor's value (LB_FLAG_UNASKED) */
	bool forgets_graph; /* once a tensor is evaluated, what it was computed from is not known any more */
	bool keeps_graph; /* what a tensor was computed from stays known while it has its value */
	bool is_one_of_several; /* that are seen at once: a number alone does not say whose it is */
};

enum lbx_next { LBX_NEXT_TENSOR, LBX_NEXT_END, LBX_NEXT_ERROR };

/* What a provider does; callers go through the functions below. next, by_id,
 * input and input_id must be there; NULL for another: it has none of that. Iteration is by slot
 * number, below LBX_SLOTS_MAX, and goes on after a bad record. */
enum { LBX_SLOT_BITS = 56 };
#define LBX_SLOTS_MAX (1ULL << LBX_SLOT_BITS)

/* What a provider knows beyond what all have, for who knows its runtime: "ne", "[256, 4, 1, 1]". */
typedef void lbx_fact_fn(void *context, const char *name, const char *text);

/* Where the program keeps what leads to a tensor's elements, for who reads it later. */
struct lbx_word {
	uint64_t at;
	unsigned bytes; /* 1, 2, 4 or 8 */
};
enum { LBX_CONDITIONS = 3 };
struct lbx_words {
	/* As long as all of these hold, the buffer begins at the address that is `data`, which is within the record
	 * that `record` points to, or, where that has 0 bytes, that lies at `record.at`. */
	struct lbx_condition {
		struct lbx_word word;
		uint64_t value;
	} conditions[LBX_CONDITIONS];
	struct lbx_word record, data; /* data.at: bytes from the record's beginning */
};

/* What tells a tensor from all others, of whatever set. It takes less room than the tensor. */
struct lbx_key {
	struct lbx_tensors *of;
	uint64_t address, id;
};
static inline bool lbx_key_is_same(const struct lbx_key *a, const struct lbx_key *b)
{
	return a->of == b->of && a->address == b->address && a->id == b->id;
}
/* What finds tensors by their names. */
struct lbx_label {
	struct lbx_key key;
	char name[LB_NAME_MAX + 1]; /* "" without one */
};

struct lbx_tensors_ops {
	enum lbx_next (*next)(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad);
	/* NULL: `next` tells it. */
	enum lbx_next (*next_label)(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_label *ret);
	bool (*by_id)(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret);
	bool (*by_address)(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret);
	/* What the program's own language calls a tensor, as Python does: `self.layers[3].weight`. `from` may be NULL: of all
	 * threads. False, without an error: nothing of the set's. */
	bool (*by_path)(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from,
			struct lbx_tensor *ret);
	/* Why such a text leads to none, where that is known: "batch has nothing under 'x': it has 'y'". */
	bool (*why_no_path)(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from, char *ret,
			    size_t size);
	/* The tensor that an object of the program's language is, as a PyObject. Likewise. */
	bool (*by_object)(struct lbx_tensors *tensors, uint64_t object, struct lbx_tensor *ret);
	/* Whether such an object is a module of a neural network: what it holds goes by the names of the model's parts, and a
	 * function that has it in a variable is not told to have all of that. */
	bool (*is_module)(struct lbx_tensors *tensors, uint64_t object);
	bool (*record_at)(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret);
	bool (*next_buffer)(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_buffer *ret);
	bool (*damage)(struct lbx_tensors *tensors, uint64_t *ret_first, uint64_t *ret_last);
	bool (*input)(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret);
	uint64_t (*input_id)(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i);
	/* The i-th of the tensors that the same operation gives beside t. False, without an error: there are no more. */
	bool (*beside)(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret);
	int (*stack)(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint64_t *pcs, int max);
	bool (*program)(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_program *ret);
	/* How t is computed by the runtime's operations: adds to r, which has its inputs already (tensors/recipe.h);
	 * *ret is the value. NULL: t->op and t->params are the runtime's. Fails, naming the operation, where there is
	 * no recipe. */
	bool (*recipe)(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_recipe *r, int *ret);
	/* See part.h. NULL: its operations are the runtime's. */
	bool (*part)(struct lbx_tensors *tensors, const struct lbx_tensor *t, const int64_t *at, uint32_t i,
		     struct lbx_part *ret);
	void (*take_computed)(struct lbx_tensors *tensors, struct lbx_tensor *t);
	/* Of a tensor, or, where t is NULL, of the set. */
	void (*facts)(struct lbx_tensors *tensors, const struct lbx_tensor *t, lbx_fact_fn *fn, void *context);
	/* See held.h; *ret is all 0. NULL: its names tell. */
	void (*held)(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_held *ret);
	/* Likewise. */
	bool (*keeper)(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_keeper *ret);
	/* See scope.h. */
	bool (*scope)(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_scope *ret);
	/* See work.h. `stacks` may be NULL, or have looked at the threads already when the set was opened. */
	bool (*work)(struct lbx_tensors *tensors, struct lbx_stacks *stacks, uint64_t *slot, struct lbx_work *ret);
	/* False, without an error: its elements may come and go without any word that tells so. */
	bool (*words)(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_words *ret);
	/* What of its runtime's own holds an address: "the graph at 0x…"; false, without an error: nothing that is known.
	 * Not for the records of tensors. */
	bool (*part_at)(struct lbx_tensors *tensors, uint64_t address, char *ret, size_t size);
	/* Whether the set still is what a new one would be, though the program has run, or may have: cheaply, as by
	 * a look at what it was found by. NULL: no. See struct lbx_kept (inspect/context.h). */
	bool (*valid)(struct lbx_tensors *tensors);
	/* The program may be gone. */
	void (*close)(struct lbx_tensors *tensors);
};

/* The next live tensor at or after *slot, which becomes the slot behind it: one less gives the same tensor again. Free slots are skipped; unreadable ones are
 * counted in *bad (and the count is the caller's to tell). */
enum lbx_next lbx_tensors_next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad);
/* Until the next call, walks need no more than that, which stays the caller's; NULL: all, as ever. What is left out is not looked
 * at, so that it may be damaged. */
void lbx_tensors_want(struct lbx_tensors *tensors, struct lbx_wish *wish);
/* As lbx_tensors_next(), of its name alone: no more of a record is read than that takes, so that it may be damaged. */
enum lbx_next lbx_tensors_next_label(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_label *ret);
bool lbx_tensors_by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret);
/* By handle: fails, saying which, for an address outside the records, between records, of a freed tensor. */
bool lbx_tensors_by_address(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret);
/* As `by_path`, `why_no_path` and `by_object`; of a union, by the first set that has it. */
bool lbx_tensors_by_path(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from,
			 struct lbx_tensor *ret);
bool lbx_tensors_why_no_path(struct lbx_tensors *tensors, const char *text, const struct lbx_viewpoint *from, char *ret,
			     size_t size);
bool lbx_tensors_by_object(struct lbx_tensors *tensors, uint64_t object, struct lbx_tensor *ret);
bool lbx_tensors_is_module(struct lbx_tensors *tensors, uint64_t object);
/* The tensor whose record holds an address. False without error when no record does; with one when that
 * tensor is freed or damaged. */
bool lbx_tensors_record_at(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret);
struct lbx_key lbx_tensor_key(const struct lbx_tensor *t);
/* The entry of a tensor in a map: by its record, or, in sets without records, by its id (base/number_map.h). */
struct lbx_number *lbx_number_of_tensor(struct lbx_number_map *map, const struct lbx_tensor *t, bool *ret_new);
/* The tensor as it is now. Fails like lbx_tensors_by_address(), or, where that is 0, lbx_tensors_by_id(). */
bool lbx_tensor_by_key(const struct lbx_key *key, struct lbx_tensor *ret);
/* The next buffer in use or cached at or after *slot, which moves past it; false at the end. */
bool lbx_tensors_next_buffer(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_buffer *ret);
/* The next one of them that holds an address. Where memory is given out again and again, there may be several. */
bool lbx_tensors_next_buffer_at(struct lbx_tensors *tensors, uint64_t *slot, uint64_t address, struct lbx_buffer *ret);
/* The addresses of the first and the last record that a walk over the tensors (`next`, since it began)
 * could not read, or found damaged; false: there is none, or where it is is not known. */
bool lbx_tensors_damage(struct lbx_tensors *tensors, uint64_t *ret_first, uint64_t *ret_last);
bool lbx_tensors_valid(struct lbx_tensors *tensors);
/* Its tensors are good no longer. NULL is fine. */
void lbx_tensors_close(struct lbx_tensors *tensors);

/* Of t, of which `of` is the set; or, where t is NULL, of the set. */
void lbx_tensors_facts(struct lbx_tensors *of, const struct lbx_tensor *t, lbx_fact_fn *fn, void *context);

/* As `words`, of t's own set. */
bool lbx_tensor_words(const struct lbx_tensor *t, struct lbx_words *ret);
/* As `part_at`; not for a union. */
bool lbx_tensors_part_at(struct lbx_tensors *of, uint64_t address, char *ret, size_t size);

/* "#12", or, of one of several sets, "ggml#12"; the address of one that has no number. */
enum { LBX_ID_TEXT_MAX = 64 };
void lbx_tensor_id_text(const struct lbx_tensor *t, char ret[LBX_ID_TEXT_MAX]);
/* Input i of t, when it still exists as the same tensor. */
bool lbx_tensor_input(const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret);
/* Id of input i, known even when that tensor is gone; 0 if not known. */
uint64_t lbx_tensor_input_id(const struct lbx_tensor *t, uint32_t i);
/* Return addresses of the creation stack, outermost last; at least the site if known. */
int lbx_tensor_stack(const struct lbx_tensor *t, uint64_t *pcs, int max);
/* How a tensor of class FUSED is computed; quietly false where its set does not know. */
bool lbx_tensor_program(const struct lbx_tensor *t, struct lbx_program *ret);
/* If an evaluation that is under way has computed t's value already, and still holds it for its consumers,
 * t becomes ready and held. */
void lbx_tensor_take_computed(struct lbx_tensor *t);

/* Several sets, which must outlive it, as one, in their order. A number is that of the first set that has it:
 * where several might, ask the one that is meant. NULL, with an error, without memory. */
struct lbx_tensors *lbx_tensors_union(struct lbx_tensors *const *sets, int n);

#endif
