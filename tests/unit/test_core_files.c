/* Files that a program had mapped: which are read for what its core did not save, and what is said. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "target/cache.h"
#include "target/core_files.h"
#include "target/target.h"

enum { START = 0x10000, PAGE = 4096, BYTES = PAGE + 100 };

static char path[] = "/tmp/lazybones-files-XXXXXX";
static struct timespec written = { 1000, 500 };
static char contents[BYTES], saved[BYTES];
static uint64_t n_saved;

static const char *saved_at(const void *context, uint64_t address, uint64_t *n)
{
	(void)context;
	*n = n_saved;
	return n_saved && address == START ? saved : NULL;
}

/* The file with its time, and its mapping of so many pages from START. The core saved nothing. */
static struct lbx_core_files *files(long seconds, long nanoseconds, uint64_t pages,
				    const struct lbx_core_options *options)
{
	static char note[5 * sizeof(uint64_t) + sizeof path];
	uint64_t words[] = { 1, PAGE, START, START + pages * PAGE, 0 };
	struct timespec times[2] = { { 1, 0 }, { seconds, nanoseconds } };
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_int_equal(write(fd, contents, BYTES), BYTES);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
	memcpy(note, words, sizeof words);
	memcpy(note + sizeof words, path, sizeof path);
	struct lbx_core_files *f = lbx_core_files_create(note, sizeof note, options, &written, saved_at, NULL);
	assert_non_null(f);
	return f;
}

static void is_read(struct lbx_core_files *f, bool proven)
{
	uint64_t n;
	size_t others;
	const char *bytes = lbx_core_files_at(f, START + 7, &n);

	assert_non_null(bytes);
	assert_int_equal(n, BYTES - 7);
	assert_memory_equal(bytes, contents + 7, n);
	assert_int_equal(lbx_core_files_proven(f, START), proven);
	assert_null(lbx_core_files_untold(f, &others)); /* of what was only looked at nothing is to be told */
	lbx_core_files_tell(f, START + 7);
	if (!proven) {
		assert_string_equal(lbx_core_files_untold(f, &others), path);
		assert_int_equal(others, 0);
	}
	assert_null(lbx_core_files_untold(f, &others));
	lbx_core_files_destroy(f);
}

static void is_refused(struct lbx_core_files *f, const char *why)
{
	uint64_t n;
	size_t others;

	assert_null(lbx_core_files_at(f, START + 7, &n));
	assert_string_equal(lbx_core_files_why(f, START + 7), why);
	assert_null(lbx_core_files_untold(f, &others));
	lbx_core_files_destroy(f);
}

static const struct lbx_core_options nowhere;

static void weights(void **state)
{
	(void)state;
	is_read(files(1000, 500, 2, &nowhere), false);
	is_read(files(999, 999, 2, &nowhere), false);
	is_refused(files(1000, 501, 2, &nowhere), "was modified after the core was written");
	is_refused(files(1001, 0, 2, &nowhere), "was modified after the core was written");
	is_refused(files(999, 0, 3, &nowhere), "is missing or has changed"); /* it was longer */
	written = (struct timespec){ 0 };
	is_refused(files(999, 0, 2, &nowhere), "may have been modified since: the core came through a pipe, so when it "
					       "was written is not known");
	written = (struct timespec){ 1000, 500 };
}

static void with_a_saved_beginning(void **state)
{
	(void)state;
	n_saved = PAGE;
	memcpy(saved, contents, sizeof saved);
	is_read(files(2000, 0, 2, &nowhere), true);
	saved[PAGE - 1] ^= 1;
	is_refused(files(999, 0, 2, &nowhere), "is missing or has changed");
	n_saved = 0;
}

static void programs(void **state)
{
	char first[4];

	(void)state;
	memcpy(first, contents, 4);
	memcpy(contents,
	       "\x7f"
	       "ELF",
	       4);
	is_refused(files(999, 0, 2, &nowhere), "is missing or has changed"); /* no build id was saved */
	memcpy(contents, first, 4);
}

/* Nothing was saved to prove it by: it is read as it is, unless it is newer, or was written to. */
static void whole_programs(void **state)
{
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_phoff = sizeof header,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	Elf64_Phdr p = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = BYTES, .p_memsz = BYTES };
	char first[sizeof header + sizeof p];

	(void)state;
	memcpy(first, contents, sizeof first);
	memcpy(contents, &header, sizeof header);
	memcpy(contents + sizeof header, &p, sizeof p);
	is_read(files(999, 0, 2, &nowhere), false);
	is_refused(files(1001, 0, 2, &nowhere), "was modified after the core was written");
	p.p_flags |= PF_W;
	memcpy(contents + sizeof header, &p, sizeof p);
	is_refused(files(999, 0, 2, &nowhere), "is missing or has changed");
	memcpy(contents, first, sizeof first);
}

static void elsewhere(void **state)
{
	char root[] = "/tmp/lazybones-root-XXXXXX", folder[64], other[96];
	struct lbx_core_options options = { .sysroot = root };

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(folder, sizeof folder, "%s/tmp", root);
	snprintf(other, sizeof other, "%s%s", root, path);
	assert_int_equal(mkdir(folder, 0700), 0);
	is_read(files(999, 0, 2, &options), false); /* not below the root: where it was */
	struct lbx_core_files *f = files(1001, 0, 2, &options);
	struct timespec times[2] = { { 1, 0 }, { 2, 0 } };
	int fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, contents, BYTES), BYTES);
	futimens(fd, times);
	close(fd);
	is_read(f, false);
	f = files(999, 0, 2, &options);
	unlink(other);
	unlink(path);
	is_refused(f, "is missing or has changed");
	rmdir(folder);
	rmdir(root);
}

