/* In a module's data lie two tables: pointers to the names of all operations, "NONE", "DUP", "ADD" and so on; and the
 * types' traits, one stride apart, each beginning with a pointer to its name: "f32", "f16", … No name of a symbol is
 * needed to find them; where there are symbols they tell which module to look in. */
#include "ggml/anchor.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/error.h"

enum {
	PAGE = 4096,
	PAGES = 16,
	PIECE = 1 << 16,
	DATA_MAX = 1 << 26,
	WORD = 8,
	STEP = 64, /* there have always been more operations than that */
	STRIDE_MIN = 0x28,
	STRIDE_MAX = 0x100,
	GAP_MAX = 4, /* types that a build has left out, one after the other */
	BLOCK_BYTES_MAX = 1 << 12,
	/* the smallest builds have twice that in code and constants, and twice that in tables */
	CODE_MIN = 1 << 18,
	TABLES_MIN = 3 << 10,
	FILE_NAME = 64
};

/* Pages of names, so that a table of them costs a few reads. */
struct pages {
	struct lbx_target *target;
	struct {
		uint64_t base; /* 1: none */
		bool is_read;
		char bytes[PAGE];
	} slots[PAGES];
};

static bool byte_at(struct pages *p, uint64_t address, char *ret)
{
	uint64_t base = address & ~(uint64_t)(PAGE - 1);
	size_t i = (size_t)(base / PAGE % PAGES);

	*ret = '\0';
	if (base == 0) /* no program has memory there, and a table often ends in NULL */
		return false;
	if (p->slots[i].base != base) {
		p->slots[i].base = base;
		p->slots[i].is_read = lbx_target_try_read(p->target, base, p->slots[i].bytes, PAGE);
	}
	if (p->slots[i].is_read)
		*ret = p->slots[i].bytes[address - base];
	return p->slots[i].is_read;
}

static bool is_text(struct pages *p, uint64_t address, const char *text)
{
	char c;

	for (;; text++, address++)
		if (!byte_at(p, address, &c) || c != *text)
			return false;
		else if (c == '\0')
			return true;
}

/* A name of printable characters, of one at least; false where there is none that ends. */
static bool take_text(struct pages *p, uint64_t address, char ret[LBX_GGML_TEXT])
{
	memset(ret, 0, LBX_GGML_TEXT);
	for (int i = 0; i < LBX_GGML_TEXT; i++) {
		if (!byte_at(p, address + (uint64_t)i, &ret[i]))
			return false;
		if (ret[i] == '\0')
			return i > 0;
		if (ret[i] < ' ' || ret[i] > '~')
			return false;
	}
	return false;
}

/* A segment's data, as words. */
struct data {
	const uint64_t *words;
	size_t n;
	uint64_t *copy; /* that they are in; NULL: they lie in place */
};

static uint64_t word(const struct data *d, size_t i)
{
	return i < d->n ? d->words[i] : 0;
}

static bool is_op(const char *name)
{
	/* with which the names of unary operations begin, which may follow */
	return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0' && strcmp(name, "ABS") != 0;
}

static bool take_ops(struct pages *p, const struct data *d, size_t at, struct lbx_ggml_anchor *ret)
{
	if (!is_text(p, word(d, at), "NONE") || !is_text(p, word(d, at + 1), "DUP") ||
	    !is_text(p, word(d, at + 2), "ADD"))
		return false;
	int n = 0;
	while (n < LBX_GGML_OPS && take_text(p, word(d, at + (size_t)n), ret->ops[n]) && is_op(ret->ops[n]))
		n++;
	ret->n_ops = n;
	return true;
}

/* One of the traits: a name, elements of a block, maybe a word about interleaving, bytes. `bytes_at` says which word. */
static bool take_type(struct pages *p, const struct data *d, size_t at, size_t bytes_at, struct lbx_ggml_type *ret)
{
	*ret = (struct lbx_ggml_type){ .elements = (int64_t)(word(d, at + 1) & UINT32_MAX),
				       .bytes = (int64_t)word(d, at + bytes_at) };
	return ret->bytes >= 0 && ret->bytes <= BLOCK_BYTES_MAX && ret->elements <= LBX_BLOCK_MAX &&
	       take_text(p, word(d, at), ret->name);
}

