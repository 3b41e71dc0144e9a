#include "library_image.h"

#include <elf.h>

enum {
	DYNAMIC = LIBRARY_PROGRAM + 0x200,
	DEBUG = LIBRARY_PROGRAM + 0x240,
	LINKS = LIBRARY_PROGRAM + 0x260,
	PATH = LIBRARY_PROGRAM + 0x300,
	N_HEADERS = 5,
	NAMES = LIBRARY + 0x200,
	SYMBOLS = LIBRARY + 0xc00,
	HASH = SYMBOLS + 0xc0,
	SYMBOL_NAMES = SYMBOLS + 0x100,
	LIBRARY_DYNAMIC = LIBRARY + 0x180,
	WORD = 8
};

static void put(struct library_image *image, uint64_t address, uint64_t value)
{
	regions_put(image->regions, address, value, WORD);
}

/* Bytes that may be read, that may be run, that may be written. */
static void put_headers(struct library_image *image, uint64_t at, uint64_t size, uint64_t dynamic, uint64_t code,
			uint64_t data)
{
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
				    .e_phoff = sizeof header,
				    .e_phnum = N_HEADERS,
				    .e_phentsize = sizeof(Elf64_Phdr) };
	const Elf64_Phdr headers[N_HEADERS] = {
		{ .p_type = PT_PHDR, .p_vaddr = sizeof header },
		{ .p_type = PT_LOAD, .p_memsz = code, .p_filesz = code, .p_flags = PF_R },
		{ .p_type = PT_LOAD,
		  .p_vaddr = code,
		  .p_memsz = data - code,
		  .p_filesz = data - code,
		  .p_flags = PF_R | PF_X },
		{ .p_type = PT_LOAD,
		  .p_vaddr = data,
		  .p_memsz = size - data,
		  .p_filesz = size - data,
		  .p_flags = PF_R | PF_W },
		{ .p_type = PT_DYNAMIC, .p_vaddr = dynamic },
	};

	regions_copy(image->regions, at, &header, sizeof header);
	regions_copy(image->regions, at + sizeof header, headers, sizeof headers);
}

static void put_modules(struct library_image *image, const char *file)
{
	const Elf64_Dyn dynamic[] = { { .d_tag = DT_DEBUG, .d_un.d_ptr = DEBUG }, { .d_tag = DT_NULL } };
	const uint64_t debug[] = { 1, LINKS }, links[2][5] = { { LIBRARY_PROGRAM, 0, DYNAMIC, LINKS + 0x28, 0 },
							       { LIBRARY, PATH, LIBRARY_DYNAMIC, 0, LINKS } };
	uint64_t path = PATH;

	put_headers(image, LIBRARY_PROGRAM, LIBRARY_PROGRAM_SIZE, DYNAMIC - LIBRARY_PROGRAM, LIBRARY_PROGRAM_SIZE,
		    LIBRARY_PROGRAM_SIZE);
	put_headers(image, LIBRARY, LIBRARY_SIZE, LIBRARY_DYNAMIC - LIBRARY, LIBRARY_CODE - LIBRARY,
		    LIBRARY_DATA - LIBRARY);
	regions_copy(image->regions, DYNAMIC, dynamic, sizeof dynamic);
	regions_copy(image->regions, DEBUG, debug, sizeof debug);
	regions_copy(image->regions, LINKS, links, sizeof links);
	regions_text(image->regions, &path, file);
}

void library_image_export(struct library_image *image, const char *const *names, const uint64_t *at, uint32_t n)
{
	const Elf64_Dyn dynamic[] = {
		{ .d_tag = DT_SYMTAB, .d_un.d_ptr = SYMBOLS },
		{ .d_tag = DT_STRTAB, .d_un.d_ptr = SYMBOL_NAMES },
		{ .d_tag = DT_HASH, .d_un.d_ptr = HASH },
		{ .d_tag = DT_NULL },
	};
	const uint32_t head[] = { 1, n + 1, 1, 0 }; /* one bucket, from 1 on */
	uint64_t text = SYMBOL_NAMES + 1;

	regions_copy(image->regions, HASH, head, sizeof head);
	for (uint32_t i = 0; i < n; i++) {
		const Elf64_Sym symbol = { .st_name = (uint32_t)(text - SYMBOL_NAMES),
					   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
					   .st_shndx = 1,
					   .st_value = at[i] - LIBRARY };
		regions_text(image->regions, &text, names[i]);
		regions_copy(image->regions, SYMBOLS + (i + 1) * sizeof symbol, &symbol, sizeof symbol);
		regions_put(image->regions, HASH + sizeof head + i * 4, i + 1 < n ? i + 2 : 0, 4);
	}
	regions_copy(image->regions, LIBRARY_DYNAMIC, dynamic, sizeof dynamic);
}

/* Its type_info: what tells type_infos apart, the name, the base; then how far the whole object is, the type_info, the
 * functions. */
struct library_class library_image_class(struct library_image *image, const char *name,
					 const struct library_class *base, int n, const uint64_t *functions)
{
	struct library_class class = { .type = image->classes, .vtable = image->classes + 5 * WORD };

	put(image, class.type, LIBRARY_CODE);
	put(image, class.type + WORD, regions_text(image->regions, &image->names, name));
	put(image, class.type + 2 * WORD, base ? base->type : 0);
	put(image, class.vtable - WORD, class.type);
	for (int i = 0; i < n; i++)
		put(image, class.vtable + WORD * (uint64_t)i, functions[i]);
	image->classes = class.vtable + WORD * (uint64_t)n;
	return class;
}

void library_image_create(struct library_image *image, struct regions *regions, const char *path)
{
	*image = (struct library_image){ .regions = regions, .classes = LIBRARY_DATA, .names = NAMES };
	regions_create(regions, LIBRARY_PROGRAM + sizeof(Elf64_Ehdr), N_HEADERS);
	regions_add(regions, LIBRARY_PROGRAM, LIBRARY_PROGRAM_SIZE, LIBRARY_PROGRAM_SIZE);
	regions_add(regions, LIBRARY, LIBRARY_SIZE, LIBRARY_DATA - LIBRARY);
	put_modules(image, path);
}
