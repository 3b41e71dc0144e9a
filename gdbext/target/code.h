/* What a function of one line does, by its code: x86-64 and aarch64. */
#ifndef LBX_CODE_H
#define LBX_CODE_H

#include "target/target.h"

/* return NUMBER; */
bool lbx_code_number(struct lbx_target *target, uint64_t at, uint64_t *ret);
/* return (char *)argument + OFFSET; */
bool lbx_code_member(struct lbx_target *target, uint64_t at, uint64_t *ret);
/* return *(void **)((char *)argument + OFFSET); */
bool lbx_code_load(struct lbx_target *target, uint64_t at, uint64_t *ret);
/* ((void **)((char *)argument + FIRST))[0] = second argument, and likewise, at SECOND, the third; behind a look at whether the
 * argument is NULL, if there is one. */
bool lbx_code_stores(struct lbx_target *target, uint64_t at, uint64_t *ret_first, uint64_t *ret_second);
/* return "text"; its address. */
bool lbx_code_address(struct lbx_target *target, uint64_t at, uint64_t *ret);

#endif
