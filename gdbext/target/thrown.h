/* The exception of C++ that ended a program, as nobody caught it. */
#ifndef LBX_THROWN_H
#define LBX_THROWN_H

#include "target/cxx_types.h"

struct lbx_thrown {
	char type[LBX_CXX_NAME]; /* "std::out_of_range" */
	char text
	    [768]; /* what() of those whose layout is known, a string or number that was thrown; or "": it is not known */
};

/* Of a thread that std::terminate() has ended, by the part of its stack from the innermost frame up to the one that has
 * thrown. False, quietly: none is there, or it is not certain which. */
bool lbx_thrown_find(struct lbx_target *target, uint64_t from, uint64_t to, struct lbx_thrown *ret);

#endif
