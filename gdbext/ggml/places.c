/* A buffer begins with functions of its own; behind them, at a place that changes with the version, it leads to its
 * type, whose first function gives the type's name: by the code of that function it is known. Behind that come, in all
 * versions, a pointer, the size, and what the buffer is used for (struct ggml_backend_buffer). */
#include "ggml/places.h"

#include <string.h>

#include "target/code.h"

enum { WORDS = 16, SIZE = 2, USAGE = 3 /* words behind the type */ };

static void measure(const struct lbx_ggml_places *p, uint64_t type_at, struct lbx_ggml_buffer *ret)
{
	uint32_t usage;

	if (!lbx_target_try_read(p->target, type_at + SIZE * sizeof(uint64_t), &ret->size, sizeof ret->size) ||
	    ret->size > INT64_MAX)
		ret->size = 0;
	if (p->tells_usage &&
	    lbx_target_try_read(p->target, type_at + USAGE * sizeof(uint64_t), &usage, sizeof usage) &&
	    usage < LBX_GGML_USAGE_UNKNOWN)
		ret->usage = (int)usage;
}

static bool read_type(const struct lbx_ggml_places *p, struct lbx_ggml_buffer *ret)
{
	uint64_t words[WORDS], function, text;

	for (size_t i = 0; i < WORDS; i++) {
		if (!lbx_target_try_read(p->target, ret->address + i * sizeof *words, &words[i], sizeof *words))
			return false;
		if (words[i] == 0 || words[i] % sizeof *words ||
		    lbx_loaded_is_code(p->modules, p->n_modules, words[i]) ||
		    !lbx_target_try_read(p->target, words[i], &function, sizeof function) ||
		    !lbx_loaded_is_code(p->modules, p->n_modules, function))
			continue;
		/* the first that leads to functions */
		if (!lbx_code_address(p->target, function, &text) ||
		    !lbx_target_try_read(p->target, text, ret->name, sizeof ret->name))
			return false;
		size_t n = strnlen(ret->name, sizeof ret->name);
		for (size_t k = 0; k < n; k++)
			if (ret->name[k] < ' ' || ret->name[k] > '~')
				return false;
		if (n == 0 || n == sizeof ret->name)
			return false;
		measure(p, ret->address + i * sizeof *words, ret);
		return true;
	}
	return false;
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

static enum lbx_ggml_place place_by_name(const char *name)
{
	static const char *const plain[] = { "CPU", "CPU_Mapped", "CPU_HBM" };

	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strcmp(name, plain[i]) == 0)
			return LBX_GGML_HOST;
	if (ends_with(name, "_Host"))
		return LBX_GGML_HOST;
	return strncmp(name, "CPU_", 4) == 0 || strncmp(name, "AMX", 3) == 0 ? LBX_GGML_REORDERED : LBX_GGML_ELSEWHERE;
}

const struct lbx_ggml_buffer *lbx_ggml_buffer(struct lbx_ggml_places *p, uint64_t address)
{
	static const struct lbx_ggml_buffer one_too_many = { .place = LBX_GGML_ELSEWHERE,
							     .usage = LBX_GGML_USAGE_UNKNOWN };
	int i;

	for (i = 0; i < p->n && p->list[i].address != address; i++)
		;
	if (i == LBX_GGML_PLACES)
		return &one_too_many;
	struct lbx_ggml_buffer *at = &p->list[i];
	if (i == p->n) {
		*at = (struct lbx_ggml_buffer){ .address = address,
						.place = LBX_GGML_ELSEWHERE,
						.usage = LBX_GGML_USAGE_UNKNOWN };
		if (read_type(p, at))
			at->place = place_by_name(at->name);
		else
			at->name[0] = '\0';
		p->n++;
	}
	return at;
}
