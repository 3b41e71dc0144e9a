#include "plugin/reads/lines_gdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mix.h"
#include "plugin/bridge/bridge.h"
#include "plugin/reads/debug_info.h"
#include "plugin/reads/target_gdb.h"
#include "target/elf_image.h"
#include "target/lines.h"
#include "target/loader.h"

/* "leaf + 7 in section .text of …" */
static void take_function(const char *answer, struct lbx_source_line *ret)
{
	const char *end = strstr(answer, " in section ");
	const char *plus = strstr(answer, " + ");

	if (!end)
		return;
	if (plus && plus < end)
		end = plus;
	snprintf(ret->function, sizeof(ret->function), "%.*s", (int)(end - answer), answer);
}

/* "Line 4 of "p.c" starts at address …" */
static void take_line(const char *answer, struct lbx_source_line *ret)
{
	const char *file, *end;

	if (strncmp(answer, "Line ", 5) != 0)
		return;
	file = strchr(answer, '"');
	end = file ? strchr(file + 1, '"') : NULL;
	if (!end)
		return;
	ret->line = (int)strtol(answer + 5, NULL, 10);
	snprintf(ret->file, sizeof(ret->file), "%.*s", (int)(end - file - 1), file + 1);
}

/* ---- lines that gdb has told: to ask again takes a round ---- */

enum { KNOWN_LINES = 256, FRONT = 2048 /* bytes of a module: its headers, and the build id behind them */ };

static struct {
	uint64_t loaded; /* lbx_target_loaded() of the program that they are of */
	struct known_line {
		uint64_t pc; /* 0: none */
		uint64_t module; /* where the one is that has it */
		struct lbx_build_id id;
		struct lbx_source_line line;
	} *v;
} known;

/* NULL: they are not kept. */
static struct known_line *place_of_line(struct lbx_target *target, uint64_t pc)
{
	uint64_t loaded;

	if (!pc || !lbx_target_loaded(target, &loaded))
		return NULL;
	if (!known.v)
		known.v = calloc(KNOWN_LINES, sizeof *known.v);
	else if (known.loaded != loaded)
		memset(known.v, 0, KNOWN_LINES * sizeof *known.v);
	known.loaded = loaded;
	return known.v ? &known.v[lb_mix(pc) % KNOWN_LINES] : NULL;
}

static const char *front_at(const void *context, uint64_t at, uint64_t *n)
{
	if (at >= FRONT)
		return NULL;
	*n = FRONT - at;
	return (const char *)context + at;
}

/* False where it has none: such modules may be alike but for their lines. */
static bool read_id(struct lbx_target *target, uint64_t module, struct lbx_build_id *ret)
{
	uint64_t words[FRONT / sizeof(uint64_t)];
	struct lbx_image image = { .at = front_at, .context = words, .is_mapped = true };

	if (!lbx_target_try_read(target, module, words, sizeof words) || !lbx_image_read(&image) || !image.id.n)
		return false;
	*ret = image.id;
	return true;
}

/* A module's code stays as it is while the module is there; another, even of the same file, may have come to its place. */
static bool is_still_so(struct lbx_target *target, const struct known_line *kept, uint64_t pc)
{
	struct lbx_build_id id;

	return kept && kept->pc == pc && read_id(target, kept->module, &id) && id.n == kept->id.n &&
	       memcmp(id.bytes, kept->id.bytes, id.n) == 0;
}

/* Of code that was made at run time nothing is kept, and nothing that gdb does not know, but may when the user has loaded
 * symbols. */
static void keep_line(struct lbx_target *target, uint64_t pc, const struct lbx_source_line *line,
		      struct known_line *ret)
{
	int n, at;
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(target, &n);

	ret->pc = 0;
	if (!line->function[0] || !line->line || !modules || (at = lbx_loaded_at(modules, n, pc)) < 0)
		return;
	ret->module = modules[at].segments[0].start;
	ret->line = *line;
	ret->pc = read_id(target, ret->module, &ret->id) ? pc : 0;
}

/* Whether the file that was read is the one whose code is there now: a library may have come to another's place. Without
 * a build id that is known of the program alone. */
static bool is_that_file(struct lbx_target *target, struct lbx_lines *lines, uint64_t pc)
{
	struct lbx_build_id file, memory;
	int n, at;
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(target, &n);

	if (!modules || (at = lbx_loaded_at(modules, n, pc)) < 0)
		return false;
	if (!read_id(target, modules[at].segments[0].start, &memory) || !lbx_lines_id(lines, pc, &file))
		return at == 0 && !lbx_lines_id(lines, pc, &file);
	return file.n == memory.n && memcmp(file.bytes, memory.bytes, file.n) == 0;
}

/* From the files themselves: gdb's `info symbol` and `info line` know nothing of functions that are inlined. Where to look
 * for debug information that is in files of its own is for gdb's settings to say. */
static bool find_in_files(struct lbx_target *target, uint64_t pc, struct lbx_source_line *ret)
{
	struct lbx_lines *lines = lbx_debug_info_gdb(target);

	memset(ret, 0, sizeof *ret);
	return lbx_lines_find(lines, pc, 0, ret) && ret->function[0] && ret->line && !lbx_lines_apart(lines, pc) &&
	       (lbx_target_gdb_liveness() == LBX_CORE || is_that_file(target, lines, pc));
}

bool lbx_gdb_source_line(struct lbx_target *target, uint64_t pc, struct lbx_source_line *ret)
{
	struct known_line *kept = place_of_line(target, pc);
	const char *symbol, *line;
	bool is_known;

	if (is_still_so(target, kept, pc)) {
		*ret = kept->line;
		return true;
	}
	if (find_in_files(target, pc, ret)) {
		if (kept && !lbx_bridge_waits())
			keep_line(target, pc, ret, kept);
		return true;
	}
	memset(ret, 0, sizeof(*ret));
	is_known = lbx_bridge_ask(&symbol, LBX_ANYWHERE, "info symbol 0x%" PRIx64, pc);
	is_known &= lbx_bridge_ask(&line, LBX_ANYWHERE, "info line *0x%" PRIx64, pc);
	if (!is_known)
		return false;
	take_function(symbol, ret);
	take_line(line, ret);
	if (kept && !lbx_bridge_waits()) /* else the files have not been looked at */
		keep_line(target, pc, ret, kept);
	return true;
}
