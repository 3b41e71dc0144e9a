/* The object of symbols, read back: what it says of names, types, bounds and places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "between.h"
#include "inspect/symbols/dwarf_object.h"
#include "inspect/symbols/symbol_names.h"
#include "session.h"

enum { STACK = 8 };

/* ---- reading ---- */

struct object {
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_Die unit;
	void *bytes;
};

static void open_object(const void *bytes, size_t n, struct object *ret)
{
	Dwarf_Off next;
	size_t header;

	elf_version(EV_CURRENT);
	ret->bytes = malloc(n); /* exactly: what reads beyond it is seen */
	memcpy(ret->bytes, bytes, n);
	ret->elf = elf_memory(ret->bytes, n);
	ret->dwarf = dwarf_begin_elf(ret->elf, DWARF_C_READ, NULL);
	assert_non_null(ret->dwarf);
	assert_int_equal(dwarf_nextcu(ret->dwarf, 0, &next, &header, NULL, NULL, NULL), 0);
	assert_non_null(dwarf_offdie(ret->dwarf, header, &ret->unit));
	assert_int_equal(dwarf_nextcu(ret->dwarf, next, &next, &header, NULL, NULL, NULL), 1);
}

static void open_file(const char *path, struct object *ret)
{
	FILE *file = fopen(path, "rb");
	static char bytes[1 << 20];

	assert_non_null(file);
	size_t n = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	open_object(bytes, n, ret);
}

static void close_object(struct object *o)
{
	dwarf_end(o->dwarf);
	elf_end(o->elf);
	free(o->bytes);
}