static bool take_types(struct pages *p, const struct data *d, size_t at, struct lbx_ggml_anchor *ret)
{
	struct lbx_ggml_type f16, type;
	size_t stride, bytes_at, gap = 0;

	bytes_at = word(d, at + 2) == sizeof(float) ? 2 : 3;
	if (word(d, at + bytes_at) != sizeof(float) || (word(d, at + 1) & UINT32_MAX) != 1 ||
	    !is_text(p, word(d, at), "f32"))
		return false;
	for (stride = STRIDE_MIN / WORD; stride <= STRIDE_MAX / WORD; stride++)
		if (word(d, at + stride) && is_text(p, word(d, at + stride), "f16") &&
		    is_text(p, word(d, at + 2 * stride), "q4_0"))
			break;
	if (stride > STRIDE_MAX / WORD || !take_type(p, d, at + stride, bytes_at, &f16) || f16.elements != 1 ||
	    f16.bytes != 2)
		return false;
	memset(ret->types, 0, sizeof ret->types);
	ret->n_types = 0;
	for (size_t i = 0; i < LBX_GGML_TYPES && gap < GAP_MAX; i++) {
		bool is_there = take_type(p, d, at + i * stride, bytes_at, &type);
		/* in place of a name that is no more, there is an explanation, of any length */
		bool is_removed = type.elements == 0 && type.bytes == 0;
		if (!is_there && !is_removed && word(d, at + i * stride))
			break;
		gap = is_there ? 0 : gap + 1;
		if (!is_there || type.elements == 0 || type.bytes == 0)
			continue;
		ret->types[i] = type;
		ret->n_types = (int)i + 1;
	}
	return true;
}

/* What the file has of a segment; what cannot be read is 0. False: there is none, or no memory. To be released with
 * free(ret->copy). */
static bool read_data(struct lbx_target *target, const struct lbx_segment *s, struct data *ret)
{
	size_t n = (size_t)(s->from_file < DATA_MAX ? s->from_file : DATA_MAX), skip = (size_t)(-s->start & (WORD - 1));

	*ret = (struct data){ .words = NULL };
	if (n < skip + WORD)
		return false;
	n = (n - skip) / WORD * WORD;
	ret->n = n / WORD;
	ret->words = lbx_target_map(target, s->start + skip, n);
	if (ret->words && (uintptr_t)ret->words % WORD == 0)
		return true;
	ret->words = ret->copy = malloc(n);
	for (size_t done = 0; done < n && ret->copy; done += PIECE) {
		size_t some = n - done < PIECE ? n - done : PIECE;
		char *to = (char *)ret->copy + done;
		if (!lbx_target_try_read(target, s->start + skip + done, to, some))
			memset(to, 0, some);
	}
	return ret->copy != NULL;
}

/* Where a module's constants may be: in memory without code, if it keeps the two apart. */
static bool may_be_text(const struct lbx_loaded *m, bool apart, uint64_t address)
{
	const struct lbx_segment *s = address ? lbx_loaded_segment_at(m, address) : NULL;

	return s && !s->writable && !(apart && s->executable);
}

static bool keeps_code_apart(const struct lbx_loaded *m)
{
	int apart = 0;

	for (int i = 0; i < m->n_segments; i++)
		apart += !m->segments[i].executable && !m->segments[i].writable;
	return apart > 0;
}

/* Of a run as long as the table of operations one word lies at a multiple of STEP. Programs without ggml pay for this,
 * too: so it is what is looked for first. */
static void search_ops(struct pages *p, const struct lbx_loaded *m, const struct data *d, struct lbx_ggml_anchor *ret)
{
	bool apart = keeps_code_apart(m);

	for (size_t i = 0; i < d->n && !ret->n_ops; i += STEP)
		for (size_t k = i + 1; k-- > 0 && k + STEP > i && may_be_text(m, apart, d->words[k]);)
			if (take_ops(p, d, k, ret))
				break;
}

/* What most words are not is asked first. The first type's bytes are the third or the fourth word of its traits. */
static void search_types(struct pages *p, const struct lbx_loaded *m, const struct data *d, struct lbx_ggml_anchor *ret)
{
	bool apart = keeps_code_apart(m);

	for (size_t i = 0; i < d->n && !ret->n_types; i++) {
		while (i < d->n && d->words[i] != sizeof(float))
			i++;
		for (size_t back = 3; back >= 2 && !ret->n_types; back--)
			if (i < d->n && i >= back && (d->words[i - back + 1] & UINT32_MAX) == 1 &&
			    may_be_text(m, apart, d->words[i - back]))
				take_types(p, d, i - back, ret);
	}
}

static void search_all(struct pages *p, const struct lbx_loaded *m, struct lbx_ggml_anchor *ret,
		       void (*search)(struct pages *p, const struct lbx_loaded *m, const struct data *d,
				      struct lbx_ggml_anchor *ret))
{
	struct data data;

	for (int i = 0; i < m->n_segments; i++) {
		if (!m->segments[i].writable || !read_data(p->target, &m->segments[i], &data))
			continue;
		search(p, m, &data, ret);
		free(data.copy);
	}
}

static bool search_module(struct pages *p, const struct lbx_loaded *m, struct lbx_ggml_anchor *ret)
{
	ret->module = *m;
	ret->n_ops = ret->n_types = 0;
	search_all(p, m, ret, search_ops);
	if (ret->n_ops)
		search_all(p, m, ret, search_types);
	return ret->n_ops > 0 && ret->n_types > 0;
}

