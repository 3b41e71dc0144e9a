#include "regions.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static struct regions *regions_of(struct lbx_target *target)
{
	return (struct regions *)target;
}

static bool regions_read(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	const void *from = regions_at(regions_of(target), address, n);

	regions_of(target)->reads++;
	if (!from)
		return lb_fail("no memory at 0x%llx", (unsigned long long)address);
	memcpy(to, from, n);
	return true;
}

static const void *regions_map(struct lbx_target *target, uint64_t address, size_t n)
{
	return regions_of(target)->maps ? regions_at(regions_of(target), address, n) : NULL;
}

static bool regions_headers(struct lbx_target *target, uint64_t *ret, uint64_t *ret_n)
{
	*ret = regions_of(target)->headers;
	*ret_n = regions_of(target)->n_headers;
	return true;
}

static bool regions_range(struct lbx_target *target, uint64_t from, struct lbx_range *ret)
{
	const struct regions *regions = regions_of(target);

	for (int i = 0; i < regions->n; i++) {
		const struct region *region = &regions->list[i];
		uint64_t start = region->address + region->constant, end = region->address + region->size;
		if (end <= from || start == end)
			continue;
		ret->start = start > from ? start : from;
		ret->size = end - ret->start;
		return true;
	}
	return false;
}

static bool regions_machine(struct lbx_target *target, unsigned *ret)
{
	*ret = ((const struct regions *)target)->machine;
	return true;
}

static bool regions_find_root(struct lbx_target *target, uint64_t *ret)
{
	(void)target;
	(void)ret;
	return lb_fail("the program has no Lazybones runtime");
}

static const struct lbx_target_ops ops = {
	.read = regions_read,
	.find_root = regions_find_root,
	.map = regions_map,
	.headers = regions_headers,
	.range = regions_range,
	.machine = regions_machine,
};

void regions_create(struct regions *regions, uint64_t headers, uint64_t n_headers)
{
	*regions = (struct regions){ .target = { .ops = &ops, .liveness = LBX_LIVE },
				     .headers = headers,
				     .n_headers = n_headers,
				     .machine = EM_X86_64 };
}

void regions_destroy(struct regions *regions)
{
	for (int i = 0; i < regions->n; i++)
		free(regions->list[i].bytes);
}

void regions_add(struct regions *regions, uint64_t address, uint64_t size, uint64_t constant)
{
	unsigned char *bytes = calloc(1, size);

	if (!bytes || regions->n == REGIONS_MAX)
		abort();
	regions->list[regions->n++] = (struct region){ address, size, constant, bytes };
}

void *regions_at(struct regions *regions, uint64_t address, uint64_t n)
{
	for (int i = 0; i < regions->n; i++) {
		uint64_t at = address - regions->list[i].address;
		if (at <= regions->list[i].size && n <= regions->list[i].size - at)
			return regions->list[i].bytes + at;
	}
	return NULL;
}

void regions_copy(struct regions *regions, uint64_t address, const void *from, size_t n)
{
	void *to = regions_at(regions, address, n);

	if (!to)
		abort();
	memcpy(to, from, n);
}

void regions_put(struct regions *regions, uint64_t address, uint64_t value, size_t width)
{
	regions_copy(regions, address, &value, width);
}

uint64_t regions_get(struct regions *regions, uint64_t address, size_t width)
{
	const void *from = regions_at(regions, address, width);
	uint64_t value = 0;

	if (!from)
		abort();
	memcpy(&value, from, width);
	return value;
}

uint64_t regions_text(struct regions *regions, uint64_t *at, const char *text)
{
	uint64_t found = *at;

	regions_copy(regions, found, text, strlen(text) + 1);
	*at += strlen(text) + 1;
	return found;
}
