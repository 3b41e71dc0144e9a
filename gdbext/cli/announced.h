/* Where code lay in processes that a tracer has announced: looked at while they live, for addresses that
 * come when they may be gone. */
#ifndef LBX_ANNOUNCED_H
#define LBX_ANNOUNCED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/lines.h"

struct lbx_announced;

struct lbx_announced *lbx_announced_create(void); /* NULL: memory is out */
void lbx_announced_destroy(struct lbx_announced *announced); /* NULL is fine */
/* Looks at the process now. One that is gone already, or may not be read, is known as such. */
void lbx_announced_add(struct lbx_announced *announced, pid_t pid);
/* A line as /proc/PID/maps has them, without newline, that was recorded of a process. */
void lbx_announced_record(struct lbx_announced *announced, pid_t pid, const char *line);
/* The tracer has lost events: processes may be unknown. */
void lbx_announced_lose(struct lbx_announced *announced);
bool lbx_announced_any(const struct lbx_announced *announced);
/* The file with the call that returns to pc in process pid, and that return address as the file has it. pid is 0
 * where it is not known: then it must be the same file and address in every process that has code there. False
 * where this is not certain. The lines are valid until destroy. */
bool lbx_announced_find(struct lbx_announced *announced, pid_t pid, uint64_t pc, struct lbx_lines **ret, uint64_t *at);
/* Complains of what was asked for and not found, and why: a line for each reason. */
void lbx_announced_explain(const struct lbx_announced *announced);

#endif
