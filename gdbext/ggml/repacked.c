/* A backend that repacks keeps in `extra` what computes with the tensor: an object of a class of its own, whose type
 * information names the blocks, the bytes that are taken at once, and the rows of a unit,
 * ggml::cpu::repack::tensor_traits<block_q4_0, 8, 8, …>; until 2024-12 it was the number of a type, whose name says the
 * same, q4_0_8x8. Files had types of those names, too. What has another name, or none that can be read, is not shown. */
#include "ggml/repacked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"

enum { MANY = 256, CLASS_NAME = 160 };

/* ---- which one ---- */

/* Moves past a text; false, and stays, where there is another. */
static bool skip(const char **at, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(*at, text, n) != 0)
		return false;
	*at += n;
	return true;
}

/* A mangled number of a template, "Ll8E". */
static bool take_number(const char **at, int64_t *ret)
{
	char *end;

	if (!skip(at, "Ll") && !skip(at, "Lx"))
		return false;
	*ret = strtol(*at, &end, 10);
	if (end == *at || *end != 'E')
		return false;
	*at = end + 1;
	return *ret > 0;
}

/* "10block_q4_0" */
static bool take_blocks(const char **at, char *ret, size_t size)
{
	static const char prefix[] = "block_";
	char *end;
	unsigned long n = strtoul(*at, &end, 10), skipped = sizeof prefix - 1;

	if (end == *at || n <= skipped || n - skipped >= size || strlen(end) < n || strncmp(end, prefix, skipped) != 0)
		return false;
	memcpy(ret, end + skipped, n - skipped);
	ret[n - skipped] = '\0';
	*at = end + n;
	return true;
}

/* What a class is for, by its mangled name; false: it is another. */
static bool parse_class(const char *at, char *ret_blocks, size_t size, int64_t *ret_rows, int64_t *ret_at_once)
{
	if (*at == '*') /* its name is its own */
		at++;
	if (!skip(&at, "N4ggml3cpu6repack13tensor_traitsI") && !skip(&at, "N4ggml3cpu7aarch6413tensor_traitsI"))
		return false;
	if (!take_blocks(&at, ret_blocks, size) || !take_number(&at, ret_at_once) || !take_number(&at, ret_rows))
		return false;
	if (skip(&at, "L9ggml_type")) /* of what it is multiplied by */
		at += strspn(at, "0123456789"), skip(&at, "E");
	return strcmp(at, "EE") == 0;
}

/* The name of an object's class: the type information stands in front of its functions. */
static bool read_class(struct lbx_target *target, uint64_t object, char ret[CLASS_NAME])
{
	uint64_t functions, info, name;

	if (object % sizeof functions || !lbx_target_try_read(target, object, &functions, sizeof functions) ||
	    functions < sizeof info || functions % sizeof info ||
	    !lbx_target_try_read(target, functions - sizeof info, &info, sizeof info) || info % sizeof name ||
	    !lbx_target_try_read(target, info + sizeof name, &name, sizeof name))
		return false;
	for (size_t i = 0; i < CLASS_NAME; i++)
		if (!lbx_target_try_read(target, name + i, &ret[i], 1))
			return false;
		else if (ret[i] == '\0')
			return true;
	return false;
}

