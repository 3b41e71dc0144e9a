#include "manifest.h"

#include <stdlib.h>
#include <string.h>

bool args_parse(char *text, char separator, struct args *ret)
{
	char separators[] = { separator, 0 }, *rest;
	ret->n = 0;
	for (char *word = strtok_r(text, separators, &rest); word; word = strtok_r(NULL, separators, &rest)) {
		char *equals = strchr(word, '=');
		if (!equals || ret->n == CASE_WORDS)
			return false;
		*equals = 0;
		ret->words[ret->n].key = word;
		ret->words[ret->n++].value = equals + 1;
	}
	return true;
}

bool case_parse(char *line, struct test_case *ret)
{
	char *rest;
	line[strcspn(line, "\n")] = 0;
	ret->name = strtok_r(line, " ", &rest);
	ret->op = strtok_r(NULL, " ", &rest);
	ret->n_inputs = 0;
	if (!ret->name || !ret->op || !args_parse(rest, ' ', &ret->args))
		return false;
	for (int i = 0; i < ret->args.n; i++) {
		if (strcmp(ret->args.words[i].key, "in") != 0)
			continue;
		if (ret->n_inputs == CASE_INPUTS)
			return false;
		ret->inputs[ret->n_inputs++] = ret->args.words[i].value;
	}
	return true;
}

const char *args_find(const struct args *args, const char *key)
{
	for (int i = 0; i < args->n; i++)
		if (strcmp(args->words[i].key, key) == 0)
			return args->words[i].value;
	return NULL;
}

int64_t args_int(const struct args *args, const char *key, int64_t otherwise)
{
	const char *value = args_find(args, key);
	return value ? strtoll(value, NULL, 10) : otherwise;
}

double args_double(const struct args *args, const char *key, double otherwise)
{
	const char *value = args_find(args, key);
	return value ? strtod(value, NULL) : otherwise;
}

lb_dtype args_dtype(const struct args *args)
{
	const char *value = args_find(args, "dtype");
	for (int d = 0; value && d < LB_DTYPES; d++)
		if (strcmp(lb_dtype_name((lb_dtype)d), value) == 0)
			return (lb_dtype)d;
	return LB_DTYPES;
}

int list_parse(const char *text, int capacity, int64_t *to)
{
	int n = 0;
	if (strcmp(text, "all") == 0)
		return -1;
	if (strcmp(text, "none") == 0)
		return 0;
	for (char *end; n < capacity; text = end + 1) {
		to[n++] = strtoll(text, &end, 10);
		if (*end != ',')
			break;
	}
	return n;
}

lb_list args_list(const struct args *args, const char *key, int64_t *to)
{
	const char *value = args_find(args, key);
	return (lb_list){ value ? list_parse(value, LB_MAX_RANK, to) : -1, to };
}
