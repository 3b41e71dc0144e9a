#include "inspect/operand/operand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/operand/by_name.h"
#include "inspect/operand/select.h"
#include "inspect/tensor/name.h"
#include "kernels/kernels.h"

enum { PATH = 4096 };

/* Elements that share a scale, of what was computed from quantised weights. */
static int64_t group_of(const struct lbx_tensor *t)
{
	if (t->encoding)
		return t->encoding->elements > 1 ? t->encoding->elements : 0;
	if (strcmp(t->op, "dequantize") == 0)
		return t->params[2] > 0 ? t->params[2] : 0;
	if (strcmp(t->op, "decode") == 0 && t->params[0] >= 0 && t->params[0] < LB_ENCODINGS)
		return lb_blocks[t->params[0]].elements;
	return 0;
}

/* Of what was computed from quantised weights. */
static void take_format_of(const struct lbx_tensor *t, struct lbx_operand *ret)
{
	static const char *const modes[] = {
		[LB_QUANT_MXFP4] = "mxfp4", [LB_QUANT_MXFP8] = "mxfp8", [LB_QUANT_NVFP4] = "nvfp4"
	};

	lbx_operand_take_format(ret);
	if (strcmp(t->op, "decode") == 0 && t->params[0] >= 0 && t->params[0] < LB_ENCODINGS)
		snprintf(ret->format, sizeof ret->format, "%s", lb_blocks[t->params[0]].name);
	if (strcmp(t->op, "dequantize") != 0)
		return;
	if (t->params[0] == LB_QUANT_AFFINE)
		snprintf(ret->format, sizeof ret->format, "affine %d/%d", (int)t->params[1], (int)t->params[2]);
	else if (t->params[0] > 0 && t->params[0] < (int64_t)(sizeof modes / sizeof *modes))
		snprintf(ret->format, sizeof ret->format, "%s", modes[t->params[0]]);
}

void lbx_operand_take_format(struct lbx_operand *operand)
{
	const struct lbx_encoding *encoding = operand->array.encoding;

	if (encoding && encoding->elements > 1)
		snprintf(operand->format, sizeof operand->format, "%s", encoding->name);
}

static bool is_square(const struct lbx_tensor *t)
{
	return t->rank >= 2 && lbx_shape(t)[t->rank - 1] == lbx_shape(t)[t->rank - 2];
}

static void take_product(const struct lbx_tensor *t, struct lbx_operand *ret)
{
	char x[LBX_ID_TEXT_MAX], y[LBX_ID_TEXT_MAX];
	struct lbx_tensor a, b;
	bool clean = lb_ok();

	if (strcasecmp(t->op, "matmul") == 0 && t->n_inputs == 2 && lbx_tensor_input(t, 0, &a) &&
	    lbx_tensor_input(t, 1, &b) && a.id && b.id && is_square(&a) && is_square(&b) && lbx_tensors_alike(&a, &b)) {
		lbx_tensor_id_text(&a, x);
		lbx_tensor_id_text(&b, y);
		snprintf(ret->factors[0], sizeof ret->factors[0], "%s", a.name[0] ? a.name : x);
		snprintf(ret->factors[1], sizeof ret->factors[1], "%s", b.name[0] ? b.name : y);
		snprintf(ret->exchanged, sizeof ret->exchanged, "%s @ %s", y, x);
	}
	if (clean)
		lb_clear_error();
}

bool lbx_operand_selected(struct lbx_context *context, const struct lbx_selection *s, struct lbx_operand *ret)
{
	memset(ret, 0, sizeof *ret);
	lbx_selection_label(s, ret->label, sizeof ret->label);
	memcpy(ret->name, s->tensor.name, sizeof ret->name);
	ret->group = group_of(&s->tensor);
	if (!s->slice.n)
		take_product(&s->tensor, ret);
	if (s->tensor.state == LBX_READY) {
		if (!lbx_array_of_tensor(context->target, &s->tensor, &ret->array) ||
		    !lbx_slice_apply(&s->slice, &ret->array))
			return false;
		take_format_of(&s->tensor, ret);
		return true;
	}
	if (!lbx_replay(context, &s->tensor, &s->slice, &ret->replayed))
		return false;
	ret->was_lazy = true;
	ret->array = ret->replayed.array;
	take_format_of(&s->tensor, ret);
	return true;
}

static bool of_tensor(struct lbx_context *context, const char *text, bool again, struct lbx_operand *ret)
{
	struct lbx_selection s;

	memset(ret, 0, sizeof *ret);
	return lbx_select_values(context, text, &s) && (!again || lbx_select_again(&s)) &&
	       lbx_operand_selected(context, &s, ret);
}

bool lbx_operand_tensor(struct lbx_context *context, const char *text, struct lbx_operand *ret)
{
	return of_tensor(context, text, false, ret);
}

bool lbx_operand_again(struct lbx_context *context, const char *text, struct lbx_operand *ret)
{
	return of_tensor(context, text, true, ret);
}

