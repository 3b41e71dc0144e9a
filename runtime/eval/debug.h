/* Evaluations that a debugger runs in a stopped program: see lb_debug_eval(). */
#ifndef LB_EVAL_DEBUG_H
#define LB_EVAL_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

/* If evaluation number `eval` is a debugger's that was cut short (Ctrl-C makes gdb take the call
 * off the stack), its claims are given back, and the answer is true. */
bool lb_debug_abandon(uint64_t eval);

#endif
