/* Who computes a graph, or is about to, has a frame in ggml, or in a library that makes graphs of it, such as libllama:
 * that is what the stacks tell, by their frames alone, since what else lies in a stack may be left from an earlier call.
 * The program's own code is not looked at: it is always within itself.
 *
 * ggml's workers have nothing but ggml's frames. They compute for a thread that waits for them in ggml, so they
 * need not be looked at.
 *
 * Where ggml is part of the program itself, its frames are told by their functions' names.
 *
 * An add-on, or a server in one library, has ggml among code of its own. There who waits for work to come is not within
 * ggml, unless a function of ggml's, or of a library with it, has called that: those are exported, and so have names. */
#include "ggml/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/harmless.h"
#include "target/demangle.h"
#include "target/exports.h"
#include "target/printable.h"

enum { MAX_THREADS = 4096, MODULE_NAME = 64, FUNCTION_NAME = 96, FRAME_MAX = 1 << 16 };

enum role {
	OTHER, /* it does nothing with ggml, or is the program */
	USER, /* it makes graphs */
	OWNER, /* it has ggml, or a part of it */
	WITHIN, /* the program itself, which has ggml */
};

struct search {
	struct lbx_target *target;
	struct lbx_stacks *stacks;
	const struct lbx_loaded *modules;
	int n_modules;
	enum role *roles;
	struct lbx_exports *exports; /* of those with a role, by module */
	struct lbx_ggml_running *ret;
};

/* ---- modules ---- */

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

static enum role role_of(struct search *s, int i, const struct lbx_ggml_anchor *anchor)
{
	const struct lbx_loaded *m = &s->modules[i];
	uint64_t at;

	if (m->headers == anchor->module.headers || lbx_loaded_symbol(s->target, m, "ggml_graph_compute", &at))
		return i == 0 ? WITHIN : OWNER;
	return i > 0 && makes_graphs(&s->exports[i]) ? USER : OTHER;
}

static bool find_roles(struct search *s, const struct lbx_ggml_anchor *anchor)
{
	for (int i = 0; i < s->n_modules; i++) {
		if (!lbx_exports_open(s->target, &s->modules[i], &s->exports[i]) && !lb_ok())
			return false;
		s->roles[i] = role_of(s, i, anchor);
		if (s->roles[i] == OTHER)
			lbx_exports_close(&s->exports[i]);
	}
	return true;
}

static int module_at(const struct search *s, uint64_t pc)
{
	for (int i = 0; i < s->n_modules; i++)
		if (lbx_loaded_segment_at(&s->modules[i], pc))
			return i;
	return -1;
}

/* "libllama.so"; "" where it has no name. */
static void name_of_module(const struct search *s, int i, char ret[MODULE_NAME])
{
	char path[4096];
	bool clean = lb_ok();

	ret[0] = '\0';
	if (s->modules[i].name && lbx_target_read_string(s->target, s->modules[i].name, path, sizeof path)) {
		const char *slash = strrchr(path, '/');
		snprintf(ret, MODULE_NAME, "%s", slash ? slash + 1 : path);
	}
	if (clean)
		lb_clear_error();
}

/* ---- frames ---- */

struct place {
	int module; /* -1: of none */
	enum role role;
	char name[LBX_EXPORT_NAME]; /* of its function; "" if not known */
	bool is_exported;
};

static uint64_t code_of(const struct lbx_frame *frame)
{
	return frame->pc - frame->after_call;
}

static void look_at_frame(struct search *s, const struct lbx_frame *frame, struct place *ret)
{
	struct lbx_source_line line;

	*ret = (struct place){ .module = module_at(s, code_of(frame)), .role = OTHER };
	if (ret->module < 0 || s->roles[ret->module] == OTHER)
		return;
	ret->role = s->roles[ret->module];
	ret->is_exported = lbx_exports_function(&s->exports[ret->module], code_of(frame), ret->name);
	if (!ret->is_exported && s->stacks->ops->line(s->stacks, frame, &line))
		snprintf(ret->name, sizeof ret->name, "%s", line.function);
}