static bool find(const struct object *o, const char *name, Dwarf_Die *ret)
{
	Dwarf_Die unit = o->unit;

	if (dwarf_child(&unit, ret) != 0)
		return false;
	do {
		if (dwarf_tag(ret) == DW_TAG_variable && strcmp(dwarf_diename(ret), name) == 0)
			return true;
	} while (dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* "float[3][4]" */
static const char *type_of(const struct object *o, const char *name)
{
	static char text[256];
	char axes[200] = "";
	Dwarf_Attribute attr;
	Dwarf_Die die, type, axis;
	Dwarf_Word count;

	if (!find(o, name, &die))
		return "no such variable";
	assert_non_null(dwarf_formref_die(dwarf_attr(&die, DW_AT_type, &attr), &type));
	if (dwarf_tag(&type) == DW_TAG_array_type) {
		assert_int_equal(dwarf_child(&type, &axis), 0);
		do {
			assert_int_equal(dwarf_formudata(dwarf_attr(&axis, DW_AT_count, &attr), &count), 0);
			size_t used = strlen(axes);
			snprintf(axes + used, sizeof axes - used, "[%llu]", (unsigned long long)count);
		} while (dwarf_siblingof(&axis, &axis) == 0);
		assert_false(dwarf_hasattr(&type, DW_AT_byte_stride));
		assert_non_null(dwarf_formref_die(dwarf_attr(&type, DW_AT_type, &attr), &type));
	}
	snprintf(text, sizeof text, "%s%s", dwarf_diename(&type), axes);
	return text;
}

static Dwarf_Op *place_of(const struct object *o, const char *name, size_t *n)
{
	Dwarf_Attribute attr;
	Dwarf_Die die;
	Dwarf_Op *ops;

	assert_true(find(o, name, &die));
	assert_int_equal(dwarf_getlocation(dwarf_attr(&die, DW_AT_location, &attr), &ops, n), 0);
	return ops;
}

/* Evaluates a place as a debugger would; 0 is nowhere. */
static uint64_t address_of(const struct object *o, const char *name, struct lbx_target *memory)
{
	uint64_t stack[STACK], value;
	size_t n, sp = 0;
	Dwarf_Op *ops = place_of(o, name, &n);

	for (size_t i = 0; i < n; i++) {
		const Dwarf_Op *op = &ops[i];
		size_t jump = 0;
		assert_between(sp, 0, STACK - 1);
		switch (op->atom) {
		case DW_OP_addr:
		case DW_OP_const8u: stack[sp++] = op->number; break;
		case DW_OP_plus_uconst: stack[sp - 1] += op->number; break;
		case DW_OP_ne:
			sp--;
			stack[sp - 1] = stack[sp - 1] != stack[sp];
			break;
		case DW_OP_or:
			sp--;
			stack[sp - 1] |= stack[sp];
			break;
		case DW_OP_deref_size:
			value = 0;
			assert_true(lbx_target_read(memory, stack[sp - 1], &value, op->number));
			stack[sp - 1] = value;
			break;
		case DW_OP_bra:
			sp--;
			jump = stack[sp] ? op->offset + 3 + op->number : 0;
			break;
		case DW_OP_skip: jump = op->offset + 3 + op->number; break;
		case DW_OP_piece: assert_int_equal(sp, 0); return 0;
		default: fail_msg("operation 0x%x in a place", op->atom);
		}
		while (jump && i + 1 < n && ops[i + 1].offset < jump)
			i++;
		assert_true(!jump || i + 1 == n || ops[i + 1].offset == jump);
	}
	assert_int_equal(sp, 1);
	return stack[0];
}

static const void *copy_of(const struct object *o, const char *name, size_t *size)
{
	Dwarf_Attribute attr;
	Dwarf_Block block;
	Dwarf_Die die;
	size_t n;
	Dwarf_Op *ops = place_of(o, name, &n);

	assert_int_equal(n, 1);
	assert_int_equal(ops->atom, DW_OP_implicit_value);
	assert_true(find(o, name, &die));
	assert_int_equal(dwarf_getlocation_implicit_value(dwarf_attr(&die, DW_AT_location, &attr), ops, &block), 0);
	*size = block.length;
	return block.data;
}

/* ---- the writer ---- */

static void an_object_is_read_back(void **state)
{
	static const int64_t deep[] = { 1, 2, 3, 4, 5, 6, 7, 1LL << 40 }, none[] = { 2, 0 };
	static char large[40000];
	struct object o;
	const void *bytes;
	size_t n;

	(void)state;
	large[39999] = 7;
	struct lbx_dwarf *d = lbx_dwarf_create("unit");
	uint32_t number = lbx_dwarf_number(d, "complex float", LBX_COMPLEX, 8);
	uint32_t byte = lbx_dwarf_number(d, "uint8_t", LBX_UNSIGNED, 1);
	lbx_dwarf_variable(d, "scalar", number, &(struct lbx_place){ .nbytes = 8 });
	lbx_dwarf_variable(d, "a 'quoted' name", lbx_dwarf_array(d, number, 8, deep),
			   &(struct lbx_place){ .nbytes = UINT64_MAX });
	lbx_dwarf_variable(d, "none", lbx_dwarf_array(d, byte, 2, none), &(struct lbx_place){ .nbytes = 0 });
	lbx_dwarf_variable(d, "large", lbx_dwarf_array(d, byte, 1, (int64_t[]){ sizeof large }),
			   &(struct lbx_place){ .kind = LBX_COPIED, .nbytes = sizeof large, .bytes = large });
	assert_true(lbx_dwarf_finish(d, EM_AARCH64, &bytes, &n));
	assert_int_equal(((const Elf64_Ehdr *)bytes)->e_machine, EM_AARCH64);
	open_object(bytes, n, &o);
	lbx_dwarf_destroy(d);
	assert_string_equal(dwarf_diename(&o.unit), "unit");
	assert_string_equal(type_of(&o, "scalar"), "complex float");
	assert_string_equal(type_of(&o, "a 'quoted' name"), "complex float[1][2][3][4][5][6][7][1099511627776]");
	assert_string_equal(type_of(&o, "none"), "uint8_t[2][0]");
	assert_int_equal(address_of(&o, "scalar", NULL), 0);
	assert_int_equal(address_of(&o, "a 'quoted' name", NULL), 0);
	const char *copied = copy_of(&o, "large", &n);
	assert_int_equal(n, sizeof large);
	assert_int_equal(copied[39999], 7);
	/* no program has its byte of code there */
	Dwarf_Addr low, high;
	assert_int_equal(dwarf_lowpc(&o.unit, &low) | dwarf_highpc(&o.unit, &high), 0);
	assert_true(low >> 63);
	assert_int_equal(high - low, 1);
	close_object(&o);
	lbx_dwarf_destroy(NULL);
}

static void names_are_spelt(void **state)
{
	static const struct {
		uint64_t id;
		const char *name;
		bool plain;
		const char *c_name;
	} cases[] = {
		{ 1, "q", true, NULL },
		{ 2, "blk.0.w", true, "blk_0_w" },
		{ 3, "blk/0.w", true, "blk_0_w_3" },
		{ 4, "loss", false, "loss_4" },
		{ 9, "loss", true, NULL },
		{ 5, "loss", false, "loss_5" },
		{ 6, "float", true, "float_" },
		{ 7, "0", true, "_0" },
		{ 8, "grüße", true, "gr____e" },
		{ 10, "a.b", false, "a_b_10" },
		{ 11, "a.b", true, "a_b" },
		{ 12, "x_12", true, NULL },
		{ 13, "x.12", true, "x_12_13" },
		{ 14, "$1", true, "_1" },
	};
	enum { N = sizeof cases / sizeof *cases };
	struct lbx_symbol_space space = { .names = { 0 } };
	struct lbx_symbol symbols[N], later = { .id = 20, .name = (char *)"q" };

	(void)state;
	for (int i = 0; i < N; i++)
		symbols[i] = (struct lbx_symbol){ .id = cases[i].id, .name = (char *)cases[i].name };
	assert_true(lbx_symbol_names(&space, symbols, N));
	for (int i = 0; i < N; i++) {
		assert_int_equal(symbols[i].plain, cases[i].plain);
		if (cases[i].c_name)
			assert_string_equal(symbols[i].c_name, cases[i].c_name);
		else
			assert_null(symbols[i].c_name);
		free(symbols[i].c_name);
	}
	assert_true(lbx_symbol_names(&space, NULL, 0));
	/* q stays with the first one */
	assert_true(lbx_symbol_names(&space, &later, 1));
	assert_false(later.plain);
	assert_string_equal(later.c_name, "q_20");
	free(later.c_name);
	lbx_symbol_space_deinit(&space);
}

/* ---- the command ---- */

static char path[64];

static void make(struct session *s, const char *options, struct object *ret)
{
	char line[128];

	snprintf(line, sizeof line, "%s --out %s", options, path);
	assert_non_null(strstr(session_says(s, "symbols", line), " as variables in /tmp/"));
	open_file(path, ret);
	unlink(path);
}

static void check_types(const struct object *o)
{
	static const char *const types[][2] = {
		{ "bool", "bool[16]" },
		{ "uint8", "uint8_t[16]" },
		{ "uint16", "uint16_t[16]" },
		{ "uint32", "uint32_t[16]" },
		{ "uint64", "uint64_t[8]" },
		{ "int8", "int8_t[16]" },
		{ "int16", "int16_t[16]" },
		{ "int32", "int32_t[16]" },
		{ "int64", "int64_t[8]" },
		{ "float16", "_Float16[16]" },
		{ "bfloat16", "__bf16[16]" },
		{ "float32", "float[16]" },
		{ "float64", "double[8]" },
		{ "complex64", "complex float[8]" },
		{ "x", "float[4][6][10]" },
		{ "layer.0/view", "float[10][6][4]" },
		{ "layer_0_view", "float[10][6][4]" },
		{ "lazy", "float[4][6][10]" },
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		assert_string_equal(type_of(o, types[i][0]), types[i][1]);
	assert_string_equal(type_of(o, "layer"), "no such variable");
}

static void variables_follow_their_tensors(void **state)
{
	for (int shuffled = 0; shuffled < 2; shuffled++) {
		struct session *s = session_create(shuffled);
		struct lbx_target *memory = &s->image.target;
		struct object o;

		make(s, "", &o);
		check_types(&o);
		assert_int_equal(address_of(&o, "x", memory), IMAGE_DATA);
		assert_int_equal(address_of(&o, "int16", memory), IMAGE_DATA + 0x1000);
		assert_int_equal(address_of(&o, "lazy", memory), 0);
		/* computed meanwhile; freed; its place taken by another one; of another process */
		uint64_t record = IMAGE_BUFFERS;
		image_set(&s->image, LB_KIND_TENSOR, 2, "buffer", record);
		image_set(&s->image, LB_KIND_TENSOR, 2, "state", LB_STATE_READY);
		assert_int_equal(address_of(&o, "lazy", memory), IMAGE_DATA);
		image_set(&s->image, LB_KIND_TENSOR, 0, "state", LB_STATE_FREED);
		assert_int_equal(address_of(&o, "x", memory), 0);
		image_set(&s->image, LB_KIND_TENSOR, 0, "state", LB_STATE_READY);
		image_set(&s->image, LB_KIND_TENSOR, 0, "id", 1000);
		assert_int_equal(address_of(&o, "x", memory), 0);
		image_set(&s->image, LB_KIND_TENSOR, 0, "id", 1);
		assert_int_equal(address_of(&o, "x", memory), IMAGE_DATA);
		image_root(&s->image)->pid++;
		assert_int_equal(address_of(&o, "x", memory), 0);
		close_object(&o);
		/* further in than bytes can be counted */
		image_set(&s->image, LB_KIND_TENSOR, 0, "offset", INT64_MAX / 2);
		make(s, "", &o);
		assert_int_equal(address_of(&o, "x", memory), 0);
		close_object(&o);
		session_destroy(s);
	}
	(void)state;
}

static void views_are_copied(void **state)
{
	struct session *s = *state;
	float copied[240];
	struct object o;
	size_t n;

	make(s, "layer*", &o);
	const void *bytes = copy_of(&o, "layer_0_view", &n);
	assert_int_equal(n, sizeof copied);
	memcpy(copied, bytes, n);
	for (int i = 0; i < 10; i++)
		for (int j = 0; j < 6; j++)
			for (int k = 0; k < 4; k++) /* x, transposed and reversed */
				assert_float_equal(copied[(i * 6 + j) * 4 + k],
						   ((3 - k) * 60 + (5 - j) * 10 + 9 - i) / 4.0, 0);
	assert_string_equal(type_of(&o, "x"), "no such variable");
	close_object(&o);
	make(s, "layer* --limit 959", &o);
	assert_int_equal(address_of(&o, "layer.0/view", &s->image.target), 0);
	close_object(&o);
	make(s, "nobody", &o);
	close_object(&o);
	/* damage is told, and no place is made of it */
	image_set(&s->image, LB_KIND_TENSOR, 0, "offset", 1 << 20);
	assert_non_null(strstr(session_says(s, "symbols", "x --out /tmp"),
			       "/tmp: cannot be replaced: not a regular file"));
	make(s, "x", &o);
	assert_non_null(strstr(s->text, "1 <optimized out>: damaged"));
	assert_int_equal(address_of(&o, "x", &s->image.target), 0);
	close_object(&o);
}

static bool never(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	(void)out;
	(void)what;
	(void)done;
	(void)total;
	return false;
}

/* A replay that cannot be is told; one that the user ends, ends all. */
static void replays_fail_and_end(void **state)
{
	struct session *s = *state;
	struct object o;
	char line[128];

	s->settings.replay_memory = 0;
	s->out.width = 1000; /* lines are not broken */
	make(s, "l* --peek", &o);
	assert_non_null(strstr(s->text, "1 <optimized out>: damaged, or not to be computed: "));
	assert_non_null(strstr(s->text, "raise the setting replay-memory"));
	assert_int_equal(address_of(&o, "lazy", &s->image.target), 0);
	close_object(&o);
	s->out.progress = never;
	snprintf(line, sizeof line, "l* --peek --out %s", path);
	assert_null(strstr(session_says(s, "symbols", line), "variables"));
	assert_int_equal(access(path, F_OK), -1);
}

static void mistakes_are_named(void **state)
{
	struct session *s = *state;

	assert_non_null(strstr(session_says(s, "symbols", ""), "symbols: --out FILE says where"));
	assert_non_null(strstr(session_says(s, "symbols", "--remove"), "symbols: --out FILE says where"));
	assert_non_null(strstr(session_says(s, "symbols", "--auto on"), "symbols: --out FILE says where"));
	assert_non_null(strstr(session_says(s, "symbols", "--bytes -1"), "--bytes must be from 0 to"));
	assert_non_null(strstr(session_says(s, "symbols", "--bytes 1X"), "such as 65536 or 2G, not 1X"));
	assert_null(strstr(session_says(s, "symbols", "--bytes 1K"), "--bytes"));
	assert_null(strstr(session_says(s, "symbols", "--limit 1K"), "--limit")); /* as it was called */
	assert_non_null(strstr(session_says(s, "symbols", "--limit -1"), "--bytes must be from 0 to"));
	assert_non_null(strstr(session_says(s, "symbols", "--auto sometimes"), "not 'sometimes'"));
	assert_non_null(strstr(session_says(s, "symbols", "--out /nonexistent/x.o"),
			       "/nonexistent/x.o: cannot be written: No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_is_read_back),
		cmocka_unit_test(names_are_spelt),
		cmocka_unit_test(variables_follow_their_tensors),
		cmocka_unit_test_setup_teardown(views_are_copied, session_start, session_stop),
		cmocka_unit_test_setup_teardown(replays_fail_and_end, session_start, session_stop),
		cmocka_unit_test_setup_teardown(mistakes_are_named, session_start, session_stop),
	};

	snprintf(path, sizeof path, "/tmp/test_symbols-%d.o", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
