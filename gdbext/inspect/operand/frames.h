/* Threads, the frames of their stacks, and the tensors that the frames' variables hold: shared by
 * `threads`, `frame` and `report`. */
#ifndef LBX_FRAMES_H
#define LBX_FRAMES_H

#include "inspect/command.h"
#include "inspect/operand/places.h"

enum { LBX_HELD_MAX = 64 /* of each frame of a stack */, LBX_GONE_MAX = 16, LBX_THREADS_SHOWN = 256, LBX_TAIL = 12 };

/* A variable that leads to a tensor: to its record, or into its elements. */
struct lbx_frame_tensor {
	struct lbx_pointer pointer;
	struct lbx_place place;
};

/* A variable that has a tensor's record which has been freed, or damaged. */
struct lbx_frame_gone {
	struct lbx_pointer pointer;
	char why[512];
};

struct lbx_frame_view {
	struct lbx_frame frame;
	struct lbx_source_line line;
	uint64_t number;        /* 0 for the innermost; those that are left out count */
	char module[256];       /* of a frame whose function is not known: where its code is from, or "" */
	uint64_t offset;        /* in that module */
	int n_held, held_room;
	bool more_held;
	struct lbx_frame_tensor *held;
	struct lbx_variables_told told; /* of what was not looked through */
	int n_gone;             /* at most LBX_GONE_MAX */
	struct lbx_frame_gone *gone;
};

struct lbx_thread_view {
	uint64_t tid;
	int n;
	struct lbx_frame_view *frames;
	int gap;                /* as in struct lbx_stack */
	uint64_t left_out;
	char repeated[512];     /* which functions are left out, where they are few; or "" */
	bool cut;               /* there may be more beyond the last */
	char end[512];          /* why the stack ends early, or "" */
	struct lbx_thread runs; /* what it evaluates; tid 0 when it does not */
};

/* Whether what a variable leads to is to be held. Without memory for that a walk can be gone along with. */
typedef bool lbx_held_fn(void *context, const struct lbx_frame_view *frame, const struct lbx_pointer *pointer,
			 const struct lbx_place *place);

/* At most max frames of a thread (`tail` as in lbx_stacks_ops.walk); with `places`, also what their
 * variables hold: in a whole stack, with a tail, not those of the runtime's own library. */
bool lbx_thread_view(struct lbx_context *context, struct lbx_places *places, uint64_t tid, int max, int tail,
		     struct lbx_thread_view *ret);
/* The same, but each frame holds, up to LBX_HELD_MAX, only what `wants` says. */
bool lbx_thread_view_wanted(struct lbx_context *context, struct lbx_places *places, lbx_held_fn *wants, void *of,
			    uint64_t tid, int max, int tail, struct lbx_thread_view *ret);
/* Of one frame of a thread that was viewed without places: what its variables hold, many more than of each of a stack. */
void lbx_frame_view_hold(struct lbx_context *context, struct lbx_places *places, uint64_t tid,
			 struct lbx_frame_view *view);
void lbx_thread_view_release(struct lbx_thread_view *view);
/* Whether a frame is of a library that programs of any kind have, and holds no tensor. */
bool lbx_is_common_frame(struct lbx_context *context, const struct lbx_frame_view *frame);
/* The innermost frame that is not, and whose function is known; NULL: there is none. */
const struct lbx_frame_view *lbx_thread_view_own(struct lbx_context *context, const struct lbx_thread_view *view);
/* How often some frames in a row, from frame i on, stand there: their number, and *ret_times, 3 or more;
 * 0 where nothing is repeated. */
int lbx_thread_view_fold(const struct lbx_thread_view *view, int i, int *ret_times);
/* What is said in place of frames that are repeated. */
void lbx_describe_fold(int period, int times, char *ret, size_t size);
/* Whether frames before frame i are left out, and what is said in their place. */
bool lbx_describe_left_out(const struct lbx_thread_view *view, int i, char *ret, size_t size);

/* The value of a pointer variable, as `frame` names it: of the innermost frame of the first thread that
 * has one. False, without error, when none has, and where a debugger evaluates expressions: what it does not
 * know in the frame that it has selected is another's variable. */
bool lbx_find_variable(struct lbx_context *context, const char *expression, uint64_t *ret);

/* Adds which limits were met: "not all of cache was looked through, nor of 2 other variables". */
void lbx_statics_limits(const struct lbx_statics_told *told, char *ret, size_t size);

/* The same of variables of a frame; the first frame's alone. */
void lbx_variables_limits(const struct lbx_variables_told *told, char *ret, size_t size);

/* "in convolve at conv.c:42", or the address. */
void lbx_describe_frame(const struct lbx_frame_view *frame, char *ret, size_t size);
/* "q = q (#12, float32 (4, 6), ready)" */
void lbx_describe_frame_tensor(const struct lbx_frame_tensor *held, char *ret, size_t size);
/* Whether a variable is a raw pointer to the elements of a view whose order is not that of memory. */
bool lbx_frame_tensor_is_strided(const struct lbx_frame_tensor *held);
/* "evaluates 12: 3 of 10 operations done, now #5"; "" for a thread that does not evaluate. */
void lbx_describe_run(struct lbx_context *context, const struct lbx_thread *thread, char *ret, size_t size);

/* As a member of the list that is open. As text with its first tensors, or all that were looked at. */
void lbx_tell_frame(struct lbx_context *context, const struct lbx_frame_view *frame, bool all);
void lbx_tell_thread(struct lbx_context *context, const struct lbx_thread_view *view);

#endif