/* Memory of which what lies beyond 1 MiB is of a file that may have changed. */
static uint64_t lowest, highest;

static bool read_noting(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	lowest = address < lowest ? address : lowest;
	highest = address + n > highest ? address + n : highest;
	memset(to, 7, n);
	return true;
}

static bool is_plain(struct lbx_target *target, uint64_t address, uint64_t n)
{
	(void)target;
	return address + n <= 1 << 20;
}

/* The table's cache fetches neighbours, but not those that an answer would have to speak of. */
static void neighbours(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_noting, .read_ahead = is_plain };
	struct lbx_target target = { .ops = &ops, .liveness = LBX_CORE };
	struct lbx_cache *cache = lbx_cache_create(&target);
	char bytes[16], text[16];

	(void)state;
	assert_non_null(cache);
	lowest = UINT64_MAX, highest = 0;
	assert_true(lbx_cache_read(cache, 4096, bytes, sizeof bytes));
	assert_true(lowest < 4096 && highest > 4096 + sizeof bytes);
	lowest = UINT64_MAX, highest = 0;
	assert_true(lbx_cache_read(cache, (1 << 20) + 100, bytes, sizeof bytes));
	assert_non_null(lbx_cache_at(cache, (1 << 20) + 90, 8, text));
	assert_int_equal(lowest, (1 << 20) + 90);
	assert_int_equal(highest, (1 << 20) + 100 + sizeof bytes);
	lbx_cache_destroy(cache);
}

/* ---- a segment that could have been written to ---- */

enum { PARTS = 4 }; /* headers, data, what was moved to the end, more data; a page each */

static bool part_saved[PARTS];

static const char *part_saved_at(const void *context, uint64_t address, uint64_t *n)
{
	uint64_t i = (address - START) / PAGE;

	(void)context;
	*n = PAGE;
	return address >= START && i < PARTS && part_saved[i] ? saved : NULL;
}

static bool third_part_is_read(unsigned flags)
{
	static char note[(2 + 3 * PARTS) * sizeof(uint64_t) + PARTS * sizeof path], file[PARTS * PAGE];
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			      .e_phoff = sizeof header,
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = PARTS };
	uint64_t words[2 + 3 * PARTS] = { PARTS, PAGE }, n;
	struct timespec times[2] = { { 1, 0 }, { 999, 0 } };
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	memcpy(file, &header, sizeof header);
	for (uint64_t i = 0; i < PARTS; i++) {
		Elf64_Phdr p = { .p_type = PT_LOAD,
				 .p_flags = i == 0   ? PF_R
					    : i == 2 ? flags
						     : PF_R | PF_W,
				 .p_offset = i * PAGE,
				 .p_vaddr = i * PAGE,
				 .p_filesz = PAGE,
				 .p_memsz = PAGE };
		memcpy(file + sizeof header + i * sizeof p, &p, sizeof p);
		memcpy(words + 2 + 3 * i, (uint64_t[]){ START + i * PAGE, START + (i + 1) * PAGE, i },
		       3 * sizeof *words);
		memcpy(note + sizeof words + i * sizeof path, path, sizeof path);
	}
	assert_int_equal(write(fd, file, sizeof file), sizeof file);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
	memcpy(saved, file, sizeof header);
	memcpy(note, words, sizeof words);
	struct lbx_core_files *f = lbx_core_files_create(note, sizeof note, &nowhere, &written, part_saved_at, NULL);
	assert_non_null(f);
	const char *bytes = lbx_core_files_at(f, START + 2 * PAGE + 7, &n);
	assert_int_equal(lbx_core_files_unwritten(f, START + 2 * PAGE + 7), bytes && flags & PF_W);
	assert_true(!bytes || n == PAGE - 7);
	lbx_core_files_destroy(f);
	return bytes;
}

/* It was not, if the core saved nothing of it, and saved another one that was. */
static void what_was_never_written_is_of_the_file(void **state)
{
	(void)state;
	memset(part_saved, 0, sizeof part_saved);
	assert_true(third_part_is_read(PF_R));
	assert_false(third_part_is_read(PF_R | PF_W));
	part_saved[1] = true;
	assert_true(third_part_is_read(PF_R | PF_W));
	part_saved[1] = false;
	part_saved[3] = true;
	assert_true(third_part_is_read(PF_R | PF_W));
	part_saved[2] = true; /* in part: the rest has been lost */
	assert_false(third_part_is_read(PF_R | PF_W));
	part_saved[2] = false;
	part_saved[3] = false;
	part_saved[0] = true; /* headers are saved by another rule */
	assert_false(third_part_is_read(PF_R | PF_W));
	memset(part_saved, 0, sizeof part_saved);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours),
		cmocka_unit_test(weights),
		cmocka_unit_test(with_a_saved_beginning),
		cmocka_unit_test(programs),
		cmocka_unit_test(whole_programs),
		cmocka_unit_test(what_was_never_written_is_of_the_file),
		cmocka_unit_test(elsewhere),
	};
	close(mkstemp(path));
	for (int i = 0; i < BYTES; i++)
		contents[i] = (char)(i % 251);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
