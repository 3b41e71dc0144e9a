/* How a program died, in words. */
#ifndef LBX_DEATH_H
#define LBX_DEATH_H

#include "inspect/operand/places.h"

/* Where the signal came from. */
enum lbx_cause {
	LBX_CAUSE_FAULT,    /* of an instruction; or it is not known */
	LBX_CAUSE_ITSELF,   /* it has sent it: abort(), raise(), kill() */
	LBX_CAUSE_OTHER,    /* another process has */
	LBX_CAUSE_TERMINAL, /* somebody has typed Ctrl-\\ */
	LBX_CAUSE_LIMIT,    /* of processor time (setrlimit(2)) */
};
enum lbx_cause lbx_death_cause(const struct lbx_death *death);
/* "process 4711 of user 1000"; of LBX_CAUSE_OTHER. */
void lbx_describe_sender(const struct lbx_death *death, char *ret, size_t size);

/* "died of SIGSEGV: nothing is mapped at 0x10" */
void lbx_describe_death(const struct lbx_death *death, char *ret, size_t size);
/* Bytes beside a buffer that an address is still called near: one that can be read, and one that cannot, where
 * who ran out of a buffer is stopped only at the end of what is mapped. */
enum { LBX_NEAR = 64, LBX_NEAR_FAULT = 1 << 20 };

/* "0x7f… is 24 bytes past the end of …": what an address has to do with tensors, also nearly: less than `near`
 * bytes beside a buffer. False when it has nothing to. */
bool lbx_describe_address(struct lbx_places *places, uint64_t address, uint64_t near, char *ret, size_t size);
json_t *lbx_json_death(const struct lbx_death *death);

#endif
