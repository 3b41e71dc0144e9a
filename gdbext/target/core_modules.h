/* The ELF files that a core's program had loaded: from its NT_FILE note, which survives where the
 * loader's own list does not. */
#ifndef LBX_CORE_MODULES_H
#define LBX_CORE_MODULES_H

#include "target/core_files.h"

struct lbx_core_modules;

/* What is to be known of a core. */
struct lbx_core_view {
	const void *context;
	lbx_saved_fn *saved;
	bool (*may_be_code)(const void *context, uint64_t address);
	struct lbx_core_files *files; /* NULL: no NT_FILE note; then at most the program is known */
	uint64_t program;             /* an address in the program's first page; 0: not known */
	struct lbx_core_options options;
	struct timespec written;
};

/* NULL with an error when memory is out. */
struct lbx_core_modules *lbx_core_modules_create(const struct lbx_core_view *view);
void lbx_core_modules_destroy(struct lbx_core_modules *modules); /* NULL is fine */
size_t lbx_core_modules_n(const struct lbx_core_modules *modules);
/* False: the core lists no files, so that there is the program alone, or not even that. */
bool lbx_core_modules_listed(const struct lbx_core_modules *modules);
/* By address. The strings live as long as the modules. */
const struct lbx_module *lbx_core_module(const struct lbx_core_modules *modules, size_t i);
/* What its addresses were moved by; false: not known. */
bool lbx_core_module_bias(const struct lbx_core_modules *modules, size_t i, uint64_t *ret);
/* Why the file that options.exe names is not used, or is doubtful; false: there is nothing to say. */
bool lbx_core_modules_warning(const struct lbx_core_modules *modules, char *ret, size_t size);

#endif
