#include "target/target.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "lazybones.h"
#include "target/printable.h"
#include "target/registers.h"

enum { STRING_PIECE = 64 };

const char *lbx_target_kind(const struct lbx_target *target)
{
	switch (target->liveness) {
	case LBX_LIVE: return "live process";
	case LBX_REMOTE: return "remote process";
	case LBX_CORE: return target->is_truncated ? "truncated core file" : "core file";
	case LBX_UNKNOWN: break;
	}
	return "program";
}

bool lbx_target_read(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	if (n == 0)
		return true;
	if (address + (n - 1) < address)
		return lb_fail("cannot read %zu byte%s at 0x%llx: past the end of memory", n, LB_S(n),
			       (unsigned long long)address);
	return target->ops->read(target, address, to, n);
}

bool lbx_target_try_read(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	bool clean = lb_ok(), done = lbx_target_read(target, address, to, n);

	if (!done && clean)
		lb_clear_error();
	return done;
}

const void *lbx_target_map(struct lbx_target *target, uint64_t address, size_t n)
{
	if (!target->ops->map || n == 0 || address + (n - 1) < address)
		return NULL;
	return target->ops->map(target, address, n);
}

struct lbx_target *lbx_target_direct(struct lbx_target *target)
{
	return target->ops->direct ? target->ops->direct(target) : NULL;
}

/* In pieces that end at multiples of the piece's size, so that a string at the end of a
 * page does not need the next one. */
bool lbx_target_read_string(struct lbx_target *target, uint64_t address, char *to, size_t size)
{
	size_t used = 0;

	if (size == 0)
		return true;
	to[0] = '\0';
	while (used < size - 1) {
		size_t n = STRING_PIECE - (size_t)((address + used) % STRING_PIECE);
		if (n > size - 1 - used)
			n = size - 1 - used;
		if (!lbx_target_read(target, address + used, to + used, n)) {
			to[used] = '\0';
			return false;
		}
		if (memchr(to + used, '\0', n))
			return true;
		used += n;
	}
	to[size - 1] = '\0';
	return true;
}

bool lbx_target_source_line(struct lbx_target *target, uint64_t pc, struct lbx_source_line *ret)
{
	memset(ret, 0, sizeof *ret);
	if (!target->ops->source_line || !target->ops->source_line(target, pc, ret))
		return false;
	lbx_make_printable(ret->function);
	lbx_make_printable(ret->file);
	return true;
}

bool lbx_target_evaluate(struct lbx_target *target, const char *expression, struct lbx_value *ret)
{
	memset(ret, 0, sizeof *ret);
	return target->ops->evaluate && target->ops->evaluate(target, expression, ret);
}

bool lbx_target_waits(struct lbx_target *target)
{
	return target->ops->waits && target->ops->waits(target);
}

bool lbx_target_range(struct lbx_target *target, uint64_t from, struct lbx_range *ret)
{
	return target->ops->range && target->ops->range(target, from, ret);
}

bool lbx_target_machine(struct lbx_target *target, unsigned *ret)
{
	*ret = LBX_MACHINE;
	return !target->ops->machine || target->ops->machine(target, ret);
}

bool lbx_target_write(struct lbx_target *target, uint64_t address, const void *from, size_t n)
{
	if (!target->ops->write)
		return lb_fail("a %s cannot be written to", lbx_target_kind(target));
	return target->ops->write(target, address, from, n);
}

uint64_t lbx_target_thread(struct lbx_target *target, uint64_t own)
{
	return target->ops->thread ? target->ops->thread(target, own) : own;
}

bool lbx_target_runs(struct lbx_target *target)
{
	return target->ops->runs && target->ops->runs(target);
}

enum lbx_copied lbx_target_copy(struct lbx_target *target, bool let_go)
{
	return target->ops->copy ? target->ops->copy(target, let_go) : LBX_NOT_COPIED;
}

void lbx_target_prepare(struct lbx_target *target)
{
	if (target->ops->prepare)
		target->ops->prepare(target);
}

bool lbx_target_copied(struct lbx_target *target, uint64_t from, struct lbx_range *ret)
{
	return target->ops->copied && target->ops->copied(target, from, ret);
}

struct lbx_target *lbx_target_glance(struct lbx_target *target)
{
	return target->ops->glance ? target->ops->glance(target) : target;
}

struct lbx_target *lbx_target_now(struct lbx_target *target)
{
	return target->ops->now ? target->ops->now(target) : target;
}

void lbx_target_changed(struct lbx_target *target, uint64_t n)
{
	if (target->ops->changed)
		target->ops->changed(target, n);
}

