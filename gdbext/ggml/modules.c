#include "ggml/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "target/demangle.h"
#include "target/printable.h"

enum { MODULE_NAME = 64, FUNCTION_NAME = 96 };

/* What makes a graph, or computes one. */
static bool is_maker(const char *name)
{
	return strncmp(name, "ggml_build_forward", 18) == 0 || strncmp(name, "ggml_build_backward", 19) == 0 ||
	       strncmp(name, "ggml_new_graph", 14) == 0 || strncmp(name, "ggml_opt_", 9) == 0 ||
	       (strncmp(name, "ggml_", 5) == 0 && strstr(name, "graph_compute"));
}

static bool makes_graphs(const struct lbx_exports *exports)
{
	char name[LBX_EXPORT_NAME];

	for (size_t i = 0; i < exports->n_imports; i++)
		if (lbx_exports_import(exports, i, name) && is_maker(name))
			return true;
	return false;
}

static enum lbx_ggml_role role_of(const struct lbx_ggml_modules *all, int i, const struct lbx_ggml_anchor *anchor)
{
	const struct lbx_loaded *m = &all->list[i];
	uint64_t at;

	if (m->headers == anchor->module.headers || lbx_loaded_symbol(all->target, m, "ggml_graph_compute", &at))
		return i == 0 ? LBX_GGML_ROLE_WITHIN : LBX_GGML_ROLE_OWNER;
	return i > 0 && makes_graphs(&all->exports[i]) ? LBX_GGML_ROLE_USER : LBX_GGML_ROLE_OTHER;
}

static bool find_roles(const struct lbx_ggml_modules *m, const struct lbx_ggml_anchor *anchor)
{
	for (int i = 0; i < m->n; i++) {
		if (!lbx_exports_open(m->target, &m->list[i], &m->exports[i]) && !lb_ok())
			return false;
		m->roles[i] = role_of(m, i, anchor);
		if (m->roles[i] == LBX_GGML_ROLE_OTHER)
			lbx_exports_close(&m->exports[i]);
	}
	return true;
}

bool lbx_ggml_modules_open(struct lbx_target *target, struct lbx_stacks *stacks, const struct lbx_loaded *list, int n,
			   const struct lbx_ggml_anchor *anchor, struct lbx_ggml_modules *ret)
{
	*ret = (struct lbx_ggml_modules){ .target = target, .stacks = stacks, .list = list, .n = n };
	ret->roles = calloc((size_t)n, sizeof *ret->roles);
	ret->exports = calloc((size_t)n, sizeof *ret->exports);
	return ((ret->roles && ret->exports) || lb_fail("out of memory for %d modules", n)) && find_roles(ret, anchor);
}

void lbx_ggml_modules_close(struct lbx_ggml_modules *modules)
{
	for (int i = 0; i < modules->n && modules->exports; i++)
		lbx_exports_close(&modules->exports[i]);
	free(modules->roles);
	free(modules->exports);
	*modules = (struct lbx_ggml_modules){ .n = 0 };
}

void lbx_ggml_locate(const struct lbx_ggml_modules *m, const struct lbx_frame *frame, struct lbx_ggml_location *ret)
{
	struct lbx_source_line line;

	*ret = (struct lbx_ggml_location){ .module = lbx_loaded_at(m->list, m->n, lbx_frame_code(frame)),
					   .role = LBX_GGML_ROLE_OTHER };
	if (ret->module < 0 || m->roles[ret->module] == LBX_GGML_ROLE_OTHER)
		return;
	ret->role = m->roles[ret->module];
	ret->is_exported = lbx_exports_function(&m->exports[ret->module], lbx_frame_code(frame), ret->name);
	if (!ret->is_exported && m->stacks->ops->line(m->stacks, frame, &line))
		snprintf(ret->name, sizeof ret->name, "%s", line.function);
}

bool lbx_ggml_is_of_library(const char *name)
{
	static const char *const begins[] = { "ggml_", "gguf_", "llama_", "llm_", "whisper_", "mtmd_", "clip_" };

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static bool is_of_ggml(const char *name)
{
	return strncmp(name, "ggml_", 5) == 0;
}

bool lbx_ggml_may_begin_worker(const struct lbx_ggml_modules *m, const struct lbx_frame *frame,
			       const struct lbx_ggml_location *place)
{
	char before[LBX_EXPORT_NAME], after[LBX_EXPORT_NAME];

	if (place->role == LBX_GGML_ROLE_USER || place->is_exported)
		return false;
	lbx_exports_neighbours(&m->exports[place->module], lbx_frame_code(frame), before, after);
	return is_of_ggml(before) && is_of_ggml(after);
}

void lbx_ggml_describe_location(const struct lbx_ggml_modules *m, const struct lbx_ggml_location *place,
				char ret[LBX_GGML_LOCATION])
{
	char name[FUNCTION_NAME], module[MODULE_NAME];

	lbx_demangle(place->name, name, sizeof name);
	lbx_loaded_file(m->target, m->list[place->module].name, module, sizeof module);
	snprintf(ret, LBX_GGML_LOCATION, "%s%s%s%s",
		 name[0]     ? name
		 : module[0] ? module
			     : "ggml",
		 name[0] && module[0] ? " (" : "", name[0] ? module : "", name[0] && module[0] ? ")" : "");
	lbx_make_printable(ret);
}

bool lbx_ggml_exports_calls(const struct lbx_ggml_modules *m, int module)
{
	uint64_t at;

	return lbx_loaded_symbol(m->target, &m->list[module], "ggml_graph_compute", &at);
}
