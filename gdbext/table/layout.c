#include "table/layout.h"

#include <string.h>

#include "base/error.h"
#include "base/plural.h"

static const struct lb_field *find(const struct lb_field *fields, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strncmp(fields[i].name, name, sizeof fields[i].name) == 0)
			return &fields[i];
	return NULL;
}

static bool check(const char *what, const struct lbx_known_field *known, const struct lb_field *f, uint32_t record_size)
{
	bool power = f->width == 1 || f->width == 2 || f->width == 4 || f->width == 8;

	if (!power || f->width > known->width)
		return lb_fail("the symbol table's %s field '%s' is %u byte%s wide; "
			       "this reader takes at most %u",
			       what, known->name, f->width, LB_S(f->width), known->width);
	if (f->count == 0)
		return lb_fail("the symbol table's %s field '%s' has no elements", what, known->name);
	if (f->offset > record_size || (uint32_t)f->width * f->count > record_size - f->offset)
		return lb_fail("the symbol table's %s field '%s' lies outside the record "
			       "(offset %u, %u x %u byte%s, record of %u)",
			       what, known->name, f->offset, f->count, f->width, LB_S(f->width), record_size);
	return true;
}

bool lbx_layout_build(struct lbx_layout *layout, const struct lbx_known_record *known,
		      const struct lbx_described_record *described, bool (*is_needed)(const char *name))
{
	memset(layout, 0, sizeof *layout);
	layout->size = known->size;
	layout->same = described->size >= known->size;
	for (int i = 0; i < known->n && i < LBX_LAYOUT_FIELDS; i++) {
		const struct lbx_known_field *own = &known->fields[i];
		const struct lb_field *f = find(described->fields, described->n, own->name);
		if (!f) {
			if (is_needed(own->name))
				return lb_fail("the symbol table's %s records have no field '%s'" LBX_NO_FIELD,
					       known->name, own->name);
			layout->same = false;
			continue;
		}
		if (!check(known->name, own, f, described->size))
			return false;
		struct lbx_column *c = &layout->columns[layout->n++];
		c->from = f->offset;
		c->to = own->offset;
		c->from_width = (uint8_t)f->width;
		c->to_width = (uint8_t)own->width;
		c->count = f->count < own->count ? f->count : own->count;
		c->is_signed = own->is_signed;
		if (f->offset != own->offset || f->width != own->width || c->count != own->count)
			layout->same = false;
	}
	return true;
}

static uint64_t load(const char *from, unsigned width, bool is_signed)
{
	uint64_t value = 0;
	memcpy(&value, from, width);
	if (is_signed && width < 8) {
		unsigned shift = 64 - 8 * width;
		value = (uint64_t)((int64_t)(value << shift) >> shift);
	}
	return value;
}

void lbx_layout_decode(const struct lbx_layout *layout, const void *record, void *to)
{
	if (layout->same) {
		memcpy(to, record, layout->size);
		return;
	}
	memset(to, 0, layout->size);
	for (int i = 0; i < layout->n; i++) {
		const struct lbx_column *c = &layout->columns[i];
		for (unsigned k = 0; k < c->count; k++) {
			uint64_t value =
			    load((const char *)record + c->from + k * c->from_width, c->from_width, c->is_signed);
			memcpy((char *)to + c->to + k * c->to_width, &value, c->to_width);
		}
	}
}
