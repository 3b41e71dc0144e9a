/* The main program's headers give its load bias and dynamic section; DT_DEBUG there leads to the loader's list of modules
 * (struct r_debug, struct link_map), each with its dynamic section. A module's ELF header is not in that list: it is
 * searched for backwards, page by page, from the dynamic section, starting at the module's load address, where it
 * nearly always is. */
#include "target/loader.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "lazybones.h"

enum {
	PATH_LENGTH = 4096,
	FILE_LENGTH = 256,
	MAX_PHDRS = 256,
	MAX_MODULES = 4096,
	MAX_DYNAMIC = 4096,
	PAGE = 4096,
	MAX_PAGES_BACK = 1 << 14,
	MAX_PAGES_IN_ALL = 8 * MAX_PAGES_BACK, /* of a list, which damage may have made a ring */
	MAX_AT_ONCE = 32,
	MAX_CHAIN = 4096
};

bool lbx_loader_peek(struct lbx_loader *loader, uint64_t address, void *to, size_t n, const char *what)
{
	if (lbx_target_try_read(loader->target, address, to, n))
		return true;
	if (!loader->unread) {
		loader->unread = what;
		loader->unread_at = address;
	}
	return false;
}

static const char headers_of[] = "the headers of a module";

bool lbx_loader_header(struct lbx_loader *loader, const struct lbx_loaded *m, uint64_t i, Elf64_Phdr *ret)
{
	uint64_t n = m->n_headers < LBX_LOADER_HEADERS ? m->n_headers : LBX_LOADER_HEADERS;

	if (i >= m->n_headers || i >= MAX_PHDRS)
		return false;
	if (i == 0) {
		loader->table_at = m->headers;
		loader->n_table =
		    lbx_target_try_read(loader->target, m->headers, loader->table, (size_t)n * sizeof *ret) ? n : 0;
	}
	if (loader->table_at != m->headers || i >= loader->n_table)
		return lbx_loader_peek(loader, m->headers + i * sizeof *ret, ret, sizeof *ret, headers_of);
	*ret = loader->table[i];
	return true;
}

static void take_segment(struct lbx_loaded *m, const Elf64_Phdr *p)
{
	if (m->n_segments == LBX_SEGMENTS_MAX || p->p_memsz == 0 || p->p_memsz > INT64_MAX || p->p_filesz > p->p_memsz)
		return;
	m->segments[m->n_segments++] = (struct lbx_segment){ .start = m->bias + p->p_vaddr,
							     .size = p->p_memsz,
							     .from_file = p->p_filesz,
							     .writable = p->p_flags & PF_W,
							     .executable = p->p_flags & PF_X };
}

/* What the headers of a module say, of which bias and headers are known. */
static void take_headers(struct lbx_loader *loader, struct lbx_loaded *m)
{
	Elf64_Phdr p;

	for (uint64_t i = 0; lbx_loader_header(loader, m, i, &p); i++) {
		if (p.p_type == PT_LOAD)
			take_segment(m, &p);
		if (p.p_type == PT_DYNAMIC && !m->dynamic)
			m->dynamic = m->bias + p.p_vaddr;
	}
}

/* A walk over a dynamic section, of which some entries are read at once where that goes. */
struct dynamic {
	struct lbx_target *target;
	uint64_t at;
	size_t i, n;
	int walked;
	Elf64_Dyn some[MAX_AT_ONCE];
};

/* False at the end; with an error where it cannot be read. */
static bool next_dynamic(struct dynamic *d, Elf64_Dyn *ret)
{
	if (!d->at || d->walked++ >= MAX_DYNAMIC)
		return false;
	if (d->i == d->n) {
		d->i = 0;
		d->n = MAX_AT_ONCE;
		if (!lbx_target_try_read(d->target, d->at, d->some, sizeof d->some)) {
			d->n = 1;
			if (!lbx_target_read(d->target, d->at, d->some, sizeof *d->some))
				return false;
		}
		d->at += d->n * sizeof *d->some;
	}
	*ret = d->some[d->i++];
	return ret->d_tag != DT_NULL;
}

/* Without PT_PHDR, as static programs are that may lie anywhere: by the ELF header, in front of the others, with which the first
 * segment begins. */
