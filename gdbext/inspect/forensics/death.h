/* How a program died, in words. */
#ifndef LBX_DEATH_H
#define LBX_DEATH_H

#include "inspect/operand/places.h"

/* "died of SIGSEGV: nothing is mapped at 0x10" */
void lbx_describe_death(const struct lbx_death *death, char *ret, size_t size);
/* "0x7f… is 24 bytes past the end of …": what an address has to do with tensors, also nearly. False
 * when it has nothing to. */
bool lbx_describe_address(struct lbx_places *places, uint64_t address, char *ret, size_t size);
json_t *lbx_json_death(const struct lbx_death *death);

#endif
