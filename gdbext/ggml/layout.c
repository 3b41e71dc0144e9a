#include "ggml/layout.h"

#include "target/code.h"

enum { OBJECT = 0x20 /* struct ggml_object, which lies in front of each tensor */, USUAL_NAME = 64 };

static const struct lbx_ggml_layout rows[] = {
	{ .since = "2024-11-16",
	  .size = 0x150,
	  .sources = 0x98,
	  .view_source = 0xe8,
	  .view_offset = 0xf0,
	  .data = 0xf8,
	  .name = 0x100,
	  .extra = 0x140,
	  .name_max = USUAL_NAME },
	{ .since = "2024-06-26",
	  .size = 0x150,
	  .sources = 0xa0,
	  .view_source = 0xf0,
	  .view_offset = 0xf8,
	  .data = 0x100,
	  .name = 0x108,
	  .extra = 0x148,
	  .name_max = USUAL_NAME },
	{ .since = "2023-12-22",
	  .size = 0x170,
	  .sources = 0xa0,
	  .view_source = 0x108,
	  .view_offset = 0x110,
	  .data = 0x118,
	  .name = 0x120,
	  .extra = 0x160,
	  .name_max = USUAL_NAME },
};

const struct lbx_ggml_layout *lbx_ggml_layout(size_t i)
{
	return i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}

bool lbx_ggml_layout_of_size(const struct lbx_ggml_layout *layout, uint64_t size, struct lbx_ggml_layout *ret)
{
	uint64_t name_max = layout->name_max + size - layout->size; /* wraps where names are shorter */

	*ret = *layout;
	if (name_max < 16 || name_max > LBX_GGML_NAME_MAX || name_max % 8 || size > LBX_GGML_RECORD_MAX)
		return false;
	ret->size = (uint32_t)size;
	ret->name_max = (uint32_t)name_max;
	ret->extra = layout->name + (uint32_t)name_max;
	return true;
}

static bool by_code(struct lbx_target *target, const struct lbx_loaded *m, const char *name,
		    bool (*decode)(struct lbx_target *, uint64_t, uint64_t *), uint64_t *ret)
{
	uint64_t at;

	return lbx_loaded_symbol(target, m, name, &at) && decode(target, at, ret);
}

bool lbx_ggml_layout_by_code(struct lbx_target *target, const struct lbx_loaded *m, struct lbx_ggml_layout *ret)
{
	uint64_t overhead, name, data;

	if (!by_code(target, m, "ggml_tensor_overhead", lbx_code_number, &overhead) ||
	    !by_code(target, m, "ggml_get_name", lbx_code_member, &name) ||
	    !by_code(target, m, "ggml_get_data", lbx_code_load, &data))
		return false;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].name == name && rows[i].data == data)
			return lbx_ggml_layout_of_size(&rows[i], overhead - OBJECT, ret);
	return false;
}
