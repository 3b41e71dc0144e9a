#include "python/layout.h"

#include <string.h>

#include "base/error.h"

/* Of 3.11.7, 3.12.1, 3.13.0 and 3.14.10, by offsetof() over their own headers. What is 0 from 3.13 on is told by the
 * runtime. */
static const struct lbx_py_layout layouts[] = {
	{ .minor = 11,
	  .interpreters = 0x28,
	  .next_interpreter = 0,
	  .threads = 0x10,
	  .modules = 0x378,
	  .next_thread = 8,
	  .native_id = 0xa0,
	  .raised = 0x68, /* its value, behind its type */
	  .handled = 0x78,
	  .current_frame = 0x38,
	  .frame_of_c = 8,
	  .code = 0x20,
	  .previous = 0x30,
	  .globals = 8,
	  .locals = 0x18,
	  .owner = 0x45,
	  .variables = 0x48,
	  .reference = UINT64_MAX,
	  .first_line = 0x48,
	  .names = 0x60,
	  .kinds = 0x68,
	  .file = 0x70,
	  .qualified_name = 0x80,
	  .lines = 0x88,
	  .instructions = 0xb8,
	  .tuple_items = 0x18,
	  .short_text = 0x30,
	  .text = 0x48,
	  .cached_keys = 0x368,
	  .values = 0 },
	{ .minor = 12,
	  .interpreters = 0x28,
	  .next_interpreter = 0,
	  .threads = 0x48,
	  .modules = 0x3b0,
	  .next_thread = 8,
	  .native_id = 0x90,
	  .raised = 0x60,
	  .handled = 0x68,
	  .current_frame = 0x38,
	  .frame_of_c = 0,
	  .code = 0,
	  .previous = 8,
	  .globals = 0x18,
	  .locals = 0x28,
	  .owner = 0x46,
	  .variables = 0x48,
	  .reference = UINT64_MAX,
	  .first_line = 0x44,
	  .names = 0x60,
	  .kinds = 0x68,
	  .file = 0x70,
	  .qualified_name = 0x80,
	  .lines = 0x88,
	  .instructions = 0xc0,
	  .tuple_items = 0x18,
	  .short_text = 0x28,
	  .text = 0x38,
	  .cached_keys = 0x370,
	  .values = 0 },
	{ .minor = 13,
	  .frame_of_c = LBX_PY_NO_FIELD,
	  .globals = 0x18,
	  .locals = 0x28,
	  .reference = UINT64_MAX,
	  .tuple_items = 0x18,
	  .short_text = 0x28,
	  .text = 0x38,
	  .cached_keys = 0x370,
	  .values = 8 },
	{ .minor = 14,
	  .frame_of_c = LBX_PY_NO_FIELD,
	  .globals = 0x18,
	  .locals = 0x28,
	  .reference = ~(uint64_t)3,
	  .tuple_items = 0x20,
	  .short_text = 0x28,
	  .text = 0x38,
	  .cached_keys = 0x370,
	  .values = 8 },
};

/* _Py_DebugOffsets as words. 3.14 has added one to the interpreters' fields that
 * are wanted here, and two more behind them; two to the frames'. */
enum { COOKIE_BYTES = 8, VERSION = 1, FREE_THREADED = 2, INTERPRETERS = 5, WORDS = 49, STRUCT_MAX = 1 << 20 };

struct told {
	uint8_t next_interpreter, threads, modules, next_thread, current_frame, native_id;
	uint8_t previous, code, instruction, variables, owner;
	uint8_t file, qualified_name, lines, first_line, names, kinds, instructions;
};

static const struct told told_13 = { 8, 9, 11, 21, 23, 25, 29, 30, 31, 32, 33, 35, 37, 38, 39, 41, 42, 43 };
static const struct told told_14 = { 8, 9, 12, 24, 26, 28, 32, 33, 34, 35, 36, 40, 42, 43, 44, 46, 47, 48 };

bool lbx_py_layout_is_told(struct lbx_target *target, uint64_t runtime, uint64_t *ret_version)
{
	uint64_t words[2];

	if (!lbx_target_try_read(target, runtime, words, sizeof words) || memcmp(words, "xdebugpy", COOKIE_BYTES) != 0)
		return false;
	*ret_version = words[VERSION];
	return true;
}

/* False: they cannot be such offsets. */
static bool take_told(const uint64_t *words, const struct told *at, struct lbx_py_layout *ret)
{
	for (int i = INTERPRETERS; i < WORDS; i++)
		if (words[i] >= STRUCT_MAX)
			return false;
	ret->interpreters = (uint32_t)words[INTERPRETERS];
#define TAKE(field) ret->field = (uint32_t)words[at->field]
	TAKE(next_interpreter);
	TAKE(threads);
	TAKE(modules);
	TAKE(next_thread);
	TAKE(current_frame);
	TAKE(native_id);
	TAKE(previous);
	TAKE(code);
	TAKE(variables);
	TAKE(owner);
	TAKE(file);
	TAKE(qualified_name);
	TAKE(lines);
	TAKE(first_line);
	TAKE(names);
	TAKE(kinds);
	TAKE(instructions);
#undef TAKE
	/* not told; behind the functions that trace and profile, in 3.13 and 3.14 */
	ret->raised = ret->current_frame + 0x28;
	ret->handled = ret->raised + 8;
	return words[at->instruction] == LBX_PY_FRAME_INSTRUCTION;
}

bool lbx_py_layout_of(struct lbx_target *target, uint64_t runtime, uint64_t version, struct lbx_py_layout *ret)
{
	unsigned major = (unsigned)(version >> 24), minor = (unsigned)(version >> 16 & 0xff);
	const struct lbx_py_layout *found = NULL;
	uint64_t words[WORDS], told;

	for (size_t i = 0; major == 3 && i < sizeof layouts / sizeof *layouts; i++)
		if (layouts[i].minor == minor)
			found = &layouts[i];
	if (!found)
		return lb_fail("it is Python %u.%u; known are 3.11 to 3.14", major, minor);
	*ret = *found;
	if (found->frame_of_c != LBX_PY_NO_FIELD)
		return true;
	if (!lbx_py_layout_is_told(target, runtime, &told) ||
	    !lbx_target_try_read(target, runtime, words, sizeof words))
		return lb_fail("Python 3.%u does not tell where its fields are", minor);
	if (words[FREE_THREADED])
		return lb_fail("it is a free-threaded build of Python 3.%u, which is not known", minor);
	return take_told(words, minor == 13 ? &told_13 : &told_14, ret) ||
	       lb_fail("where Python 3.%u says that its fields are, they cannot be", minor);
}