/* Where ggml is part of the program, with its libraries. */
static bool is_of_library(const char *name)
{
	static const char *const begins[] = { "ggml_", "gguf_", "llama_", "llm_", "whisper_", "mtmd_", "clip_" };

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* Calls that compute, on whose stacks no worker is. */
static bool computes(const char *name)
{
	return strncmp(name, "ggml_backend_", 13) == 0 || strcmp(name, "ggml_graph_compute") == 0 ||
	       strcmp(name, "ggml_graph_compute_with_ctx") == 0;
}

/* Whether a frame may compute a node, or lead to that: functions within a library are what those do that it exports. */
static bool may_compute(const struct place *place)
{
	bool is_called = place->is_exported || place->role == WITHIN;

	return is_called && is_of_library(place->name) && !lbx_ggml_is_harmless(place->name);
}

static bool is_of_ggml(const char *name)
{
	return strncmp(name, "ggml_", 5) == 0;
}

/* Whether a frame may be that in which a worker begins: in a function that ggml does not export, among its own. Who else's
 * code is in one file with ggml has it elsewhere there. */
static bool may_begin_worker(const struct search *s, const struct lbx_frame *frame, const struct place *place)
{
	char before[LBX_EXPORT_NAME], after[LBX_EXPORT_NAME];

	if (place->role == USER || place->is_exported)
		return false;
	lbx_exports_neighbours(&s->exports[place->module], code_of(frame), before, after);
	return is_of_ggml(before) && is_of_ggml(after);
}

static bool is_unsure(struct search *s)
{
	s->ret->doing = LBX_GGML_UNSURE;
	lbx_make_printable(s->ret->why);
	return true;
}

/* The thread is in `place`. */
static bool is_within(struct search *s, uint64_t tid, const struct place *place)
{
	char name[FUNCTION_NAME], module[MODULE_NAME];

	lbx_demangle(place->name, name, sizeof name);
	name_of_module(s, place->module, module);
	snprintf(s->ret->why, sizeof s->ret->why, "thread %llu is in %s%s%s%s", (unsigned long long)tid,
		 name[0]     ? name
		 : module[0] ? module
			     : "ggml",
		 name[0] && module[0] ? " (" : "", name[0] ? module : "", name[0] && module[0] ? ")" : "");
	return is_unsure(s);
}

/* The words of a frame: its registers as far as they are known, and its part of the stack, which begins where that of the
 * frame within it ends. */
static bool take_words(struct search *s, const struct lbx_stack *stack, int i, uint64_t **words, size_t *n)
{
	const struct lbx_registers *r = &stack->frames[i].registers;
	uint64_t start = 0, end = stack->frames[i].cfa, *more;
	int within = i - 1;

	while (within >= 0 && stack->frames[within].is_inlined)
		within--;
	if (within >= 0)
		start = stack->frames[within].cfa;
	else if (!lbx_stack_pointer(r, &start))
		start = 0;
	size_t slots = start && end > start && end - start <= FRAME_MAX ? (size_t)(end - start) / sizeof *more : 0;
	more = realloc(*words, (*n + LBX_REGISTERS + slots) * sizeof *more);
	if (!more)
		return lb_fail("out of memory");
	*words = more;
	for (int k = 0; k < LBX_REGISTERS; k++)
		if (r->known >> k & 1)
			more[(*n)++] = r->r[k];
	if (slots && lbx_target_try_read(s->target, start, more + *n, slots * sizeof *more))
		*n += slots;
	return true;
}

/* Whether the innermost frames, before those in modules that have to do with ggml, wait for something to come: another
 * thread's work, a request, a moment. A lock, or a barrier, is none of these. */
static bool waits(struct search *s, const struct lbx_stack *stack)
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
		int module = module_at(s, code_of(&stack->frames[i]));
		if (module >= 0 && s->roles[module] != OTHER)
			return false;
		if (!s->stacks->ops->line(s->stacks, &stack->frames[i], &line))
			continue;
		const char *name = line.function + strspn(line.function, "_");
		for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
			if (strcmp(name, calls[k]) == 0)
				return true;
	}
	return false;
}