static bool of_core(struct lbx_context *context, const char *path, const char *text, struct lbx_operand *ret)
{
	struct lbx_context other;

	if (!lbx_context_open_other(context, path, &other))
		return false;
	if (!lbx_operand_tensor(&other, text, ret)) {
		lb_fail_within("%s", path);
		lbx_context_close_other(&other);
		return false;
	}
	snprintf(ret->label, sizeof ret->label, "%s:%s", path, text);
	ret->context = other;
	return true;
}

static bool of_file(struct lbx_context *context, const char *path, const char *name, const char *like,
		    struct lbx_operand *ret)
{
	memset(ret, 0, sizeof *ret);
	if (!lbx_array_file_open(context, path, name, like, &ret->file))
		return false;
	ret->array = ret->file.array;
	ret->group = ret->file.group;
	lbx_operand_take_format(ret);
	snprintf(ret->label, sizeof ret->label, ret->file.is_only && !*name ? "%s" : "%s:%s", path, ret->file.name);
	return true;
}

static bool is_core_path(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".core") == 0;
}

bool lbx_operand_is_elf(const char *path)
{
	char magic[4] = "";
	FILE *f = fopen(path, "rbe");
	bool is = f && fread(magic, 1, sizeof magic, f) == sizeof magic &&
		  memcmp(magic,
			 "\x7f"
			 "ELF",
			 4) == 0;

	if (f)
		fclose(f);
	return is;
}

/* Names hold colons, too, and so may paths: the longest file that there is counts, or else the longest path that
 * looks like one. */
size_t lbx_operand_path_end(const char *text)
{
	char path[PATH];
	size_t n = strlen(text), first = 0;

	for (size_t at = n < sizeof path ? n : 0; at-- > 1;) {
		if (text[at] != ':')
			continue;
		snprintf(path, sizeof path, "%.*s", (int)at, text);
		if (access(path, F_OK) == 0)
			return at;
		if (lbx_is_array_path(path) || is_core_path(path) || (!first && strchr(path, '/')))
			first = at;
	}
	return first;
}

/* Whether a tensor has this name, whatever else it may look like. */
static bool is_named(struct lbx_context *context, const char *text)
{
	char name[1][LBX_TEXT_MAX];
	struct lbx_tensors *tensors;
	bool found = false;

	if (!context->target || strlen(text) >= sizeof name[0] || !lbx_context_tensors(context, &tensors))
		return false;
	if (!lbx_tells_which(text, name[0]))
		strcpy(name[0], text);
	lb_auto_free struct lbx_named *named = calloc(1, sizeof *named);
	if (named)
		found = lbx_find_named(context, tensors, name, 1, named) && named->count > 0;
	return found;
}

/* A tensor that is not there may have been meant as FILE:NAME. */
static bool no_file(const char *text)
{
	const char *colon = strchr(text, ':');

	if (colon && colon != text && colon[1] && colon[1] != ':' && !strpbrk(text, "[]()*&\"'"))
		lb_fail_within("there is no file %.*s", (int)(colon - text), text);
	return false;
}

bool lbx_operand_any(struct lbx_context *context, const char *text, const char *like, struct lbx_operand *ret)
{
	char path[PATH], plain[LBX_LINE_MAX];
	const char *rest = lbx_unquote(text, plain, sizeof plain);
	bool clean = lb_ok();

	if (is_named(context, plain))
		return lbx_operand_tensor(context, text, ret);
	if (clean)
		lb_clear_error();
	if (rest && *rest)
		return lbx_operand_tensor(context, text, ret);
	size_t n = lbx_operand_path_end(plain);
	if (*plain == '@')
		return lbx_operand_tensor(context, plain, ret);
	if (lbx_is_array_path(plain) || (strchr(plain, '/') && access(plain, F_OK) == 0 && !lbx_operand_is_elf(plain)))
		return of_file(context, plain, "", like, ret);
	if (n == 0 && (lbx_operand_is_elf(plain) || is_core_path(plain)))
		return lbx_misuse("%s is a core file: name the tensor in it, as in %s:%s", plain, plain,
				  like && *like ? like : "NAME");
	if (n == 0)
		return lbx_operand_tensor(context, text, ret) || no_file(plain);
	snprintf(path, sizeof path, "%.*s", (int)n, plain);
	if (lbx_is_array_path(path) || (access(path, F_OK) == 0 && !lbx_operand_is_elf(path)))
		return of_file(context, path, plain + n + 1, like, ret);
	return of_core(context, path, plain + n + 1, ret);
}

void lbx_operand_release(struct lbx_operand *operand)
{
	lbx_replay_release(&operand->replayed);
	lbx_array_file_close(&operand->file);
	if (operand->context.target) {
		lbx_tell_notice(operand->context.out, operand->context.target);
		lbx_context_close_other(&operand->context);
	}
}
