#include "record/held.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_at(const json_t *tensor, uint64_t address)
{
	const char *record = json_string_value(json_object_get(tensor, "record"));

	return record && strtoull(record, NULL, 16) == address;
}

void lbx_add_held(json_t *held, const json_t *tensors, uint64_t address, json_t *variable, json_t *type)
{
	json_t *tensor;
	size_t i;

	json_array_foreach((json_t *)tensors, i, tensor)
	{
		if (!is_at(tensor, address))
			continue;
		json_t *told = json_copy(tensor);
		json_object_set(told, "variable", variable);
		if (type)
			json_object_set(told, "type", type);
		json_array_append_new(held, told);
	}
	json_decref(variable);
}