/* Of a stack: the outermost frame that counts, one with a name before one without; and what is known of all. */
struct seen {
	struct place outermost;
	bool is_worker; /* it begins in ggml, and has not called for a graph to be computed */
	bool computes; /* it has */
	bool is_of_library; /* a frame is of ggml, or of a library that uses it, or may be */
	bool is_harmless; /* all functions of libraries on it that are called by name leave graphs alone */
	bool is_unnamed; /* some of the program's frames have no name, where that would have to tell */
	int forward, loop; /* the frame of the function for a node's operation, and that which has called it; or -1 */
	char function[LBX_GGML_FUNCTION];
};

/* From the outermost frame on: what is not the function for an operation, nor leads to that, may be the loop. */
static void look_at_forward(const struct lbx_stack *stack, int i, const struct place *place, struct seen *ret)
{
	static const char forward[] = "ggml_compute_forward";
	size_t n = sizeof forward - 1;

	if (ret->forward >= 0 || stack->frames[i].is_inlined)
		return;
	if (strncmp(place->name, forward, n) == 0 && place->name[n] == '_') {
		ret->forward = i;
		snprintf(ret->function, sizeof ret->function, "%.*s", LBX_GGML_FUNCTION - 1, place->name + n + 1);
	} else if (strncmp(place->name, forward, n) != 0 &&
		   strcmp(place->name, "ggml_cpu_extra_compute_forward") != 0) {
		ret->loop = i;
	}
}

/* Whether what computes a graph is exported by a module, and so has a name on each stack that leads through it. */
static bool exports_calls(const struct search *s, int module)
{
	uint64_t at;

	return lbx_loaded_symbol(s->target, &s->modules[module], "ggml_graph_compute", &at);
}

static void look_at_stack(struct search *s, const struct lbx_stack *stack, struct seen *ret)
{
	bool is_of_program = false;
	struct place place;

	*ret = (struct seen){ .outermost.module = -1, .is_harmless = true, .forward = -1, .loop = -1 };
	for (int i = stack->n - 1; i >= 0; i--) {
		look_at_frame(s, &stack->frames[i], &place);
		ret->is_unnamed |= place.role == WITHIN && !place.name[0];
		if (place.role == OWNER || place.role == WITHIN)
			look_at_forward(stack, i, &place, ret);
		if (place.role == OTHER || (place.role == WITHIN && !is_of_library(place.name))) {
			is_of_program |= place.module == 0;
			continue;
		}
		if (ret->outermost.module < 0)
			ret->is_worker = !is_of_program && may_begin_worker(s, &stack->frames[i], &place);
		if (ret->outermost.module < 0 || (!ret->outermost.is_exported && place.is_exported))
			ret->outermost = place;
		ret->is_of_library = ret->is_of_library || place.role == USER || is_of_library(place.name) ||
				     !exports_calls(s, place.module);
		ret->is_worker = ret->is_worker && !computes(place.name);
		ret->computes |= computes(place.name);
		ret->is_harmless &= !may_compute(&place);
	}
	ret->is_harmless &= lbx_ggml_is_harmless(ret->outermost.name);
}

static bool add_teller(struct search *s, const struct lbx_stack *stack, const struct seen *seen)
{
	struct lbx_ggml_running *r = s->ret;
	struct lbx_ggml_teller t = { .n_own = 0 }, *more;

	more = realloc(r->tellers, (size_t)(r->n_tellers + 1) * sizeof *more);
	if (!more)
		return lb_fail("out of memory");
	r->tellers = more;
	memcpy(t.function, seen->function, sizeof t.function);
	bool ok = take_words(s, stack, seen->loop, &t.own, &t.n_own);
	for (int i = seen->forward; ok && i < seen->loop; i++)
		ok = take_words(s, stack, i, &t.inner, &t.n_inner);
	r->tellers[r->n_tellers++] = t;
	return ok;
}

/* ---- threads ---- */

