/* Expressions of C over a program's variables, by its debug information: `layer->w`, `cache.kv[0]`,
 * `net::rows[i]` with a number for i, `*p`, `&x`; through containers as in C++ (containers.h):
 * `layers[0]->w`, `cache["fc1"]`, `std::get<1>(state)`, `*mask`, and in a function of a class over its members. */
#ifndef LBX_EXPRESSION_H
#define LBX_EXPRESSION_H

#include "target/lines.h"
#include "target/stacks.h"

/* What a name is searched among: a frame's variables, or without a frame the program's global ones. */
struct lbx_variables_of {
	struct lbx_target *target;
	struct lbx_lines *lines;
	const struct lbx_frame *frame; /* NULL: global ones */
	uint64_t near;                 /* of global ones with the same name: that beside this code */
	int radix;       /* of numbers that begin with another digit than 0; 0: ten */
};

/* The bytes of a variable's name: strspn() tells how much of a text is one. */
#define LBX_WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Whether a text is such an expression, whatever variables there are. *ret_is_way: it has steps that neither a name nor a
 * slice of a tensor has: layers[i]->w, cache["fc1"], *mask. */
bool lbx_expression_read(const char *text, bool *ret_is_way);

/* What an expression came to. */
enum lbx_found {
	LBX_FOUND,
	LBX_NO_VARIABLE, /* the variable that it begins with is not among these */
	LBX_NO_VALUE, /* it is, but has no value here, or the rest is no expression over it */
};
/* The value of a pointer or a number; the record that an object stands for (containers.h); the address of what is larger
 * otherwise. */
enum lbx_found lbx_expression_value(const struct lbx_variables_of *variables, const char *expression,
				    struct lbx_evaluated *ret);
/* Of what comes to a pointer to a class or struct: its value, and the name of what it points to, as a debugger has it, but without
 * namespaces. False: it comes to none, its value is not known, or C calls it `struct …`. */
bool lbx_expression_pointer(const struct lbx_variables_of *variables, const char *expression, const char **ret_struct,
			    uint64_t *ret);
/* The pointers in the object that it came to, as of a variable of that name (variables.h); whether there is more in it than was
 * looked at. False: it came to none. */
bool lbx_expression_pointers(const struct lbx_variables_of *variables, const char *expression, lbx_pointer_fn *fn,
			     void *context, bool *ret_more);

#endif
