#include "replay/result.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/plural.h"
#include "replay/wire.h"

char *lbx_append_room(uint64_t end, uint64_t n, uint64_t *ret_at, uint64_t *nbytes)
{
	uint64_t at = (end + LBX_WIRE_ALIGN - 1) & ~(uint64_t)(LBX_WIRE_ALIGN - 1);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = at & ~(page - 1);
	char *map = MAP_FAILED;

	if (ftruncate(LBX_WIRE_FD, (off_t)(at + n)) == 0)
		map = mmap(NULL, at + n - from, PROT_READ | PROT_WRITE, MAP_SHARED, LBX_WIRE_FD, (off_t)from);
	if (map == MAP_FAILED) {
		lb_fail("no room for the result's %llu byte%s", (unsigned long long)n, LB_S(n));
		return NULL;
	}
	*ret_at = at;
	*nbytes = n;
	return map + (at - from);
}

bool lbx_append_result(lb_tensor *x, uint64_t end, uint64_t *ret_at, uint64_t *nbytes)
{
	uint64_t n = (uint64_t)lb_nbytes(x);

	*ret_at = end;
	*nbytes = n;
	if (n == 0)
		return true;
	char *to = lbx_append_room(end, n, ret_at, nbytes);
	return to && lb_copy_out(x, to, n);
}