bool lbx_target_moment(struct lbx_target *target, uint64_t *ret)
{
	return target->ops->moment && target->ops->moment(target, ret);
}

bool lbx_target_saved(struct lbx_target *target, uint64_t address, uint64_t n)
{
	return !target->ops->saved || n == 0 || address + (n - 1) < address || target->ops->saved(target, address, n);
}

bool lbx_target_module(struct lbx_target *target, size_t i, struct lbx_module *ret)
{
	return target->ops->module && target->ops->module(target, i, ret);
}

bool lbx_target_module_at(struct lbx_target *target, uint64_t address, struct lbx_module *ret)
{
	for (size_t i = 0; lbx_target_module(target, i, ret) && ret->start <= address; i++)
		if (address < ret->end)
			return true;
	return false;
}

bool lbx_is_common_library(const char *name)
{
	static const char *const names[] = { "libc.so.",       "libc-2.",         "libc.musl-",    "ld-linux",
					     "libpthread.so.", "libpthread-2.",   "libm.so.",      "libm-2.",
					     "libdl.so.",      "libdl-2.",        "libstdc++.so.", "libgcc_s.so.",
					     "libc++.so.",     "liblazybones.so." };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

bool lbx_module_is_used(const struct lbx_module *module)
{
	return module->verdict <= LBX_MODULE_FORCED;
}

void lbx_build_id_text(const struct lbx_build_id *id, char ret[LBX_BUILD_ID_TEXT])
{
	strcpy(ret, "none");
	for (unsigned i = 0; i < id->n; i++)
		sprintf(ret + 2 * i, "%02x", id->bytes[i]);
}

void lbx_module_why(const struct lbx_module *module, char *ret, size_t size)
{
	const char *advice = module->advice && !lbx_module_is_used(module) ? module->advice : "";
	char wanted[LBX_BUILD_ID_TEXT], found[LBX_BUILD_ID_TEXT];
	int n = 0;

	lbx_build_id_text(&module->wanted, wanted);
	lbx_build_id_text(&module->found, found);
	switch (module->verdict) {
	case LBX_MODULE_MISSING: n = snprintf(ret, size, "is missing, its build id is %s", wanted); break;
	case LBX_MODULE_DIFFERS:
		n = snprintf(ret, size, "is another file now, its build id is %s, not %s", found, wanted);
		break;
	case LBX_MODULE_UNDATED:
		n = snprintf(
		    ret, size,
		    "may have been modified since: the core came through a pipe, so when it was written is not "
		    "known, and it holds no build id to check it against (bit 4 of the coredump "
		    "filter saves them)");
		break;
	case LBX_MODULE_NEWER:
		n = snprintf(ret, size,
			     "was modified after the core was written, which holds no build id "
			     "to check it against (bit 4 of the "
			     "coredump filter saves them)");
		break;
	case LBX_MODULE_FORCED:
		n = snprintf(ret, size, "is used unchecked, its build id is %s, not %s", found, wanted);
		break;
	case LBX_MODULE_UNPROVEN:
		n = snprintf(ret, size,
			     "is used as it is now: the core holds no build id to check it "
			     "against (bit 4 of the coredump filter "
			     "saves them)");
		break;
	default: n = snprintf(ret, size, "is the same");
	}
	if (*advice && n > 0 && (size_t)n < size)
		snprintf(ret + n, size - (size_t)n, " (%s)", advice);
}

bool lbx_target_read_ahead(struct lbx_target *target, uint64_t address, uint64_t n)
{
	return !target->ops->read_ahead || target->ops->read_ahead(target, address, n);
}

bool lbx_target_loaded(struct lbx_target *target, uint64_t *ret)
{
	return target->ops->loaded && target->ops->loaded(target, ret);
}

bool lbx_target_footprint(struct lbx_target *target, struct lbx_footprint *ret)
{
	return target->ops->footprint && target->ops->footprint(target, ret);
}

bool lbx_target_resident(struct lbx_target *target, uint64_t address, uint64_t n, uint64_t *ret)
{
	return target->ops->resident && target->ops->resident(target, address, n, ret);
}

bool lbx_target_headers(struct lbx_target *target, uint64_t *ret, uint64_t *ret_n)
{
	return target->ops->headers && target->ops->headers(target, ret, ret_n);
}

bool lbx_target_notice(struct lbx_target *target, char *ret, size_t size)
{
	return target->ops->notice && target->ops->notice(target, ret, size);
}

void lbx_target_destroy(struct lbx_target *target)
{
	if (target)
		target->ops->destroy(target);
}
