#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "eval/code.h"

#include <sys/mman.h>
#include <unistd.h>

#include "eval/encode.h"

bool lb_code_known(void)
{
	return lb_encoding_own->call_bytes > 0;
}

size_t lb_code_offset(uint32_t i)
{
	return lb_encoding_offset(lb_encoding_own, i);
}

size_t lb_code_bytes(uint32_t n)
{
	return lb_encoding_bytes(lb_encoding_own, n);
}

static lb_code *seal(void *pages, size_t capacity)
{
	if (mprotect(pages, capacity, PROT_READ | PROT_EXEC) != 0) {
		munmap(pages, capacity);
		return NULL;
	}
	__builtin___clear_cache(pages, (char *)pages + capacity);
	return (lb_code *)pages;
}

lb_code *lb_code_make(uint32_t n, size_t *capacity)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!lb_code_known())
		return NULL;
	*capacity = (lb_code_bytes(n) + page - 1) / page * page;
	void *pages = mmap(NULL, *capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return NULL;
	lb_encode(lb_encoding_own, pages, n);
	return seal(pages, *capacity);
}

lb_code *lb_code_remake(lb_code *code, size_t capacity, uint32_t n)
{
	if (lb_code_bytes(n) > capacity || mprotect((void *)code, capacity, PROT_READ | PROT_WRITE) != 0) {
		lb_code_free(code, capacity);
		return NULL;
	}
	lb_encode(lb_encoding_own, (void *)code, n);
	return seal((void *)code, capacity);
}

void lb_code_free(lb_code *code, size_t capacity)
{
	if (code)
		munmap((void *)code, capacity);
}
