/* For printer.py, which is called wherever gdb prints a value, as within a stop's frame: no command can run there, since commands
 * look at frames. So it calls this function, in gdb's own process; memory is read through what it gives. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/json.h"
#include "plugin/reads/target_gdb.h"
#include "table/table.h"

typedef int reader(uint64_t address, void *to, size_t n);

struct printed {
	struct lbx_target target;
	reader *reader;
	uint64_t root;
};

static bool read_by(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	return ((struct printed *)target)->reader(address, to, n) ||
	       lb_fail("memory at 0x%llx cannot be read", (unsigned long long)address);
}

static bool find_root(struct lbx_target *target, uint64_t *ret)
{
	*ret = ((struct printed *)target)->root;
	return true;
}

static bool tell(struct lbx_table *table, uint64_t record, char *ret, size_t size)
{
	struct lbx_tensor t;

	if (!lbx_tensors_by_address(lbx_table_tensors(table), record, &t))
		return false;
	json_t *object = lbx_json_tensor(&t);
	size_t n = object ? json_dumpb(object, ret, size - 1, 0) : 0;
	json_decref(object);
	ret[n < size ? n : 0] = '\0';
	return n > 0 && n < size;
}

/* What `tensor info` says first of the runtime's tensor with this record, as JSON. 0: it is none's. */
__attribute__((visibility("default"))) int lazybones_tell(reader *reader, uint64_t record, char *ret, size_t size);

int lazybones_tell(reader *reader, uint64_t record, char *ret, size_t size)
{
	static const struct lbx_target_ops ops = { .read = read_by, .find_root = find_root };
	struct printed printed = { .target.ops = &ops, .reader = reader };
	bool found = false;

	for (int i = 0; size && !found && lbx_target_gdb_root(i, &printed.root); i++) {
		struct lbx_table *table = NULL;
		bool clean = lb_ok();
		found = lbx_table_create(&printed.target, &table) && tell(table, record, ret, size);
		lbx_table_destroy(table);
		if (clean)
			lb_clear_error();
	}
	return found;
}
