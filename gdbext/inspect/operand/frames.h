/* Threads, the frames of their stacks, and the tensors that the frames' variables hold: shared by
 * `threads`, `frame` and `report`. */
#ifndef LBX_FRAMES_H
#define LBX_FRAMES_H

#include "inspect/command.h"
#include "inspect/operand/places.h"

enum { LBX_HELD_MAX = 64, LBX_THREADS_SHOWN = 256 };

/* A variable that leads to a tensor: to its record, or into its elements. */
struct lbx_held {
	struct lbx_pointer pointer;
	struct lbx_place place;
};

struct lbx_frame_view {
	struct lbx_frame frame;
	struct lbx_source_line line;
	int n_held;             /* at most LBX_HELD_MAX */
	bool more_held;
	struct lbx_held *held;
};

struct lbx_thread_view {
	uint64_t tid;
	int n;
	struct lbx_frame_view *frames;
	char end[128];          /* why the stack ends early, or "" */
	struct lbx_thread runs; /* what it evaluates; tid 0 when it does not */
};

/* At most max frames of a thread; with `places`, also what their variables hold. */
bool lbx_thread_view(struct lbx_context *context, struct lbx_places *places, uint64_t tid, int max,
		     struct lbx_thread_view *ret);
void lbx_thread_view_release(struct lbx_thread_view *view);

/* The value of a pointer variable, as `frame` names it: of the innermost frame of the first thread that
 * has one. False, without error, when none has. */
bool lbx_find_variable(struct lbx_context *context, const char *expression, uint64_t *ret);

/* "in convolve at conv.c:42", or the address. */
void lbx_describe_frame(const struct lbx_frame_view *frame, char *ret, size_t size);
/* "q = q (#12, float32 (4, 6), ready)" */
void lbx_describe_held(const struct lbx_held *held, char *ret, size_t size);
/* Whether a variable is a raw pointer to the elements of a view whose order is not that of memory. */
bool lbx_held_is_strided(const struct lbx_held *held);
/* "evaluates 12: 3 of 10 operations done, now #5"; "" for a thread that does not evaluate. */
void lbx_describe_run(struct lbx_context *context, const struct lbx_thread *thread, char *ret,
		      size_t size);

void lbx_print_frame(struct lbx_out *out, int number, const struct lbx_frame_view *frame);
void lbx_print_thread(struct lbx_context *context, const struct lbx_thread_view *view);
json_t *lbx_json_frame(int number, const struct lbx_frame_view *frame);
json_t *lbx_json_thread(const struct lbx_thread_view *view);

#endif