static bool exports(struct lbx_target *target, const struct lbx_loaded *m)
{
	uint64_t at;

	return lbx_loaded_symbol(target, m, "ggml_type_name", &at) && lbx_loaded_symbol(target, m, "ggml_op_name", &at);
}

/* What is known to have no ggml within. */
static bool is_well_known(struct lbx_target *target, const struct lbx_loaded *m)
{
	char name[FILE_NAME];

	return lbx_loaded_file(target, m->name, name, sizeof name) && lbx_is_common_library(name);
}

/* By no more than its headers and its name: whether ggml may be in a module. */
static bool may_have(struct lbx_target *target, const struct lbx_loaded *m)
{
	uint64_t constant = 0, data = 0;

	for (int i = 0; i < m->n_segments; i++)
		*(m->segments[i].writable ? &data : &constant) += m->segments[i].from_file;
	return constant >= CODE_MIN && data >= TABLES_MIN && !is_well_known(target, m) &&
	       (target->liveness != LBX_REMOTE || exports(target, m));
}

bool lbx_ggml_may_be(struct lbx_target *target, const struct lbx_loaded *modules, int n)
{
	for (int i = 0; i < n; i++)
		if (may_have(target, &modules[i]))
			return true;
	return false;
}

int lbx_ggml_find(struct lbx_target *target, const struct lbx_loaded *modules, int n, struct lbx_ggml_anchor *ret)
{
	lb_auto_free struct pages *pages = malloc(sizeof *pages);
	lb_auto_free struct lbx_ggml_anchor *another = malloc(sizeof *another);
	int found = 0;

	if (!pages || !another)
		return 0;
	pages->target = target;
	for (int i = 0; i < PAGES; i++)
		pages->slots[i].base = 1;
	for (int i = 0; i < n && found < 2; i++)
		if (may_have(target, &modules[i]) && search_module(pages, &modules[i], found ? another : ret))
			found++;
	return found;
}

bool lbx_ggml_has_op(const struct lbx_ggml_anchor *anchor, const char *name)
{
	for (int i = 0; i < anchor->n_ops; i++)
		if (strcmp(anchor->ops[i], name) == 0)
			return true;
	return false;
}

static int take_names(struct pages *p, const struct data *d, size_t at, char (*ret)[LBX_GGML_TEXT])
{
	int n = 0;

	while (n < LBX_GGML_KINDS && take_text(p, word(d, at + (size_t)n), ret[n]) &&
	       ret[n][strspn(ret[n], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0')
		n++;
	return n;
}

int lbx_ggml_names(struct lbx_target *target, const struct lbx_ggml_anchor *anchor, const char *const first[3],
		   char (*ret)[LBX_GGML_TEXT])
{
	lb_auto_free struct pages *p = calloc(1, sizeof *p);
	const struct lbx_loaded *m = &anchor->module;
	bool apart = keeps_code_apart(m);
	struct data d;
	int n = 0;

	if (!p)
		return 0;
	p->target = target;
	for (int i = 0; i < PAGES; i++)
		p->slots[i].base = 1;
	for (int i = 0; i < m->n_segments && n == 0; i++) {
		if (!m->segments[i].writable || !read_data(target, &m->segments[i], &d))
			continue;
		for (size_t k = 0; k + 2 < d.n && n == 0; k++)
			if (may_be_text(m, apart, d.words[k]) && is_text(p, d.words[k], first[0]) &&
			    is_text(p, d.words[k + 1], first[1]) && is_text(p, d.words[k + 2], first[2]))
				n = take_names(p, &d, k, ret);
		free(d.copy);
	}
	return n;
}

/* Blocks of IQ types had other meanings in the weeks before a build had iq1_m. */
static bool was_unsettled(const struct lbx_ggml_anchor *anchor, const char *name)
{
	for (int i = 0; i < anchor->n_types; i++)
		if (strcmp(anchor->types[i].name, "iq1_m") == 0)
			return false;
	return strncasecmp(name, "iq", 2) == 0;
}

void lbx_ggml_encode(struct lbx_ggml_anchor *anchor)
{
	for (int i = 0; i < anchor->n_types; i++) {
		struct lbx_ggml_type *type = &anchor->types[i];
		const struct lbx_encoding *blocks = lbx_encoding_of_blocks(type->name);
		enum lb_dtype dtype;

		type->encoding = (struct lbx_encoding){
			.name = type->name, .dtype = LB_F32, .elements = (int)type->elements, .bytes = (int)type->bytes
		};
		if (lbx_dtype_parse(type->name, &dtype)) {
			type->is_known = type->elements == 1 && type->bytes == lbx_dtype_bytes(dtype);
			if (type->is_known)
				type->encoding = lbx_encoding_of_dtype(dtype);
		} else if (blocks && blocks->elements == type->elements && blocks->bytes == type->bytes &&
			   !was_unsettled(anchor, type->name)) {
			type->is_known = true;
			type->encoding = *blocks;
		}
	}
}