/* False only without memory. */
static bool judge(struct search *s, uint64_t tid, const struct lbx_stack *stack)
{
	bool is_whole = stack->n > 0 && !stack->cut && !stack->damaged && !stack->left_out && !stack->end[0];
	char *why = s->ret->why;
	struct seen seen;

	look_at_stack(s, stack, &seen);
	if (seen.forward >= 0 && seen.loop > seen.forward && !add_teller(s, stack, &seen))
		return false;
	bool counts = seen.outermost.module >= 0 && !seen.is_worker;
	bool is_at_rest = is_whole && (seen.is_harmless || (!seen.is_of_library && waits(s, stack)));
	if (counts && !is_at_rest) {
		bool is_first = s->ret->doing == LBX_GGML_RESTS;
		if (is_first)
			is_within(s, tid, &seen.outermost);
		s->ret->doing = is_first && seen.computes ? LBX_GGML_COMPUTES : LBX_GGML_UNSURE;
	} else if (!is_whole) {
		snprintf(why, LBX_GGML_WHY, "where thread %llu comes from is not known%s%.120s",
			 (unsigned long long)tid, stack->end[0] ? ": " : "", stack->end);
		is_unsure(s);
	} else if (seen.is_unnamed) {
		snprintf(
		    why, LBX_GGML_WHY,
		    "ggml is part of the program, whose functions have no names: what thread %llu does is not known",
		    (unsigned long long)tid);
		is_unsure(s);
	}
	return true;
}

static bool look_at_thread(struct search *s, uint64_t tid)
{
	struct lbx_stack stack;
	bool clean = lb_ok();

	if (!s->stacks->ops->walk(s->stacks, tid, LBX_FRAMES_MAX, 0, &stack)) {
		snprintf(s->ret->why, sizeof s->ret->why, "the stack of thread %llu cannot be read: %.120s",
			 (unsigned long long)tid, lb_error_message());
		if (clean)
			lb_clear_error();
		return is_unsure(s);
	}
	bool ok = judge(s, tid, &stack);
	lbx_stack_release(&stack);
	return ok;
}

static bool look_at_threads(struct search *s)
{
	lb_auto_free uint64_t *tids = calloc(MAX_THREADS, sizeof *tids);
	bool clean = lb_ok();

	if (!tids)
		return lb_fail("out of memory");
	int n = s->stacks->ops->threads(s->stacks, tids, MAX_THREADS);
	if (n <= 0 || n > MAX_THREADS) {
		if (clean && lb_ok() && lbx_target_waits(s->target))
			return false;
		snprintf(s->ret->why, sizeof s->ret->why, "what the program's threads do is not known%s%.150s",
			 lb_ok() ? "" : ": ", lb_ok() ? "" : lb_error_message());
		if (clean)
			lb_clear_error();
		return is_unsure(s);
	}
	for (int i = 0; i < n && s->ret->doing != LBX_GGML_UNSURE; i++)
		if (!look_at_thread(s, tids[i]))
			return false;
	return !lbx_target_waits(s->target);
}

bool lbx_ggml_running_find(struct lbx_target *target, struct lbx_stacks *stacks, const struct lbx_loaded *modules,
			   int n_modules, const struct lbx_ggml_anchor *anchor, struct lbx_ggml_running *ret)
{
	struct search s = {
		.target = target, .stacks = stacks, .modules = modules, .n_modules = n_modules, .ret = ret
	};

	*ret = (struct lbx_ggml_running){ .doing = LBX_GGML_RESTS };
	if (!stacks || !stacks->ops->all_threads) {
		snprintf(ret->why, sizeof ret->why, "what the program's threads do is not known here");
		return is_unsure(&s);
	}
	s.roles = calloc((size_t)n_modules, sizeof *s.roles);
	s.exports = calloc((size_t)n_modules, sizeof *s.exports);
	bool ok = (s.roles && s.exports) || lb_fail("out of memory for %d modules", n_modules);
	ok = ok && find_roles(&s, anchor) && look_at_threads(&s);
	for (int i = 0; i < n_modules && s.exports; i++)
		lbx_exports_close(&s.exports[i]);
	free(s.roles);
	free(s.exports);
	return ok;
}

void lbx_ggml_running_free(struct lbx_ggml_running *running)
{
	for (int i = 0; i < running->n_tellers; i++) {
		free(running->tellers[i].own);
		free(running->tellers[i].inner);
	}
	free(running->tellers);
	running->tellers = NULL;
	running->n_tellers = 0;
}
