#include "inspect/operand/view.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/operand/address.h"
#include "inspect/operand/handle.h"
#include "tensors/axes.h"

enum { TEXT_MAX = 1024 };

/* ---- where ---- */

static bool find_address(struct lbx_context *context, const char *text, struct lbx_value *ret)
{
	char *end;

	*ret = (struct lbx_value){ .type = "" };
	if (!*text || strlen(text) >= TEXT_MAX)
		return lb_fail(*text ? "a view's address is too long" : "a view needs an address");
	errno = 0;
	ret->bits = strtoull(text, &end, 0);
	if (isdigit((unsigned char)*text) && !*end)
		return errno == 0 || lb_fail("%s does not fit 64 bits", text);
	if (!lbx_evaluate_address(context, text, ret))
		return false;
	return !lbx_type_is_of_handles(context, ret->type) ||
	       lb_fail("%s is a tensor (%s), not memory: name it without @", text, ret->type);
}

/* ---- what ---- */

/* "float" of "const float (*)[4]", "uint8_t" of "volatile uint8_t *". */
static void base_type(const char *type, char *ret, size_t size)
{
	size_t used = 0;

	while (*type && !strchr("*([&", *type) && used + 1 < size) {
		size_t n = strcspn(type, " *([&");
		bool qualifier =
		    (n == 5 && strncmp(type, "const", n) == 0) || (n == 8 && strncmp(type, "volatile", n) == 0);
		if (!qualifier && n && used + n + 2 < size)
			used += (size_t)snprintf(ret + used, size - used, "%s%.*s", used ? " " : "", (int)n, type);
		type += n + (type[n] == ' ');
	}
	ret[used] = '\0';
}

static bool of_type(const char *type, enum lb_dtype *ret)
{
	static const struct {
		const char *type;
		enum lb_dtype dtype;
	} types[] = {
		{ "float", LB_F32 },          { "double", LB_F64 },         { "_Float16", LB_F16 },
		{ "__fp16", LB_F16 },         { "float16_t", LB_F16 },      { "__bf16", LB_BF16 },
		{ "bool", LB_BOOL },          { "_Bool", LB_BOOL },         { "complex float", LB_C64 },
		{ "float _Complex", LB_C64 }, { "_Complex float", LB_C64 }, { "int8_t", LB_I8 },
		{ "signed char", LB_I8 },     { "uint8_t", LB_U8 },         { "unsigned char", LB_U8 },
		{ "int16_t", LB_I16 },        { "short", LB_I16 },          { "uint16_t", LB_U16 },
		{ "unsigned short", LB_U16 }, { "int32_t", LB_I32 },        { "int", LB_I32 },
		{ "uint32_t", LB_U32 },       { "unsigned int", LB_U32 },   { "unsigned", LB_U32 },
		{ "int64_t", LB_I64 },        { "long", LB_I64 },           { "long long", LB_I64 },
		{ "uint64_t", LB_U64 },       { "unsigned long", LB_U64 },  { "unsigned long long", LB_U64 },
		{ "size_t", LB_U64 },
	};
	char base[128];

	base_type(type, base, sizeof base);
	for (size_t i = 0; i < sizeof types / sizeof *types && strpbrk(type, "*["); i++)
		if (strcmp(types[i].type, base) == 0) {
			*ret = types[i].dtype;
			return true;
		}
	return false;
}

bool lbx_fail_dtype(const char *text)
{
	char blocks[512] = "";
	size_t n = 0;

	for (size_t i = 0; lbx_blocks_name(i) && n < sizeof blocks; i++)
		n += (size_t)snprintf(blocks + n, sizeof blocks - n, "%s%s", i == 0 ? "" : ", ", lbx_blocks_name(i));
	return lbx_misuse(
	    "no dtype '%s': there are bool, u8 to u64, i8 to i64, f16, bf16, f32, f64, c64, and ggml's %s", text,
	    blocks);
}

static bool find_dtype(const struct lbx_view *view, const char *type, struct lbx_tensor *ret)
{
	const char *between = view->in_words ? " " : ":";

	ret->dtype = LB_F32;
	if (!view->dtype)
		return of_type(type, &ret->dtype) ||
		       lb_fail(*type ? "%s is of type %s, which tells no dtype: say which, as in %s%sf32%s%s"
				     : "%s%s tells no dtype: say which, as in %s%sf32%s%s",
			       view->address, type, view->address, between, between, view->shape);
	if (lbx_dtype_parse(view->dtype, &ret->dtype))
		return true;
	ret->encoding = lbx_encoding_of_blocks(view->dtype);
	return ret->encoding || lbx_fail_dtype(view->dtype);
}

static bool fail_list(const char *what, const char *text)
{
	return lb_fail("a view's %s '%s' is not a list of at most %d numbers", what, text, LBX_RANK_MAX);
}

/* "3,4", "(3, 4)", "3x4", or "" and "()" of a scalar. */
static bool parse_list(const char *what, const char *text, bool negative, int64_t values[LBX_RANK_MAX], int *n)
{
	const char *s = text;
	bool bracket = *s == '(';

	*n = 0;
	s += bracket;
	for (;;) {
		char *end;
		s += strspn(s, " ");
		if (!*s || *s == ')')
			break;
		errno = 0;
		long long value = strtoll(s, &end, 10);
		if (end == s || errno || (value < 0 && !negative))
			return fail_list(what, text);
		if (*n == LBX_RANK_MAX)
			return lb_fail("a view's %s '%s' has more than %d numbers", what, text, LBX_RANK_MAX);
		values[(*n)++] = value;
		end += strspn(end, " ");
		if (*end && !strchr(",x)", *end))
			return fail_list(what, text);
		s = end + (*end == ',' || *end == 'x');
	}
	s += bracket && *s == ')';
	return !*s || fail_list(what, text);
}

