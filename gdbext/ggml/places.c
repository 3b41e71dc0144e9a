/* A buffer begins with functions of its own; behind them, at a place that changes with the version, it leads to its
 * type, whose first function gives the type's name: by the code of that function it is known. */
#include "ggml/places.h"

#include <string.h>

#include "ggml/code.h"

enum { WORDS = 16 };

static bool is_code(const struct lbx_ggml_places *p, uint64_t address)
{
	for (int i = 0; i < p->n_modules; i++) {
		const struct lbx_segment *s = lbx_loaded_segment_at(&p->modules[i], address);
		if (s)
			return s->executable;
	}
	return false;
}

static bool name_of(const struct lbx_ggml_places *p, uint64_t buffer, char ret[LBX_GGML_PLACE_NAME])
{
	uint64_t words[WORDS], function, text;

	for (size_t i = 0; i < WORDS; i++) {
		if (!lbx_target_try_read(p->target, buffer + i * sizeof *words, &words[i], sizeof *words))
			return false;
		if (words[i] == 0 || words[i] % sizeof *words || is_code(p, words[i]) ||
		    !lbx_target_try_read(p->target, words[i], &function, sizeof function) || !is_code(p, function))
			continue;
		/* the first that leads to functions */
		if (!lbx_code_address(p->target, function, &text) ||
		    !lbx_target_try_read(p->target, text, ret, LBX_GGML_PLACE_NAME))
			return false;
		size_t n = strnlen(ret, LBX_GGML_PLACE_NAME);
		for (size_t k = 0; k < n; k++)
			if (ret[k] < ' ' || ret[k] > '~')
				return false;
		return n > 0 && n < LBX_GGML_PLACE_NAME;
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
	if (strcmp(name, "CPU") == 0 || strcmp(name, "CPU_Mapped") == 0 || ends_with(name, "_Host"))
		return LBX_GGML_HOST;
	return strncmp(name, "CPU_", 4) == 0 || strncmp(name, "AMX", 3) == 0 ? LBX_GGML_REORDERED : LBX_GGML_ELSEWHERE;
}

enum lbx_ggml_place lbx_ggml_place(struct lbx_ggml_places *p, uint64_t buffer, const char **ret_name)
{
	int i;

	*ret_name = NULL;
	for (i = 0; i < p->n && p->list[i].buffer != buffer; i++)
		;
	if (i == LBX_GGML_PLACES)
		return LBX_GGML_ELSEWHERE;
	struct lbx_ggml_place_of *at = &p->list[i];
	if (i == p->n) {
		*at = (struct lbx_ggml_place_of){ .buffer = buffer, .place = LBX_GGML_ELSEWHERE };
		if (name_of(p, buffer, at->name))
			at->place = place_by_name(at->name);
		else
			at->name[0] = '\0';
		p->n++;
	}
	*ret_name = at->name[0] ? at->name : NULL;
	return at->place;
}
