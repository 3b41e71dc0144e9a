#include "ggml/seen.h"

#include <stdio.h>
#include <string.h>

#include "ggml/asked.h"
#include "ggml/harmless.h"

bool lbx_ggml_waits_for_work(const struct lbx_ggml_modules *m, const struct lbx_stack *stack)
{
	static const char *const calls[] = {
		"pthread_cond_wait",
		"pthread_cond_timedwait",
		"pthread_cond_clockwait",
		"sem_wait",
		"sem_timedwait",
		"sem_clockwait",
		"pthread_join",
		"poll",
		"ppoll",
		"select",
		"pselect",
		"epoll_wait",
		"epoll_pwait",
		"accept",
		"accept4",
		"nanosleep",
		"clock_nanosleep",
	};
	struct lbx_source_line line;

	for (int i = 0; i < stack->n; i++) {
		int module = lbx_loaded_at(m->list, m->n, lbx_frame_code(&stack->frames[i]));
		if (module >= 0 && m->roles[module] != LBX_GGML_ROLE_OTHER)
			return false;
		if (!m->stacks->ops->line(m->stacks, &stack->frames[i], &line))
			continue;
		const char *name = line.function + strspn(line.function, "_");
		for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
			if (strcmp(name, calls[k]) == 0)
				return true;
	}
	return false;
}

/* Calls that compute, on whose stacks no worker is. */
static bool computes(const char *name)
{
	return strncmp(name, "ggml_backend_", 13) == 0 || strcmp(name, "ggml_graph_compute") == 0 ||
	       strcmp(name, "ggml_graph_compute_with_ctx") == 0;
}

/* Whether a frame may compute a node, or lead to that: functions within a library are what those do that it exports. */
static bool may_compute(const struct lbx_ggml_location *place)
{
	bool is_called = place->is_exported || place->role == LBX_GGML_ROLE_WITHIN;

	return is_called && lbx_ggml_is_of_library(place->name) && !lbx_ggml_is_harmless(place->name);
}

static const char given[] = "ggml_cpu_extra_compute_forward";

/* A thread that stands where that begins has come to a node, which is the second argument. */
static void look_at_given(const struct lbx_ggml_modules *m, const struct lbx_frame *innermost,
			  struct lbx_ggml_seen *ret)
{
	int module = lbx_loaded_at(m->list, m->n, innermost->pc);
	uint64_t at, arguments[3];

	if (strcmp(ret->innermost.name, given) != 0 || module < 0 ||
	    !lbx_loaded_symbol(m->target, &m->list[module], given, &at) || at != innermost->pc ||
	    !lbx_ggml_arguments(&innermost->registers, arguments))
		return;
	ret->forward = 0;
	ret->node = arguments[1];
}

/* From the outermost frame on: what is not the function for an operation, nor leads to that, may be the loop. */
static void look_at_forward(const struct lbx_stack *stack, int i, const struct lbx_ggml_location *place,
			    struct lbx_ggml_seen *ret)
{
	static const char forward[] = "ggml_compute_forward";
	size_t n = sizeof forward - 1;

	if (ret->forward >= 0 || stack->frames[i].is_inlined)
		return;
	if (strncmp(place->name, forward, n) == 0 && place->name[n] == '_') {
		ret->forward = i;
		snprintf(ret->function, sizeof ret->function, "%.*s", LBX_GGML_FUNCTION - 1, place->name + n + 1);
	} else if (strncmp(place->name, forward, n) != 0 && strcmp(place->name, given) != 0) {
		ret->loop = i;
	}
}

static void look_inside(const struct lbx_ggml_location *place, bool is_inlined, int i, struct lbx_ggml_seen *ret)
{
	ret->n += !is_inlined;
	if (!place->name[0])
		return;
	ret->innermost = *place;
	ret->is_at_barrier |= strncmp(place->name, "ggml_barrier", 12) == 0;
	ret->is_in_loop |= strncmp(place->name, "ggml_graph_compute_thread", 25) == 0;
	if (strcmp(place->name, "ggml_abort") == 0 && ret->gives_up < 0)
		ret->gives_up = i;
}

void lbx_ggml_look_at_stack(const struct lbx_ggml_modules *m, const struct lbx_stack *stack, struct lbx_ggml_seen *ret)
{
	bool is_of_program = false;
	struct lbx_ggml_location place;

	*ret = (struct lbx_ggml_seen){ .outermost.module = -1,
				       .is_harmless = true,
				       .forward = -1,
				       .loop = -1,
				       .innermost.module = -1,
				       .gives_up = -1 };
	for (int i = stack->n - 1; i >= 0; i--) {
		lbx_ggml_locate(m, &stack->frames[i], &place);
		ret->is_unnamed |= place.role == LBX_GGML_ROLE_WITHIN && !place.name[0];
		if (place.role == LBX_GGML_ROLE_OWNER || place.role == LBX_GGML_ROLE_WITHIN)
			look_at_forward(stack, i, &place, ret);
		if (place.role == LBX_GGML_ROLE_OTHER ||
		    (place.role == LBX_GGML_ROLE_WITHIN && !lbx_ggml_is_of_library(place.name))) {
			is_of_program |= place.module == 0;
			continue;
		}
		if (ret->outermost.module < 0) {
			ret->is_worker = !is_of_program && lbx_ggml_may_begin_worker(m, &stack->frames[i], &place);
			ret->caller = i + 1 < stack->n ? stack->frames[i + 1].pc : 0;
		}
		look_inside(&place, stack->frames[i].is_inlined, i, ret);
		if (ret->outermost.module < 0 || (!ret->outermost.is_exported && place.is_exported))
			ret->outermost = place;
		ret->is_of_library = ret->is_of_library || place.role == LBX_GGML_ROLE_USER ||
				     lbx_ggml_is_of_library(place.name) || !lbx_ggml_exports_calls(m, place.module);
		ret->is_worker = ret->is_worker && !computes(place.name);
		ret->computes |= computes(place.name);
		ret->is_harmless &= !may_compute(&place);
	}
	if (stack->n > 0 && ret->forward < 0 && ret->loop > 0)
		look_at_given(m, &stack->frames[0], ret);
	ret->is_harmless &= lbx_ggml_is_harmless(ret->outermost.name);
	ret->is_at_barrier |= ret->is_worker && ret->n == 1 && ret->is_in_loop; /* as it once was */
	ret->is_idle = ret->is_worker && ret->n == 1 && ret->forward < 0 && !ret->is_in_loop;
}
