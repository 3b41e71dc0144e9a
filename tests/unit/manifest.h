/* The cases that fixtures.py writes, one a line; see cases/suite.py for the words. */
#ifndef TEST_MANIFEST_H
#define TEST_MANIFEST_H

#include "lazybones.h"

enum { CASE_INPUTS = 64, CASE_WORDS = 96 };

/* key=value pairs; text stays in the line that was parsed. */
struct args {
	int n;
	struct {
		const char *key, *value;
	} words[CASE_WORDS];
};

struct test_case {
	const char *name, *op;
	int n_inputs;
	const char *inputs[CASE_INPUTS];
	struct args args;
};

/* Cuts the line into words in place; false if it is not a case. */
bool case_parse(char *line, struct test_case *ret);
/* Cuts "key=value;key=value" in place. */
bool args_parse(char *text, char separator, struct args *ret);
/* The value of a key; NULL if there is none. */
const char *args_find(const struct args *args, const char *key);
int64_t args_int(const struct args *args, const char *key, int64_t otherwise);
double args_double(const struct args *args, const char *key, double otherwise);
lb_dtype args_dtype(const struct args *args);
/* A list: "1,2,3", "none", or "all" (then n is -1). `to` holds LB_MAX_RANK values. */
lb_list args_list(const struct args *args, const char *key, int64_t *to);
/* Parses what args_list reads, at most `capacity` values. */
int list_parse(const char *text, int capacity, int64_t *to);

#endif
