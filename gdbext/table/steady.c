/* The cache takes one page of records at one moment and the next at another, and while it takes one the
 * program goes on: what it has of a record may be of two moments. What makes no sense there is read once more, alone, and is
 * believed when the record's sequence number (publish/records.h) says that nobody wrote meanwhile.
 *
 * A thread that was interrupted while it wrote leaves an odd number for as long as it waits for a processor:
 * that is waited for, up to MOST_NAPS in one walk over the table. A number that stays odd has been overwritten. */
#include "table/steady.h"

#include <string.h>
#include <time.h>

#include "base/error.h"

enum { TRIES = 64, MOST_NAPS = 200 };

/* Both kinds of record that are read so begin with it, but the program's may lie elsewhere. */
static bool sequence(struct lbx_table *table, enum lb_kind kind, uint64_t address, uint32_t *ret)
{
	_Static_assert(offsetof(struct lbx_tensor_record, seq) == offsetof(struct lbx_buffer_record, seq), "");
	const struct lbx_layout *layout = &table->slabs[kind].layout;

	*ret = 0;
	for (int i = 0; i < layout->n; i++) {
		const struct lbx_column *c = &layout->columns[i];
		if (c->to == offsetof(struct lbx_tensor_record, seq))
			return lbx_target_read(table->target, address + c->from, ret,
					       c->from_width < sizeof *ret ? c->from_width : sizeof *ret);
	}
	return true;
}

static bool nap(struct lbx_table *table)
{
	if (table->naps >= MOST_NAPS)
		return false;
	table->naps++;
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	return true;
}

enum lbx_steady lbx_table_read_steady(struct lbx_table *table, enum lb_kind kind, uint64_t address, void *ret)
{
	const struct lbx_slab *slab = &table->slabs[kind];
	unsigned char bytes[LBX_RECORD_MAX];
	uint32_t before, after;

	for (int i = 0; i < TRIES;) {
		if (!sequence(table, kind, address, &before))
			return LBX_LOST;
		if (before & 1) {
			if (nap(table))
				continue;
			lb_fail("the record at 0x%llx is damaged: it keeps being changed", (unsigned long long)address);
			return LBX_LOST;
		}
		if (!lbx_target_read(table->target, address, bytes, slab->record_size) ||
		    !sequence(table, kind, address, &after))
			return LBX_LOST;
		if (before == after) {
			lbx_layout_decode(&slab->layout, bytes, ret);
			return LBX_STEADY;
		}
		i++;
	}
	return LBX_CHANGING;
}

uint32_t lbx_table_sequence(struct lbx_table *table, enum lb_kind kind, uint64_t address)
{
	uint32_t now;
	bool clean = lb_ok();

	if (!sequence(table, kind, address, &now))
		now = 0;
	if (clean)
		lb_clear_error();
	return now;
}
