#include "tensors/alike.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lbx_alike_init(struct lbx_alike *a)
{
	for (size_t i = strlen(a->name); i-- > 0;) {
		size_t n = strspn(a->name + i + 1, "0123456789");
		if (a->name[i] != '[' || n == 0 || n > 9 || a->name[i + 1 + n] != ']')
			continue;
		a->at = i + 1;
		a->end = i + 1 + n;
		a->index = strtoull(a->name + a->at, NULL, 10);
		return;
	}
}

static int by_front(const void *a, const void *b)
{
	const struct lbx_alike *x = a, *y = b;
	int by = strncmp(x->name, y->name, x->at < y->at ? x->at : y->at);

	if (by == 0 && x->at != y->at)
		by = x->at < y->at ? -1 : 1;
	if (by == 0)
		by = strcmp(x->name + x->end, y->name + y->end);
	return by ? by : (x->index > y->index) - (x->index < y->index);
}

void lbx_alike_sort(struct lbx_alike *list, size_t n)
{
	if (n)
		qsort(list, n, sizeof *list, by_front);
}

static bool are_alike(const struct lbx_alike *x, const struct lbx_alike *y)
{
	return x->at && x->at == y->at && strncmp(x->name, y->name, x->at) == 0 &&
	       strcmp(x->name + x->end, y->name + y->end) == 0;
}

size_t lbx_alike_count(const struct lbx_alike *list, size_t n)
{
	size_t count = 1;

	while (count < n && are_alike(&list[0], &list[count]))
		count++;
	return count;
}

void lbx_alike_name(const struct lbx_alike *list, size_t n, char *ret, size_t size)
{
	const struct lbx_alike *first = list, *last = &list[n - 1];

	if (n == 1)
		snprintf(ret, size, "%s", first->name);
	else
		snprintf(ret, size, "%.*s%" PRIu64 "…%" PRIu64 "%s", (int)first->at, first->name, first->index,
			 last->index, first->name + first->end);
}
