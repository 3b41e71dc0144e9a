#include "replay/result.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "replay/wire.h"

bool lbx_append_result(lb_tensor *x, uint64_t end, uint64_t *ret_at, uint64_t *nbytes)
{
	uint64_t at = (end + LBX_WIRE_ALIGN - 1) & ~(uint64_t)(LBX_WIRE_ALIGN - 1);
	uint64_t n = (uint64_t)lb_nbytes(x), page = 4096, from = at & ~(page - 1);

	*ret_at = at;
	*nbytes = n;
	if (n == 0)
		return true;
	if (ftruncate(LBX_WIRE_FD, (off_t)(at + n)) != 0)
		return lb_fail("no room for the result's %llu bytes", (unsigned long long)n);
	char *map = mmap(NULL, at + n - from, PROT_READ | PROT_WRITE, MAP_SHARED, LBX_WIRE_FD, (off_t)from);
	if (map == MAP_FAILED)
		return lb_fail("no room for the result's %llu bytes", (unsigned long long)n);
	return lb_copy_out(x, map + (at - from), n);
}
