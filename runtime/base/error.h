/* The one way to report errors, for the runtime and the readers alike.
 *
 * A function that can fail returns false (or NULL) and has called lb_fail(); its
 * caller returns false in turn, adding nothing. The message belongs to the thread;
 * the first one stays until lb_clear_error(), since what fails afterwards usually
 * fails because of it. A message says what was wrong, with which input, and what to
 * do about it: "matmul: last axis of a (2,3) does not match first of b (4,5)".
 * Whoever recovers from an error clears it. */
#ifndef LB_BASE_ERROR_H
#define LB_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

enum { LB_ERROR_MAX = 1024 };

/* Keeps the message unless an earlier one is kept. Always false, which compilers can see. */
#define lb_fail(...) \
	({ \
		lb_fail_with(__VA_ARGS__); \
		false; \
	})
void lb_fail_with(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
/* Where callers decide by what a failure was, that is said beside its text, which is for people. */
enum lb_cause { LB_OTHER_CAUSE, LB_INTERRUPTED, LB_TOO_LARGE, LB_MISUSED };
#define lb_fail_because(cause, ...) \
	({ \
		lb_fail_because_with(cause, __VA_ARGS__); \
		false; \
	})
void lb_fail_because_with(enum lb_cause cause, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Of the kept message. */
enum lb_cause lb_error_cause(void);
/* Called for every failure with its own message, kept or not, and its call; NULL at first. The runtime
 * counts and probes. Not for one that is told again. */
extern void (*lb_fail_hook)(const void *site, const char *message);
/* An argument is NULL: it comes from a call that has failed, whose message is kept; or, if none has,
 * that is an error of its own. Always false. */
bool lb_fail_null(const char *op, const char *argument) __attribute__((cold));
/* The same of the i-th of n. */
bool lb_fail_null_at(const char *op, int i, int n) __attribute__((cold));
/* Whether the argument x is there. */
#define LB_GIVEN(op, x) (__builtin_expect((x) != NULL, 1) || lb_fail_null(op, #x))
/* Whether x, the address of n, is there, or none is needed. */
#define LB_GIVEN_LIST(op, n, x) ((n) <= 0 || LB_GIVEN(op, x))
/* Fails with a message of another time or thread, and where that failed: it is the same failure. */
void lb_fail_again(const void *site, const char *message);
/* Gives the thread the room for its messages, while memory may be had. */
void lb_fail_prepare(void);
/* For a replay: adds "WHAT: " in front of the kept message. */
void lb_fail_within(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
/* Notes the address of the public call that is running, for lb_error_site(). Returns what counts: the call's that is held,
 * if one is. Cheap. */
const void *lb_fail_site(const void *site);
/* The same for a call that is made of other public calls: until it gives its hold back, what they make and their errors are
 * its caller's, and a message that does not begin with its name, of static duration, gets "NAME: " in front. False for a call
 * within such a call. */
bool lb_fail_site_hold(const void *site, const char *name);
void lb_fail_site_give_back(const bool *held);
/* What was noted last. */
const void *lb_fail_site_now(void);

/* Sizes come from outside: products and sums that do not fit are errors, not wraps. */
static inline bool lb_mul(int64_t a, int64_t b, int64_t *ret)
{
	return !__builtin_mul_overflow(a, b, ret);
}

static inline bool lb_sum_of(int64_t a, int64_t b, int64_t *ret)
{
	return !__builtin_add_overflow(a, b, ret);
}

#endif
