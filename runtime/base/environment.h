/* Settings from the environment. One that is not understood is ignored; a line on stderr says what
 * it may be. */
#ifndef LB_BASE_ENVIRONMENT_H
#define LB_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole number from min to max; more becomes max, and a line on stderr says so; `otherwise` when unset
 * or empty. */
int64_t lb_environment_number(const char *name, int64_t min, int64_t max, int64_t otherwise);
/* The index of one of n words; `otherwise` when unset or empty. */
int lb_environment_choice(const char *name, int n, const char *const *words, int otherwise);
/* Any text; false, with "", when unset, empty, or too long for it, which a line on stderr says. */
bool lb_environment_text(const char *name, char *ret, size_t size);

#endif
