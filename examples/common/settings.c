#include "common/settings.h"

#include <stdio.h>

#include "common/named.h"

json_t *settings_load(const char *folder, const char *name)
{
	char path[4096];
	json_error_t error;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	json_t *root = json_load_file(path, 0, &error);
	if (!root)
		complain("%s: %s", path, error.text);
	return root;
}

int64_t settings_whole(const json_t *settings, const char *name, int64_t otherwise)
{
	json_t *value = json_object_get(settings, name);

	return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

double settings_real(const json_t *settings, const char *name, double otherwise)
{
	json_t *value = json_object_get(settings, name);

	return json_is_number(value) ? json_number_value(value) : otherwise;
}
