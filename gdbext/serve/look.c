#define _GNU_SOURCE
#include "serve/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "record/held.h"
#include "serve/place.h"

enum { MOST_ADDRESSES = 3000 };

bool lbx_look_at_frames(struct lbx_gdb *gdb, json_t **ret)
{
	struct lbx_gdb_answer answer;
	char command[64];

	snprintf(command, sizeof command, "-stack-list-frames 0 %d", LBX_FRAMES_AT_STOP - 1);
	if (!lbx_gdb_ask(gdb, LBX_GDB_FOR_EVER, &answer, command))
		return false;
	*ret = json_incref(json_object_get(answer.results, "stack"));
	lbx_gdb_answer_release(&answer);
	return *ret;
}

bool lbx_look_select(struct lbx_gdb *gdb, int level)
{
	struct lbx_gdb_answer answer;
	char command[64];

	snprintf(command, sizeof command, "-stack-select-frame %d", level);
	if (!lbx_gdb_ask(gdb, LBX_GDB_FOR_EVER, &answer, command))
		return false;
	lbx_gdb_answer_release(&answer);
	return true;
}

/* Addresses that variables of the selected frame hold, 0x7f3b30,0x7f3c10. The caller's; NULL: there are none. */
static char *addresses_of(const json_t *variables)
{
	char *ret = NULL;
	size_t i, room = 0, used = 0;
	json_t *each;

	json_array_foreach((json_t *)variables, i, each)
	{
		const char *type = lbx_mi_string(each, "type"), *value = lbx_mi_string(each, "value");
		size_t n = strspn(value, "0123456789abcdefx");
		if (!*type || type[strlen(type) - 1] != '*' || n < 3 || n > 18)
			continue;
		if (used + n + 2 > MOST_ADDRESSES || !lb_reserve(ret, room, used + n + 2))
			break;
		used += (size_t)sprintf(ret + used, "%s%.*s", used ? "," : "", (int)n, value);
	}
	return ret;
}

bool lbx_is_shadowed(const json_t *variables, const char *name)
{
	size_t i;
	json_t *each;
	int n = 0;

	json_array_foreach((json_t *)variables, i, each) n += strcmp(lbx_mi_string(each, "name"), name) == 0;
	return n > 1;
}

/* 0: it is none. */
static uint64_t pointer_of(const json_t *variable)
{
	const char *value = lbx_mi_string(variable, "value");
	size_t n = strspn(value, "0123456789abcdefx");

	return n > 2 && value[1] == 'x' && (!value[n] || value[n] == ' ') ? strtoull(value, NULL, 16) : 0;
}

bool lbx_variable_holds(const json_t *variable, const char *address)
{
	const char *value = lbx_mi_string(variable, "value");
	size_t n = strlen(address);

	return n > 0 && strncmp(value, address, n) == 0 && (!value[n] || value[n] == ' ');
}

/* Each tensor that a variable points to, with the variable's name, and, where no other has that, its type. */
static json_t *by_variable(const json_t *variables, const json_t *tensors)
{
	json_t *ret = json_array(), *variable;
	size_t i;

	json_array_foreach((json_t *)variables, i, variable)
	{
		json_t *name = json_object_get(variable, "name"), *type = json_object_get(variable, "type");
		uint64_t address = pointer_of(variable);
		if (address)
			lbx_add_held(ret, tensors, address, json_incref(name),
				     lbx_is_shadowed(variables, lbx_mi_string(variable, "name")) ? NULL : type);
	}
	return ret;
}

json_t *lbx_look_at_tensors(struct lbx_gdb *gdb)
{
	struct lbx_gdb_answer answer;
	json_t *told = NULL, *ret = NULL;
	lb_auto_free char *text = NULL, *line = NULL;
	size_t n;

	if (!lbx_gdb_ask(gdb, LBX_GDB_FOR_EVER, &answer, "-stack-list-variables --simple-values"))
		return NULL;
	const json_t *variables = json_object_get(answer.results, "variables");
	lb_auto_free char *addresses = addresses_of(variables);
	if (addresses && asprintf(&line, "list --handles=%s --digest=%d", addresses, LBX_READ_AT_STOP) > 0 &&
	    lbx_gdb_tensor(gdb, LBX_GDB_FOR_EVER, line, &text, &n))
		told = json_loadb(text, n, 0, NULL);
	const json_t *tensors = json_object_get(told, "tensors");
	if (json_array_size(tensors) > 0)
		ret = by_variable(variables, tensors);
	json_decref(told);
	lbx_gdb_answer_release(&answer);
	return ret;
}

json_t *lbx_look_at_frame(struct lbx_gdb *gdb)
{
	struct lbx_gdb_answer answer;

	if (!lbx_gdb_ask(gdb, LBX_GDB_FOR_EVER, &answer, "-stack-info-frame"))
		return NULL;
	json_t *place = lbx_place_of(json_object_get(answer.results, "frame"));
	lbx_gdb_answer_release(&answer);
	return place;
}