static bool parse_strides(const char *text, int rank, const int64_t *shape, int64_t strides[LBX_RANK_MAX])
{
	int64_t stride = 1;
	int n;

	if (text) {
		if (!parse_list("strides", text, true, strides, &n))
			return false;
		return n == rank ||
		       lb_fail("a view of %d %s has %d stride%s", rank, LB_PLURAL(rank, "axis", "axes"), n, LB_S(n));
	}
	for (int i = rank; i-- > 0;) {
		strides[i] = stride;
		if (shape[i] && !lb_mul(stride, shape[i], &stride))
			return lb_fail("a view's shape is too large");
	}
	return true;
}

static bool lay(struct lbx_context *context, const struct lbx_view *view, struct lbx_tensor *t)
{
	int64_t shape[LBX_RANK_MAX], strides[LBX_RANK_MAX];
	int rank;

	return parse_list("shape", view->shape, false, shape, &rank) &&
	       parse_strides(view->strides, rank, shape, strides) &&
	       lbx_tensor_set_axes(&context->axes, t, rank, shape, strides);
}

/* The bytes that it reaches: the buffer, whose first the offset counts from. */
static bool enclose(struct lbx_tensor *t, uint64_t address)
{
	int64_t low = 0, high = 0, reach, bytes, below, last;
	struct lbx_encoding e = lbx_tensor_encoding(t);
	bool fits = true;

	t->size = 1;
	for (int i = 0; i < t->rank; i++)
		if (lbx_shape(t)[i] == 0)
			t->size = 0;
	for (int i = 0; i < t->rank && t->size && fits; i++)
		fits = lb_mul(t->size, lbx_shape(t)[i], &t->size) &&
		       lb_mul(lbx_shape(t)[i] - 1, lbx_strides(t)[i], &reach) &&
		       (reach < 0 ? lb_sum_of(low, reach, &low) : lb_sum_of(high, reach, &high));
	if (low < 0 && e.elements > 1)
		return lb_fail("a view of blocks begins with its first one: instead of negative strides, take a slice");
	if (t->size)
		fits = fits && !__builtin_sub_overflow(high, low, &last) && lb_sum_of(last, 1, &last) &&
		       lbx_encoding_bytes(&e, last, &bytes) && low != INT64_MIN && lb_mul(-low, e.bytes, &below);
	else
		bytes = below = 0;
	if (!fits)
		return lb_fail("a view's shape and strides reach further than 64 bits tell");
	if ((uint64_t)below > address || (bytes && address - (uint64_t)below > UINT64_MAX - (uint64_t)(bytes - 1)))
		return lb_fail("the view at 0x%llx reaches out of memory: %lld bytes, from %lld before it on",
			       (unsigned long long)address, (long long)bytes, (long long)below);
	t->data = address - (uint64_t)below;
	t->buffer_bytes = bytes;
	t->offset = t->size ? -low : 0;
	return true;
}

bool lbx_view_make(struct lbx_context *context, const struct lbx_view *view, struct lbx_tensor *ret)
{
	struct lbx_value address;

	*ret =
	    (struct lbx_tensor){ .state = LBX_READY, .op = "memory", .op_class = LB_CLASS_LEAF, .layout_known = true };
	if (!lbx_context_program(context) || !lay(context, view, ret) ||
	    !find_address(context, view->address, &address) || !find_dtype(view, address.type, ret))
		return false;
	snprintf(ret->name, sizeof ret->name, "@%s", view->address);
	return enclose(ret, address.bits);
}

/* ---- the syntax ---- */

static bool is_list(const char *s, size_t n)
{
	return strspn(s, "0123456789-,x() ") >= n;
}

/* A word between the address and a list is a dtype's place, unless the colon is of a ?: expression. */
static bool is_meant_as_dtype(const char *address, const char *word)
{
	return isalpha((unsigned char)*word) && word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0' &&
	       !strchr(address, '?');
}

/* The address may hold colons too: what follows it is a dtype and a list, or a list alone, then the
 * strides, then the slice. */
bool lbx_view_parse(struct lbx_context *context, const char *text, size_t *used, struct lbx_tensor *ret)
{
	char copy[TEXT_MAX];

	if (strlen(text) >= sizeof copy)
		return lb_fail("a view is written in at most %d bytes", TEXT_MAX - 1);
	for (size_t at = 1; text[at]; at++) {
		if (text[at] != ':' || text[at + 1] == ':' || text[at - 1] == ':')
			continue;
		struct lbx_view view = { .address = copy + 1 };
		strcpy(copy, text);
		copy[at] = '\0';
		char *s = copy + at + 1;
		size_t n = strcspn(s, ":[");
		if (s[n] == ':' || !is_list(s, n)) {
			char last = s[n];
			s[n] = '\0';
			if (lbx_is_encoding(s))
				view.dtype = s;
			else if (is_meant_as_dtype(copy, s))
				return lbx_fail_dtype(s);
			else
				s[n] = last;
		}
		if (view.dtype) {
			s += n;
			s += s < copy + strlen(text);
			n = strcspn(s, ":[");
		}
		if (!is_list(s, n))
			continue;
		view.shape = s;
		char end = s[n];
		s[n] = '\0';
		if (end == ':') {
			view.strides = s += n + 1;
			n = strcspn(s, "[");
			s[n] = '\0';
		}
		*used = (size_t)(s + n - copy);
		return lbx_view_make(context, &view, ret);
	}
	return lb_fail("'%s' is not a view of memory: it is written as @ADDRESS:DTYPE:SHAPE, as in "
		       "@0x7f00:f32:3,4",
		       text);
}