static void name_by_class(struct lbx_target *target, struct lbx_ggml_repacked *to)
{
	char class_name[CLASS_NAME], blocks[LBX_GGML_TEXT];
	int64_t rows, at_once;

	if (read_class(target, to->extra, class_name) &&
	    parse_class(class_name, blocks, sizeof blocks, &rows, &at_once))
		snprintf(to->text, sizeof to->text, "%s_%lldx%lld", blocks, (long long)rows, (long long)at_once);
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

/* ---- how tensors are read ---- */

static void encode(const struct lbx_ggml_type *type, const struct lbx_interleave *interleave,
		   struct lbx_ggml_repacked *to)
{
	const struct lbx_encoding *blocks = lbx_encoding_of_blocks(interleave->blocks);

	if (!blocks || blocks->elements != type->elements || blocks->bytes != type->bytes || to->row_blocks < 1)
		return;
	to->is_known = true;
	to->elements = *blocks;
	to->elements.name = type->name;
	to->elements.interleave = interleave;
	to->elements.row_blocks = to->row_blocks;
	to->bytes = to->elements;
	to->bytes.dtype = LB_U8;
	to->bytes.elements = blocks->bytes;
	to->bytes.decode = NULL;
	to->elements.as_bytes = &to->bytes;
}

static void look(struct lbx_target *target, const struct lbx_ggml_anchor *anchor, const struct lbx_ggml_buffer *buffer,
		 struct lbx_ggml_repacked *to)
{
	const struct lbx_ggml_type *type = &anchor->types[to->type];
	const struct lbx_interleave *interleave;

	if (!type->is_known)
		snprintf(to->text, sizeof to->text, "%s", type->name);
	else if (to->is_in_own_buffer && to->extra && to->extra < (uint64_t)anchor->n_types)
		snprintf(to->text, sizeof to->text, "%s", anchor->types[to->extra].name);
	else if (to->is_in_own_buffer && to->extra)
		name_by_class(target, to);
	if (!is_plain(to->text))
		to->text[0] = '\0';
	interleave = lbx_interleave_named(to->text);
	if (interleave && (!type->is_known || strcasecmp(interleave->blocks, type->name) == 0))
		encode(type, interleave, to);
	if (!to->is_in_own_buffer)
		return;
	size_t n = strlen(to->text);
	snprintf(to->text + n, sizeof to->text - n, "%s%s", n ? " in " : "", buffer->name);
}

static bool is_same(const struct lbx_ggml_repacked *a, const struct lbx_ggml_repacked *b)
{
	return a->extra == b->extra && a->type == b->type && a->row_blocks == b->row_blocks &&
	       a->is_in_own_buffer == b->is_in_own_buffer;
}

const struct lbx_ggml_repacked *lbx_ggml_repacked(struct lbx_ggml_repacks *all, struct lbx_target *target,
						  const struct lbx_ggml_anchor *anchor,
						  const struct lbx_ggml_record *root,
						  const struct lbx_ggml_buffer *buffer)
{
	static const struct lbx_ggml_repacked one_too_many = { .is_known = false };
	const struct lbx_ggml_type *type = &anchor->types[root->type];
	struct lbx_ggml_repacked x = { .extra = root->extra,
				       .type = root->type,
				       .row_blocks = root->ne[0] / type->elements,
				       .is_in_own_buffer = buffer && buffer->place == LBX_GGML_REORDERED };

	if (!x.is_in_own_buffer && type->is_known && (!root->extra || type->elements == 1))
		return NULL;
	for (size_t i = 0; i < all->n; i++)
		if (is_same(all->list[i], &x))
			return all->list[i];
	struct lbx_ggml_repacked *to = all->n < MANY ? malloc(sizeof *to) : NULL;
	if (!to || !lb_reserve(all->list, all->room, all->n + 1)) {
		free(to);
		return &one_too_many; /* or no memory: not shown */
	}
	*to = x;
	look(target, anchor, buffer, to);
	all->list[all->n++] = to;
	return to;
}

/* Groups of whole rows, of the same length: so ggml itself repacks, and nothing else. */
bool lbx_ggml_repacked_reads(const struct lbx_ggml_repacked *x, const struct lbx_ggml_type *type,
			     const struct lbx_ggml_record *r, const struct lbx_ggml_record *root)
{
	uint64_t row = (uint64_t)x->row_blocks * (uint64_t)type->bytes, apart = row;

	if (!x->is_known || root->ne[0] % type->elements || root->ne[1] % x->elements.interleave->rows ||
	    root->nb[0] != (uint64_t)type->bytes || row > INT64_MAX / 1024)
		return false;
	for (int i = 1; i < LBX_GGML_AXES; apart *= (uint64_t)root->ne[i++])
		if (root->nb[i] != apart)
			return false;
	return r->ne[0] == root->ne[0] && r->nb[0] == root->nb[0] && r->nb[1] == root->nb[1] &&
	       r->view_offset % (row * (uint64_t)x->elements.interleave->rows) == 0;
}

void lbx_ggml_repacks_free(struct lbx_ggml_repacks *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->list[i]);
	free(all->list);
	*all = (struct lbx_ggml_repacks){ 0 };
}