static uint64_t bias_by_file(struct lbx_loader *loader, const struct lbx_loaded *m)
{
	Elf64_Ehdr header;
	Elf64_Phdr p;

	if (!lbx_target_try_read(loader->target, m->headers - sizeof header, &header, sizeof header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phoff != sizeof header)
		return 0;
	for (uint64_t i = 0; lbx_loader_header(loader, m, i, &p); i++)
		if (p.p_type == PT_LOAD && p.p_offset == 0)
			return m->headers - sizeof header - p.p_vaddr;
	return 0;
}

void lbx_loader_begin(struct lbx_loader *loader, struct lbx_target *target, uint64_t at_phdr, uint64_t at_phnum)
{
	struct lbx_loaded *m = &loader->program;
	bool is_told = false;
	Elf64_Phdr p;

	*loader = (struct lbx_loader){ .target = target, .program = { .headers = at_phdr, .n_headers = at_phnum } };
	for (uint64_t i = 0; lbx_loader_header(loader, m, i, &p); i++) {
		if (p.p_type == PT_PHDR) {
			m->bias = at_phdr - p.p_vaddr;
			is_told = true;
			break;
		}
	}
	if (!is_told)
		m->bias = bias_by_file(loader, m);
	take_headers(loader, m);
}

bool lbx_loader_open_list(struct lbx_loader *loader)
{
	struct {
		uint64_t version, map;
	} debug; /* struct r_debug's beginning */
	struct dynamic walk = { .target = loader->target, .at = loader->program.dynamic };
	bool clean = lb_ok();
	Elf64_Dyn d;

	while (!loader->libraries && next_dynamic(&walk, &d))
		if (d.d_tag == DT_DEBUG)
			loader->libraries = d.d_un.d_ptr;
	if (clean && !lb_ok())
		return false;
	if (loader->libraries && lbx_loader_peek(loader, loader->libraries, &debug, sizeof debug, "the loader's data"))
		loader->next = debug.map;
	return true;
}

static bool is_elf(struct lbx_target *target, uint64_t base, Elf64_Ehdr *header)
{
	return lbx_target_try_read(target, base, header, sizeof *header) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

/* Of the module loaded at `bias`, the address of its headers. */
static bool find_headers(struct lbx_loader *loader, struct lbx_loaded *m)
{
	Elf64_Ehdr header;
	uint64_t base = m->bias;

	if (base == 0 || !is_elf(loader->target, base, &header)) {
		base = m->dynamic & ~(uint64_t)(PAGE - 1);
		int pages = 0;
		while (!is_elf(loader->target, base, &header)) {
			if (base < PAGE || pages++ == MAX_PAGES_BACK || loader->pages++ >= MAX_PAGES_IN_ALL) {
				lbx_loader_peek(loader, m->bias ? m->bias : m->dynamic, &header, sizeof header,
						headers_of);
				return false;
			}
			base -= PAGE;
		}
	}
	m->headers = base + header.e_phoff;
	m->n_headers = header.e_phnum;
	return true;
}

struct link {
	uint64_t addr, name, dynamic, next, prev; /* struct link_map */
};

/* The next entry of the list, be it a module that can be read or not. */
static bool next_link(struct lbx_loader *loader, struct link *ret)
{
	if (!loader->next || loader->n++ >= MAX_MODULES ||
	    !lbx_loader_peek(loader, loader->next, ret, sizeof *ret, "the loader's list of modules")) {
		loader->next = 0;
		return false;
	}
	loader->next = ret->next;
	return true;
}

bool lbx_loader_next(struct lbx_loader *loader, struct lbx_loaded *ret)
{
	struct link link;

	while (next_link(loader, &link)) {
		*ret = (struct lbx_loaded){ .bias = link.addr, .dynamic = link.dynamic, .name = link.name };
		if (!link.dynamic || !find_headers(loader, ret))
			continue;
		take_headers(loader, ret);
		return true;
	}
	return false;
}

bool lbx_loader_at(struct lbx_loader *loader, uint64_t start, struct lbx_loaded *ret)
{
	uint64_t low = UINT64_MAX;
	Elf64_Ehdr header;
	Elf64_Phdr p;

	if (!is_elf(loader->target, start, &header))
		return false;
	*ret = (struct lbx_loaded){ .headers = start + header.e_phoff, .n_headers = header.e_phnum };
	for (uint64_t i = 0; lbx_loader_header(loader, ret, i, &p); i++)
		if (p.p_type == PT_LOAD && (p.p_vaddr & -(uint64_t)PAGE) < low)
			low = p.p_vaddr & -(uint64_t)PAGE;
	if (low == UINT64_MAX)
		return false;
	ret->bias = start - low;
	take_headers(loader, ret);
	return true;
}

/* Those that are known otherwise, as by what a core lists of the program's mappings: behind the n that were found. */
static int add_mapped(struct lbx_loader *loader, struct lbx_loaded *ret, int n, int max)
{
	struct lbx_module module;

	for (size_t i = 0; n < max && lbx_target_module(loader->target, i, &module); i++) {
		bool is_new = lbx_loader_at(loader, module.start, &ret[n]);
		for (int k = 0; k < n && is_new; k++)
			is_new = ret[k].headers != ret[n].headers;
		n += is_new;
	}
	return n;
}

int lbx_loaded_modules(struct lbx_target *target, struct lbx_loaded *ret, int max)
{
	struct lbx_loader loader;
	uint64_t headers, n;
	bool clean = lb_ok();
	int found = 0;

	if (max < 1 || !lbx_target_headers(target, &headers, &n))
		return 0;
	lbx_loader_begin(&loader, target, headers, n);
	if (loader.program.n_segments)
		ret[found++] = loader.program;
	if (lbx_loader_open_list(&loader)) {
		while (found < max && lbx_loader_next(&loader, &ret[found]))
			found += ret[found].headers != loader.program.headers; /* which is in it, too */
	}
	if (loader.unread || (clean && !lb_ok()))
		found = add_mapped(&loader, ret, found, max);
	if (clean)
		lb_clear_error();
	return found;
}

struct lbx_loaded *lbx_loaded_all(struct lbx_target *target, int *ret_n)
{
	enum { FEW = 16, MANY = 512 };
	struct lbx_loaded *modules = NULL, *more;
	int max = FEW;

	for (*ret_n = 0; (more = realloc(modules, (size_t)max * sizeof *modules)); max *= 4) {
		modules = more;
		*ret_n = lbx_loaded_modules(target, modules, max);
		if (*ret_n < max || max > MANY)
			return modules;
	}
	free(modules);
	return NULL;
}

bool lbx_loaded_file(struct lbx_target *target, uint64_t name, char *ret, size_t size)
{
	bool clean = lb_ok(), is_read;
	char path[PATH_LENGTH];

	is_read = name && lbx_target_read_string(target, name, path, sizeof path);
	if (clean)
		lb_clear_error();
	const char *slash = is_read ? strrchr(path, '/') : NULL;
	snprintf(ret, size, "%s", slash ? slash + 1 : is_read ? path : "");
	return ret[0] != '\0';
}

static bool is_mapped(struct lbx_target *target, const char *begins)
{
	struct lbx_module module;
	bool found = false;

	for (size_t i = 0; !found && lbx_target_module(target, i, &module); i++) {
		const char *slash = module.path ? strrchr(module.path, '/') : NULL;
		found = slash && strncmp(slash + 1, begins, strlen(begins)) == 0;
	}
	return found;
}

bool lbx_loaded_named(struct lbx_target *target, const char *begins)
{
	struct lbx_loader loader;
	struct link link;
	uint64_t headers, n;
	bool clean = lb_ok(), found = false;
	char file[FILE_LENGTH];

	if (!lbx_target_headers(target, &headers, &n))
		return false;
	lbx_loader_begin(&loader, target, headers, n);
	if (lbx_loader_open_list(&loader))
		while (!found && next_link(&loader, &link))
			found = lbx_loaded_file(target, link.name, file, sizeof file) &&
				strncmp(file, begins, strlen(begins)) == 0;
	if (!found && (loader.unread || (clean && !lb_ok())))
		found = is_mapped(target, begins);
	if (clean)
		lb_clear_error();
	return found;
}

int lbx_loaded_at(const struct lbx_loaded *modules, int n, uint64_t address)
{
	for (int i = 0; i < n; i++)
		if (lbx_loaded_segment_at(&modules[i], address))
			return i;
	return -1;
}

bool lbx_loaded_is_code(const struct lbx_loaded *modules, int n, uint64_t address)
{
	int i = lbx_loaded_at(modules, n, address);

	return i >= 0 && lbx_loaded_segment_at(&modules[i], address)->executable;
}

const struct lbx_segment *lbx_loaded_segment_at(const struct lbx_loaded *m, uint64_t address)
{
	for (int i = 0; i < m->n_segments; i++)
		if (address - m->segments[i].start < m->segments[i].size)
			return &m->segments[i];
	return NULL;
}

/* ---- whether there are more of them ---- */

/* Where the program's dynamic section has the address of the loader's data, be it there yet or not; 0: nowhere. */
static uint64_t slot_of_debug(struct lbx_loader *loader)
{
	struct dynamic walk = { .target = loader->target, .at = loader->program.dynamic };
	bool clean = lb_ok();
	uint64_t slot = 0;
	Elf64_Dyn d;

	while (!slot && next_dynamic(&walk, &d))
		if (d.d_tag == DT_DEBUG)
			slot = walk.at - (walk.n - walk.i + 1) * sizeof d + offsetof(Elf64_Dyn, d_un);
	if (clean)
		lb_clear_error();
	return slot;
}

static bool all_headers_can_be_read(struct lbx_loader *loader)
{
	struct lbx_loaded module;
	bool clean = lb_ok(), opened = lbx_loader_open_list(loader);

	if (clean)
		lb_clear_error();
	while (opened && lbx_loader_next(loader, &module))
		;
	return opened && !loader->unread;
}

bool lbx_loader_watch(struct lbx_target *target, uint64_t at_phdr, uint64_t at_phnum, uint64_t at_random,
		      struct lbx_loader_watch *ret)
{
	struct lbx_loader loader;

	*ret = (struct lbx_loader_watch){ .random = at_random };
	if (!at_random || !lbx_target_try_read(target, at_random, ret->drawn, sizeof ret->drawn))
		return false;
	lbx_loader_begin(&loader, target, at_phdr, at_phnum);
	ret->slot = slot_of_debug(&loader);
	return loader.program.n_segments > 0 && all_headers_can_be_read(&loader);
}

/* The loader's entry: it is the one that r_debug says where it was loaded. Without such a one the first is. */
static uint64_t find_loader(struct lbx_target *target, uint64_t at)
{
	struct {
		uint64_t version, map, brk, state, base;
	} debug; /* struct r_debug */
	struct link link;
	int n = 0;

	if (!at || !lbx_target_try_read(target, at, &debug, sizeof debug))
		return 0;
	for (at = debug.map; at && n++ < MAX_MODULES && lbx_target_try_read(target, at, &link, sizeof link);
	     at = link.next)
		if (debug.base && link.addr == debug.base)
			return at;
	return debug.map;
}

static uint64_t mix_in(uint64_t sum, uint64_t x)
{
	return lb_mix(sum + LB_MIX_STEP + lb_mix(x + LB_MIX_STEP));
}

bool lbx_loader_watched(struct lbx_target *target, struct lbx_loader_watch *watch, uint64_t *ret)
{
	unsigned char drawn[sizeof watch->drawn];
	struct link link;
	uint64_t half[2], debug;
	int n = 0;

	if (!watch->random || !lbx_target_try_read(target, watch->random, drawn, sizeof drawn) ||
	    memcmp(drawn, watch->drawn, sizeof drawn) != 0)
		return false;
	memcpy(half, drawn, sizeof half);
	*ret = mix_in(half[0], half[1]);
	if (watch->slot && !watch->loader && lbx_target_try_read(target, watch->slot, &debug, sizeof debug))
		watch->loader = find_loader(target, debug);
	for (uint64_t at = watch->loader; at && n++ < MAX_MODULES; at = link.next) {
		if (!lbx_target_try_read(target, at, &link, sizeof link))
			return false;
		*ret = mix_in(mix_in(mix_in(*ret, at), link.addr), link.dynamic);
		if (n == 1) /* while a program is being started its libraries go before the loader */
			*ret = mix_in(*ret, link.prev);
	}
	return true;
}

/* glibc's loader makes addresses of the offsets in a dynamic section, others do not. */
static uint64_t place_of(const struct lbx_loaded *m, uint64_t offset)
{
	return lbx_loaded_segment_at(m, offset) ? offset : m->bias + offset;
}

void lbx_loaded_dynamic(struct lbx_target *target, const struct lbx_loaded *m, const int64_t *tags, int n,
			uint64_t *ret)
{
	struct dynamic walk = { .target = target, .at = m->dynamic };
	bool clean = lb_ok();
	Elf64_Dyn d;

	for (int i = 0; i < n; i++)
		ret[i] = 0;
	while (next_dynamic(&walk, &d))
		for (int i = 0; i < n; i++)
			if (d.d_tag == tags[i])
				ret[i] = place_of(m, d.d_un.d_ptr);
	if (clean)
		lb_clear_error();
}

/* ---- symbols ---- */

struct symbols {
	uint64_t table, names, gnu_hash, hash;
};

static bool find_symbols(struct lbx_target *target, const struct lbx_loaded *m, struct symbols *ret)
{
	static const int64_t tags[] = { DT_SYMTAB, DT_STRTAB, DT_GNU_HASH, DT_HASH };
	uint64_t at[4];

	lbx_loaded_dynamic(target, m, tags, 4, at);
	*ret = (struct symbols){ at[0], at[1], at[2], at[3] };
	return ret->table && ret->names && (ret->gnu_hash || ret->hash);
}

static bool is_symbol(struct lbx_target *target, const struct lbx_loaded *m, const struct symbols *s, uint32_t i,
		      const char *name, uint64_t *ret)
{
	char found[256];
	size_t n = strlen(name) + 1;
	Elf64_Sym symbol;

	if (n > sizeof found || !lbx_target_try_read(target, s->table + i * sizeof symbol, &symbol, sizeof symbol) ||
	    symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE ||
	    (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC && ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) ||
	    !lbx_target_try_read(target, s->names + symbol.st_name, found, n) || memcmp(found, name, n) != 0)
		return false;
	*ret = m->bias + symbol.st_value;
	return lbx_loaded_segment_at(m, *ret) != NULL;
}

static bool find_by_gnu_hash(struct lbx_target *target, const struct lbx_loaded *m, const struct symbols *s,
			     const char *name, uint64_t *ret)
{
	struct {
		uint32_t n_buckets, first, n_words, shift;
	} head;
	uint64_t word;
	uint32_t hash = 5381, i, entry;

	for (const char *at = name; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	if (!lbx_target_try_read(target, s->gnu_hash, &head, sizeof head) || head.n_buckets == 0 || head.n_words == 0 ||
	    head.shift > 31)
		return false;
	uint64_t words = s->gnu_hash + sizeof head, buckets = words + (uint64_t)head.n_words * sizeof word;
	uint64_t chains = buckets + (uint64_t)head.n_buckets * sizeof i;
	if (!lbx_target_try_read(target, words + hash / 64 % head.n_words * sizeof word, &word, sizeof word) ||
	    !(word >> hash % 64 & word >> (hash >> head.shift) % 64 & 1) ||
	    !lbx_target_try_read(target, buckets + (uint64_t)(hash % head.n_buckets) * sizeof i, &i, sizeof i) ||
	    i < head.first)
		return false;
	for (int n = 0; n < MAX_CHAIN && i != UINT32_MAX; n++, i++) {
		if (!lbx_target_try_read(target, chains + (uint64_t)(i - head.first) * sizeof entry, &entry,
					 sizeof entry))
			return false;
		if ((entry | 1) == (hash | 1) && is_symbol(target, m, s, i, name, ret))
			return true;
		if (entry & 1)
			break;
	}
	return false;
}

static bool find_by_hash(struct lbx_target *target, const struct lbx_loaded *m, const struct symbols *s,
			 const char *name, uint64_t *ret)
{
	uint32_t head[2], hash = 0, i;

	for (const char *at = name; *at; at++) {
		hash = (hash << 4) + (unsigned char)*at;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	if (!lbx_target_try_read(target, s->hash, head, sizeof head) || head[0] == 0)
		return false;
	uint64_t at = s->hash + sizeof head + (uint64_t)(hash % head[0]) * sizeof i;
	for (int n = 0; n < MAX_CHAIN; n++) {
		if (!lbx_target_try_read(target, at, &i, sizeof i) || i == 0 || i >= head[1])
			return false;
		if (is_symbol(target, m, s, i, name, ret))
			return true;
		at = s->hash + sizeof head + ((uint64_t)head[0] + i) * sizeof i;
	}
	return false;
}

bool lbx_loaded_symbol(struct lbx_target *target, const struct lbx_loaded *m, const char *name, uint64_t *ret)
{
	struct symbols s;

	if (!find_symbols(target, m, &s))
		return false;
	return s.gnu_hash ? find_by_gnu_hash(target, m, &s, name, ret) : find_by_hash(target, m, &s, name, ret);
}
