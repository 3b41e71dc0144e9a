/* What several tests ask of the runtime and of the machine. */
#ifndef TEST_PROBE_H
#define TEST_PROBE_H

#include <stdio.h>

#include "symtab.h"

/* For cmocka_unit_test_setup: no error is kept from the test before. */
int without_error(void **state);
#define TEST(function) cmocka_unit_test_setup(function, without_error)

/* The runtime's counters, as a debugger finds them. */
const struct lb_counters *counters(void);
/* Tensors that are alive. */
int64_t live_tensors(void);
/* True under valgrind or a sanitizer: then large work is skipped. */
bool is_instrumented(void);
/* Bytes that the machine could still give. */
uint64_t available_memory(void);
/* 0, 1, 2, … as float32. */
lb_tensor *counting(lb_list shape);
/* True if each of the words, which spaces separate, is in the kept error; clears it. */
bool error_has(const char *words);

/* The call gives nothing, at once, since the shapes alone show that it cannot work, and an error that holds the words. */
#define FAILS_AT_ONCE(call, words) \
	do { \
		LB_SCOPE { \
			lb_tensor *result_ = (call); \
			if (result_) \
				fprintf(stderr, "a result: %s\n", #call); \
			assert_null(result_); \
			assert_true(error_has(words)); \
		} \
	} while (0)

#endif
