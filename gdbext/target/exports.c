/* How many dynamic symbols there are is said by the hash tables alone: DT_HASH counts them; in DT_GNU_HASH the last one
 * is the end of the chain that begins last. */
#include "target/exports.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lazybones.h"

enum { MAX_SYMBOLS = 1 << 20, PIECE = 512 };

struct tables {
	uint64_t symbols, names, gnu_hash, hash;
};

static bool read_word(struct lbx_target *target, uint64_t at, uint32_t *ret)
{
	return lbx_target_try_read(target, at, ret, sizeof *ret);
}

static bool count_by_gnu_hash(struct lbx_target *target, uint64_t table, uint32_t *ret)
{
	struct {
		uint32_t n_buckets, first, n_words, shift;
	} head;
	uint32_t last = 0, entry = 0, some[PIECE];

	if (!lbx_target_try_read(target, table, &head, sizeof head) || head.n_buckets > MAX_SYMBOLS ||
	    head.n_words > MAX_SYMBOLS || head.first > MAX_SYMBOLS)
		return false;
	uint64_t buckets = table + sizeof head + (uint64_t)head.n_words * sizeof(uint64_t);
	uint64_t chains = buckets + (uint64_t)head.n_buckets * sizeof last;
	for (uint32_t i = 0; i < head.n_buckets; i += PIECE) {
		uint32_t n = head.n_buckets - i < PIECE ? head.n_buckets - i : PIECE;
		if (!lbx_target_try_read(target, buckets + (uint64_t)i * sizeof last, some, n * sizeof last))
			return false;
		for (uint32_t k = 0; k < n; k++)
			last = some[k] > last ? some[k] : last;
	}
	if (last < head.first) {
		*ret = head.first;
		return true;
	}
	for (; last < MAX_SYMBOLS && !(entry & 1); last++)
		if (!read_word(target, chains + (uint64_t)(last - head.first) * sizeof entry, &entry))
			return false;
	*ret = last;
	return last < MAX_SYMBOLS;
}

static bool count(struct lbx_target *target, const struct tables *t, uint32_t *ret)
{
	uint32_t head[2];

	if (t->gnu_hash)
		return count_by_gnu_hash(target, t->gnu_hash, ret);
	if (!lbx_target_try_read(target, t->hash, head, sizeof head))
		return false;
	*ret = head[1];
	return *ret < MAX_SYMBOLS;
}

static void take(struct lbx_exports *ret, const struct lbx_loaded *m, const Elf64_Sym *s)
{
	int type = ELF64_ST_TYPE(s->st_info);
	uint64_t start = m->bias + s->st_value;

	if (s->st_shndx == SHN_UNDEF) {
		ret->imports[ret->n_imports++] = s->st_name;
	} else if (s->st_shndx < SHN_LORESERVE && (type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_size > 0 &&
		   lbx_loaded_segment_at(m, start)) {
		ret->list[ret->n++] = (struct lbx_export){ start, s->st_size, s->st_name };
	}
}

static int by_start(const void *a, const void *b)
{
	const struct lbx_export *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : x->name < y->name ? -1 : x->name > y->name;
}

bool lbx_exports_open(struct lbx_target *target, const struct lbx_loaded *m, struct lbx_exports *ret)
{
	static const int64_t tags[] = { DT_SYMTAB, DT_STRTAB, DT_GNU_HASH, DT_HASH };
	Elf64_Sym some[PIECE];
	struct tables t;
	uint64_t at[4];
	uint32_t n;

	lbx_loaded_dynamic(target, m, tags, 4, at);
	t = (struct tables){ at[0], at[1], at[2], at[3] };
	*ret = (struct lbx_exports){ .target = target, .names = t.names };
	if (!t.symbols || !t.names || !(t.gnu_hash || t.hash) || !count(target, &t, &n))
		return false;
	ret->list = calloc((size_t)n + 1, sizeof *ret->list);
	ret->imports = calloc((size_t)n + 1, sizeof *ret->imports);
	if (!ret->list || !ret->imports) {
		lbx_exports_close(ret);
		return lb_fail("out of memory for %u symbols", n);
	}
	for (uint32_t i = 0; i < n; i += PIECE) {
		uint32_t k = n - i < PIECE ? n - i : PIECE;
		if (!lbx_target_try_read(target, t.symbols + (uint64_t)i * sizeof *some, some, k * sizeof *some)) {
			lbx_exports_close(ret);
			return false;
		}
		for (uint32_t j = 0; j < k; j++)
			take(ret, m, &some[j]);
	}
	qsort(ret->list, ret->n, sizeof *ret->list, by_start);
	return true;
}

void lbx_exports_close(struct lbx_exports *exports)
{
	free(exports->list);
	free(exports->imports);
	*exports = (struct lbx_exports){ .list = NULL };
}

static bool read_name(const struct lbx_exports *exports, uint32_t name, char ret[LBX_EXPORT_NAME])
{
	bool clean = lb_ok();
	bool read = lbx_target_read_string(exports->target, exports->names + name, ret, LBX_EXPORT_NAME);

	if (clean)
		lb_clear_error();
	return read && ret[0];
}

/* How many begin at or before an address. */
static size_t count_before(const struct lbx_exports *exports, uint64_t address)
{
	size_t low = 0, high = exports->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (exports->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool lbx_exports_function(const struct lbx_exports *exports, uint64_t address, char ret[LBX_EXPORT_NAME])
{
	size_t n = count_before(exports, address);

	return n > 0 && address - exports->list[n - 1].start < exports->list[n - 1].size &&
	       read_name(exports, exports->list[n - 1].name, ret);
}

void lbx_exports_neighbours(const struct lbx_exports *exports, uint64_t address, char before[LBX_EXPORT_NAME],
			    char after[LBX_EXPORT_NAME])
{
	size_t n = count_before(exports, address);

	before[0] = after[0] = '\0';
	if (n > 0 && !read_name(exports, exports->list[n - 1].name, before))
		before[0] = '\0';
	if (n < exports->n && !read_name(exports, exports->list[n].name, after))
		after[0] = '\0';
}

bool lbx_exports_name(const struct lbx_exports *exports, size_t i, char ret[LBX_EXPORT_NAME])
{
	return read_name(exports, exports->list[i].name, ret);
}

bool lbx_exports_import(const struct lbx_exports *exports, size_t i, char ret[LBX_EXPORT_NAME])
{
	return i < exports->n_imports && read_name(exports, exports->imports[i], ret);
}
