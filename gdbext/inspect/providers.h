/* Where tensors come from, and what is kept of them between two commands. */
#ifndef LBX_PROVIDERS_H
#define LBX_PROVIDERS_H

#include <stdbool.h>
#include <stdint.h>

struct lbx_context; /* inspect/context.h */
struct lbx_name_index; /* inspect/name_index.h */
struct lbx_python;
struct lbx_target;
struct lbx_tensors;

struct lbx_provider {
	const char *name;
	const char *handle, *article; /* "lb_tensor", "an": the type of a record; a pointer to it is a T. NULL: none */
	/* False, without an error, where the program has nothing of it; fails where its tensors cannot be read.
	 * The context closes what it gives. */
	bool (*open)(struct lbx_context *context, struct lbx_tensors **ret);
	/* Whether the program's modules have anything of it, so that open() may find some: quiet, and by no more than
	 * a look at them. For one that is costly; NULL: not known. */
	bool (*is_there)(struct lbx_context *context);
	bool copies; /* what a process holds, to look there (lbx_target_copy()) */
	bool has_objects; /* objects of Python are its tensors, which are asked for by them */
	/* Those alone that objects of Python are, found without what makes open() costly: they have no numbers and names. False:
	 * it cannot be done so. NULL: it never can. */
	bool (*open_near)(struct lbx_context *context, struct lbx_python *py, struct lbx_tensors **ret);
	bool is_costly; /* to open, as where memory is searched: what it gives is kept (struct lbx_kept) */
};
/* Ended by one without a name. */
extern const struct lbx_provider lbx_providers[];

/* LBX_MANY_TENSORS: a walk over so many takes longer than a debugger takes to answer a question. */
enum { LBX_SETS_MAX = 8, LBX_MANY_TENSORS = 4096 };

/* What a front end that lives on keeps of a program from one command to the next: sets of tensors that are costly to
 * find; which providers have found nothing in its modules; and where the tensors of a name are. All 0 at first.
 *
 * A kept set is used again when the program has stood still since it was found (lbx_target_moment), or when the set's
 * `valid` says that it is good all the same. Otherwise, and where this is not known and there is no `valid`, the
 * provider opens a new one. What a set remembers should be where its tensors are, not what they hold: the user may
 * write into a program that stands still. */
struct lbx_kept {
	struct lbx_target *target; /* whose they are */
	bool is_dated;
	uint64_t moment; /* when they were found */
	int n;
	struct lbx_kept_set {
		const struct lbx_provider *provider;
		struct lbx_tensors *tensors;
	} sets[LBX_SETS_MAX];
	int n_absent;
	struct lbx_kept_absence {
		const struct lbx_provider *provider;
		uint64_t modules; /* in which there was nothing (lbx_target_loaded) */
	} absent[LBX_SETS_MAX];
	bool
	    has_many_tensors; /* LBX_MANY_TENSORS, when they were last walked over: what is asked is asked before that */
	struct lbx_name_index *names; /* or NULL */
};
/* Closes them. */
void lbx_kept_close(struct lbx_kept *kept);

#endif
