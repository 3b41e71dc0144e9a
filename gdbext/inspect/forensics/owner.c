/* Who holds a tensor; or whose memory a wild pointer leads to: what `at` knows exactly, else a near miss of a buffer, the
 * frame of a thread's stack, code, or nothing. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/command.h"
#include "inspect/forensics/death.h"
#include "inspect/forensics/owners.h"
#include "inspect/operand/address.h"
#include "inspect/operand/frames.h"
#include "inspect/operand/select.h"
#include "inspect/texts.h"

enum { TEXT = 1024, MAX_FRAMES = 256, DEFAULT_SHOWN = 50 };

static bool in_thread(struct lbx_context *context, uint64_t tid, uint64_t address, char *ret, size_t size)
{
	struct lbx_thread_view view;
	char where[512];
	bool found = false;

	if (!lbx_thread_view(context, NULL, tid, MAX_FRAMES, 0, &view))
		return false;
	for (int i = 0; i < view.n && !found; i++) {
		const struct lbx_frame *f = &view.frames[i].frame;
		uint64_t sp;
		found = lbx_stack_pointer(&f->registers, &sp) && address >= sp && address < f->cfa;
		if (!found)
			continue;
		lbx_describe_frame(&view.frames[i], where, sizeof where);
		snprintf(ret, size, "0x%" PRIx64 " is on the stack of thread %" PRIu64 ", in frame #%d: %s", address,
			 tid, i, where);
	}
	lbx_thread_view_release(&view);
	return found;
}

static bool on_stack(struct lbx_context *context, uint64_t address, char *ret, size_t size)
{
	uint64_t tids[LBX_THREADS_SHOWN];
	bool clean = lb_ok(), found = false;
	int n = context->stacks ? context->stacks->ops->threads(context->stacks, tids, LBX_THREADS_SHOWN) : 0;

	for (int i = 0; i < n && i < LBX_THREADS_SHOWN && !found; i++)
		found = in_thread(context, tids[i], address, ret, size);
	if (clean)
		lb_clear_error();
	return found;
}

/* Whose place is known better than by what lies beside it. */
static bool in_module(struct lbx_context *context, uint64_t address, char *ret, size_t size)
{
	struct lbx_source_line line;

	if (!lbx_target_source_line(context->target, address, &line) || !line.function[0])
		return false;
	snprintf(ret, size, "0x%" PRIx64 " is code or data of %s%s%s", address, line.function,
		 line.file[0] ? " in " : "", line.file);
	return true;
}

static void elsewhere(struct lbx_context *context, uint64_t address, char *ret, size_t size)
{
	char byte;

	if (lbx_target_try_read(context->target, address, &byte, 1))
		snprintf(ret, size,
			 "0x%" PRIx64 " is memory of the program, but of no tensor, and near "
			 "none",
			 address);
	else
		snprintf(ret, size, "0x%" PRIx64 " is no memory that can be read, and near no tensor", address);
}

/* A record that is freed, or that cannot be believed. */
static bool in_table(struct lbx_context *context, uint64_t address, char *ret, size_t size)
{
	struct lbx_tensor t;

	if (lbx_tensors_record_at(context->tensors, address, &t) || lb_ok())
		return false;
	snprintf(ret, size, "0x%" PRIx64 " is in the table of tensors: %s", address, lb_error_message());
	lb_clear_error();
	return true;
}

/* In what else a runtime has. */
static bool in_part(struct lbx_context *context, uint64_t address, char *ret, size_t size)
{
	char part[TEXT / 2];

	for (int i = 0; i < context->n_sets; i++)
		if (lbx_tensors_part_at(context->sets[i], address, part, sizeof part)) {
			snprintf(ret, size, "0x%" PRIx64 " is in %s", address, part);
			return true;
		}
	return false;
}

/* Whether it is one: 0x7ff…, or 12. */
static bool is_number(const char *text)
{
	char *end;

	strtoull(text, &end, 0);
	return isdigit((unsigned char)*text) && !*end;
}

/* T, where it is one; *ret: it is. */
static bool select_tensor(struct lbx_context *context, const char *text, struct lbx_selection *selection, bool *ret)
{
	bool clean = lb_ok();

	*ret = !is_number(text) && lbx_select(context, text, selection);
	if (*ret && selection->slice_text[0])
		return lb_fail("'%s' is a slice; a whole tensor is needed", text);
	if (*ret || strchr(text, '#') || lbx_target_waits(context->target))
		return lb_ok();
	if (clean)
		lb_clear_error();
	return true;
}

static bool tell_address(struct lbx_context *context, const struct lbx_args *args, uint64_t address)
{
	struct lbx_places *places;
	struct lbx_place place;
	char text[TEXT];
	char byte;

	if (!lbx_places_create(context, &places))
		return false;
	lbx_places_find(places, address, &place);
	bool exact = place.kind != LBX_PLACE_NOTHING;
	bool is_known =
	    !exact && (in_table(context, address, text, sizeof text) || in_part(context, address, text, sizeof text));
	bool in_code = !exact && !is_known && in_module(context, address, text, sizeof text);
	uint64_t reach = lbx_target_try_read(context->target, address, &byte, 1) ? LBX_NEAR : LBX_NEAR_FAULT;
	bool near = !exact && !is_known && !in_code && lbx_describe_address(places, address, reach, text, sizeof text);
	lbx_places_destroy(places);
	if (exact)
		return lbx_command_at.run(context, args);
	if (!is_known && !in_code && !near && !on_stack(context, address, text, sizeof text))
		elsewhere(context, address, text, sizeof text);
	lbx_begin(context->out, NULL);
	LBX_KEYS(context->out, json_pack("{s:o,s:b}", "address", lbx_json_address(address), "near_miss", near));
	lbx_wrap(context->out, 0, 4);
	lbx_tell(context->out, "%pF\n", LBX_TEXT("text", text));
	lbx_end(context->out);
	return lb_ok();
}

static bool run_owner(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_selection selection;
	int64_t limit = DEFAULT_SHOWN;
	uint64_t address;
	bool is_tensor;

	if (!lbx_args_limit(args, &limit) || !select_tensor(context, args->v[0], &selection, &is_tensor))
		return false;
	if (is_tensor)
		return lbx_tell_owners(context, &selection.tensor, limit);
	return lbx_parse_address(context, args->v[0], &address) && tell_address(context, args, address);
}

const struct lbx_command lbx_command_owner = {
	.name = "owner",
	.arguments = "T|ADDRESS",
	.summary = "tell who holds a tensor, or whose memory a wild pointer leads to",
	.help = "Of a tensor: its buffer, the tensors that share it or have it for an input, the\n"
		"variables that lead to it, of the threads' frames, global ones and statics, also in\n"
		"containers of C++, and all pointers to it in the program's memory. A pointer may be\n"
		"stale: freed memory keeps what it held. Of thread-local variables the program's own\n"
		"are looked at, by the command and on x86-64. Through gdbserver, large allocations\n"
		"and threads' stacks are not searched.\n"
		"Of an address: as `at`, and also near misses: how far it lies past the end of a\n"
		"buffer or before its beginning; which frame's stack, or whose code, it is.\n"
		LBX_T_HELP "\n"
		"Example: owner q, owner 0x7ffff7a31040",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_TENSORS,
	.options = {
		{ "limit", "N", "show N tensors at most (default 50); 0: all" },
	},
	.run = run_owner,
};
