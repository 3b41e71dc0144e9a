#include "inspect/memory/variables_held.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number_map.h"
#include "base/vector.h"
#include "inspect/memory/kept.h"
#include "inspect/operand/frames.h"

enum { MAX_FRAMES = 256, OFTEN = 1 << 13, HOLDER = LB_NAME_MAX + 1 };

struct lbx_variables_held {
	struct lbx_context *context;
	struct lbx_places *places;
	struct lbx_number_map tensors, buffers; /* numbers in `names` */
	struct lbx_kept_texts texts;
	const char **names;
	uint32_t n_names, names_room;
	const char *last; /* the variable whose name was kept last */
	uint32_t last_name;
	const struct lbx_frame_view *frame; /* whose variables are gone through; NULL: statics, or none yet */
	uint32_t since; /* the first name that was kept for it */
	uint64_t looked;
	char limits[512];
};

/* In the place of a name from before `since`. */
static bool note_in(struct lbx_number_map *map, const struct lbx_tensors *of, uint64_t key, uint32_t name,
		    uint32_t since)
{
	bool is_new;
	struct lbx_number *entry = key ? lbx_number_at(map, of, key, &is_new) : NULL;

	if (entry && (is_new || entry->value < since))
		entry->value = name;
	return entry || key == 0;
}

static bool keep_name(struct lbx_variables_held *h, const char *name, uint32_t *ret)
{
	const char *kept = lbx_keep_text(&h->texts, name);

	if (kept && h->n_names > h->since && h->names[h->n_names - 1] == kept) {
		*ret = h->n_names - 1;
		return true;
	}
	if (!kept || !lb_reserve(h->names, h->names_room, h->n_names + 1))
		return kept ? lb_fail("out of memory for the names of variables") : false;
	*ret = h->n_names;
	h->names[h->n_names++] = kept;
	return true;
}

static bool note(struct lbx_variables_held *h, const struct lbx_tensor *t, uint32_t name)
{
	return note_in(&h->tensors, t->of, t->id, name, h->since) &&
	       note_in(&h->buffers, t->of, t->buffer_id, name, h->since);
}

/* A pointer into the elements holds nothing. */
static bool is_held(const struct lbx_place *place)
{
	return place->kind == LBX_PLACE_RECORD && place->distance == 0;
}

static bool take_static(void *context, const struct lbx_pointer *pointer, const struct lbx_static_place *where)
{
	struct lbx_variables_held *h = context;
	struct lbx_place place;

	if (++h->looked % OFTEN == 0 &&
	    !lbx_progress(h->context->out, "looking through variables", (int64_t)h->looked, 0))
		return false;
	lbx_places_find(h->places, pointer->value, &place);
	if (!is_held(&place))
		return true;
	if (h->last != where->variable && !keep_name(h, where->variable, &h->last_name))
		return false;
	h->last = where->variable;
	return note(h, &place.tensor, h->last_name);
}

static void find_statics(struct lbx_variables_held *h)
{
	struct lbx_stacks *stacks = h->context->stacks;
	struct lbx_statics_told told;

	h->since = h->n_names;
	if (stacks && stacks->ops->statics && stacks->ops->statics(stacks, take_static, h, &told))
		lbx_statics_limits(&told, h->limits, sizeof h->limits);
}

/* "net" of `net.layers[0]->w` and of `*net`: the variable that an expression begins with. */
static void variable_of(const char *expression, char ret[HOLDER])
{
	static const char get[] = "std::get<";
	const char *at = expression + strspn(expression, "*&(");

	while (strncmp(at, get, sizeof get - 1) == 0) {
		at += strcspn(at, "(");
		at += strspn(at, "*&(");
	}
	size_t n = 0;
	while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == ':' || at[n] == '$' ||
	       (unsigned char)at[n] >= 0x80)
		n++;
	snprintf(ret, HOLDER, "%.*s", (int)n, at);
}

/* Who lies further out has the name, and of one frame who comes first. */
static bool take_held(void *context, const struct lbx_frame_view *frame, const struct lbx_pointer *pointer,
		      const struct lbx_place *place)
{
	struct lbx_variables_held *h = context;
	char variable[HOLDER], name[HOLDER];
	uint32_t number;

	if (frame != h->frame) {
		h->frame = frame;
		h->since = h->n_names;
	}
	if (!is_held(place))
		return false;
	variable_of(pointer->expression, variable);
	int n = snprintf(name, sizeof name, "%s, in %s", variable, frame->line.function);
	if (n < 0 || (size_t)n >= sizeof name || !frame->line.function[0])
		snprintf(name, sizeof name, "%s", variable);
	if (keep_name(h, name, &number))
		note(h, &place->tensor, number);
	return false;
}

/* A thread whose stack cannot be walked has nothing. The first thread's have the name: it comes last. */
static bool find_of_threads(struct lbx_variables_held *h)
{
	struct lbx_stacks *stacks = h->context->stacks;
	uint64_t tids[LBX_THREADS_SHOWN];
	bool clean = lb_ok(), ok = true;
	int n = stacks ? stacks->ops->threads(stacks, tids, LBX_THREADS_SHOWN) : 0;

	for (int i = n < LBX_THREADS_SHOWN ? n : LBX_THREADS_SHOWN; ok && i-- > 0;) {
		struct lbx_thread_view view;
		h->frame = NULL;
		if (lbx_thread_view_wanted(h->context, h->places, take_held, h, tids[i], MAX_FRAMES, LBX_TAIL, &view)) {
			for (int f = 0; f < view.n; f++)
				lbx_variables_limits(&view.frames[f].told, h->limits, sizeof h->limits);
			lbx_thread_view_release(&view);
			ok = lb_ok() || lbx_target_waits(h->context->target);
		} else if (lb_error_cause() == LB_INTERRUPTED) {
			return false;
		} else if (clean) {
			lb_clear_error();
		}
	}
	return ok;
}

bool lbx_variables_held_find(struct lbx_context *context, struct lbx_variables_held **ret)
{
	struct lbx_variables_held *h = calloc(1, sizeof *h);
	bool ok = h || lb_fail("out of memory");

	if (ok) {
		h->context = context;
		ok = lbx_places_expect(context, &h->places);
	}
	/* a debugger that has still to answer is asked for all at once; what is there for as long as the program runs has the name */
	ok = ok && find_of_threads(h);
	if (ok)
		find_statics(h);
	ok = ok && (lb_ok() || lbx_target_waits(context->target));
	if (!ok) {
		lbx_variables_held_destroy(h);
		return false;
	}
	*ret = h;
	return true;
}

static const char *name_in(struct lbx_variables_held *h, struct lbx_number_map *map, const struct lbx_tensors *of,
			   uint64_t key)
{
	const struct lbx_number *entry = key ? lbx_number_find(map, of, key) : NULL;
	return entry ? h->names[entry->value] : NULL;
}

const char *lbx_variables_held_by(struct lbx_variables_held *h, const struct lbx_tensor *t)
{
	const char *name = name_in(h, &h->tensors, t->of, t->id);
	return name ? name : name_in(h, &h->buffers, t->of, t->buffer_id);
}

const char *lbx_variables_held_limits(const struct lbx_variables_held *h)
{
	return h->limits;
}

void lbx_variables_held_destroy(struct lbx_variables_held *h)
{
	if (!h)
		return;
	lbx_places_destroy(h->places);
	lbx_number_map_deinit(&h->tensors);
	lbx_number_map_deinit(&h->buffers);
	lbx_kept_texts_free(&h->texts);
	free(h->names);
	free(h);
}
