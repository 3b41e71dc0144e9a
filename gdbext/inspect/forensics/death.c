#define _GNU_SOURCE
#include "inspect/forensics/death.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { LABEL = LBX_DESCRIPTION_MAX };

/* What si_code says, "" when nothing. */
static const char *reason(const struct lbx_death *d)
{
	static const struct {
		int signal, code;
		const char *text;
	} reasons[] = {
		{ SIGSEGV, SEGV_MAPERR, "nothing is mapped at" },
		{ SIGSEGV, SEGV_ACCERR, "access not permitted at" },
		{ SIGBUS, BUS_ADRALN, "the address is not aligned:" },
		{ SIGBUS, BUS_ADRERR, "the mapped file ends before" },
		{ SIGFPE, FPE_INTDIV, "an integer was divided by zero at" },
		{ SIGFPE, FPE_INTOVF, "an integer overflowed at" },
		{ SIGILL, ILL_ILLOPC, "invalid instruction at" },
		{ SIGILL, ILL_ILLOPN, "invalid operand at" },
	};

	for (size_t i = 0; d->has_code && i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].signal == d->signal && reasons[i].code == d->code)
			return reasons[i].text;
	return "";
}

/* A pid is that of the same process, or of a later one with its number: both are it. */
enum lbx_cause lbx_death_cause(const struct lbx_death *d)
{
	uint64_t own = d->pid ? d->pid : d->tid; /* a core without NT_PRPSINFO, of a single thread as a rule */

	if (!d->has_code)
		return LBX_CAUSE_FAULT;
	if (d->code == SI_KERNEL && d->signal == SIGQUIT)
		return LBX_CAUSE_TERMINAL;
	if (d->code == SI_KERNEL && d->signal == SIGXCPU)
		return LBX_CAUSE_LIMIT;
	if (!d->has_sender)
		return LBX_CAUSE_FAULT;
	return d->sender == own || (!d->pid && d->code == SI_TKILL) ? LBX_CAUSE_ITSELF : LBX_CAUSE_OTHER;
}

void lbx_describe_sender(const struct lbx_death *d, char *ret, size_t size)
{
	if (d->sender)
		snprintf(ret, size, "process %" PRIu32 " of user %" PRIu32, d->sender, d->user);
	else
		snprintf(ret, size, "a process outside its container, of user %" PRIu32, d->user);
}

static void describe_cause(const struct lbx_death *d, char *ret, size_t size)
{
	char sender[96];

	*ret = '\0';
	switch (lbx_death_cause(d)) {
	case LBX_CAUSE_FAULT: break;
	case LBX_CAUSE_ITSELF:
		snprintf(ret, size, "%s",
			 d->code == SI_TKILL ? ": abort() or raise()" : ": it has sent it itself, by kill()");
		break;
	case LBX_CAUSE_OTHER:
		lbx_describe_sender(d, sender, sizeof sender);
		snprintf(ret, size, ": sent by %s", sender);
		break;
	case LBX_CAUSE_TERMINAL: snprintf(ret, size, ": Ctrl-\\ in its terminal"); break;
	case LBX_CAUSE_LIMIT: snprintf(ret, size, ": its limit of processor time is reached"); break;
	}
}

void lbx_describe_death(const struct lbx_death *d, char *ret, size_t size)
{
	const char *name = sigabbrev_np(d->signal), *why = reason(d);
	size_t n;

	if (d->signal == 0) {
		snprintf(ret, size, "did not die: this is a snapshot of it");
		return;
	}
	n = (size_t)(name ? snprintf(ret, size, "died of SIG%s", name)
			  : snprintf(ret, size, "died of signal %d", d->signal));
	if (n >= size)
		return;
	if (d->has_address && *why)
		snprintf(ret + n, size - n, ": %s 0x%" PRIx64, why, d->address);
	else if (!d->has_code)
		snprintf(ret + n, size - n, "; the core does not say why (it has no NT_SIGINFO)");
	else if (d->signal == SIGSEGV && d->code == SI_KERNEL)
		snprintf(ret + n, size - n, ": an address that no memory can have");
	else
		describe_cause(d, ret + n, size - n);
}

static bool near_buffer(struct lbx_places *places, const struct lbx_buffer *b, uint64_t distance, const char *where,
			uint64_t address, char *ret, size_t size)
{
	char label[LABEL] = "a buffer that no tensor uses", bytes[32];
	struct lbx_tensor t;
	size_t i = 0;

	if (lbx_places_tensor(places, b, &i, &t))
		lbx_describe(&t, label, sizeof label);
	lbx_format_bytes(b->nbytes, bytes, sizeof bytes);
	snprintf(ret, size,
		 "0x%" PRIx64 " is %" PRIu64 " byte%s %s of buffer #%" PRIu64 " (%s at 0x%" PRIx64
		 "), which belongs to %s",
		 address, distance, LB_S(distance), where, b->id, bytes, b->data, label);
	return true;
}

bool lbx_describe_address(struct lbx_places *places, uint64_t address, uint64_t near, char *ret, size_t size)
{
	struct lbx_buffer before, after;
	struct lbx_place place;
	char label[LABEL];

	lbx_places_find(places, address, &place);
	if (place.kind == LBX_PLACE_RECORD || place.kind == LBX_PLACE_DATA) {
		lbx_describe(&place.tensor, label, sizeof label);
		snprintf(ret, size, "0x%" PRIx64 " is byte %" PRIu64 " of the %s of %s", address, place.distance,
			 place.kind == LBX_PLACE_DATA ? "buffer" : "record", label);
		return true;
	}
	if (place.kind == LBX_PLACE_BUFFER) {
		snprintf(ret, size,
			 "0x%" PRIx64 " is byte %" PRIu64 " of buffer #%" PRIu64 ", where no tensor has an element%s",
			 address, place.distance, place.buffer.id,
			 place.buffer.flags & LB_BUFFER_CACHED ? ": it is cached, free for reuse" : "");
		return true;
	}
	bool has_before = lbx_places_before(places, address, &before);
	bool has_after = lbx_places_after(places, address, &after);
	uint64_t past = has_before ? address - (before.data + (uint64_t)before.nbytes) : UINT64_MAX;
	uint64_t ahead = has_after ? after.data - address : UINT64_MAX;
	if (past <= ahead && past < near)
		return near_buffer(places, &before, past, "past the end", address, ret, size);
	if (ahead < near)
		return near_buffer(places, &after, ahead, "before the beginning", address, ret, size);
	return false;
}

json_t *lbx_json_death(const struct lbx_death *d)
{
	const char *name = sigabbrev_np(d->signal);
	char text[256];

	lbx_describe_death(d, text, sizeof text);
	return json_pack("{s:o,s:I,s:I,s:i,s:o,s:o,s:o,s:o,s:o,s:s}", "command", lbx_json_string(d->command), "pid",
			 (json_int_t)d->pid, "thread", (json_int_t)d->tid, "signal", d->signal, "name",
			 name && d->signal ? json_sprintf("SIG%s", name) : json_null(), "code",
			 d->has_code ? json_integer(d->code) : json_null(), "address",
			 d->has_address ? json_sprintf("0x%llx", (unsigned long long)d->address) : json_null(),
			 "sender", lbx_json_int_if(d->has_sender, d->sender), "user",
			 lbx_json_int_if(d->has_sender, d->user), "text", text);
}
