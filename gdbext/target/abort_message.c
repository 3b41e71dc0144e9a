/* glibc keeps a copy of the message for debuggers (its assert and libc_fatal): __abort_msg points to its
 * size, an unsigned int, and the text. */
#include "target/abort_message.h"

#include <stdlib.h>
#include <string.h>

#include "lazybones.h"
#include "target/file_symbol.h"
#include "target/loader.h"
#include "target/printable.h"

enum { SIZE_MOST = 1 << 20 };

/* Where the library has the pointer. */
static bool find_pointer(struct lbx_target *target, uint64_t *ret)
{
	struct lbx_loaded *modules;
	char name[64];
	bool found = false;
	int n = 0;

	modules = lbx_loaded_all(target, &n);
	for (int i = 0; modules && i < n && !found; i++)
		found = lbx_loaded_file(target, modules[i].name, name, sizeof name) && strncmp(name, "libc", 4) == 0 &&
			lbx_loaded_symbol(target, &modules[i], "__abort_msg", ret);
	free(modules);
	return found;
}

/* Of a program that has the library within itself. */
static bool find_in_program(struct lbx_target *target, uint64_t *ret)
{
	struct lbx_module m;

	for (size_t i = 0; lbx_target_module(target, i, &m); i++) {
		if (m.is_program && m.file && lbx_module_is_used(&m) && lbx_file_symbol(m.file, "__abort_msg", ret)) {
			*ret += m.start;
			return true;
		}
	}
	return false;
}

static bool read_message(struct lbx_target *target, char *ret, size_t size)
{
	uint64_t at, message;
	uint32_t bytes;

	if ((!find_pointer(target, &at) && !find_in_program(target, &at)) ||
	    !lbx_target_try_read(target, at, &message, sizeof message) || !message ||
	    !lbx_target_try_read(target, message, &bytes, sizeof bytes) || bytes <= sizeof bytes || bytes > SIZE_MOST ||
	    !lbx_target_read_string(target, message + sizeof bytes, ret, size))
		return false;
	for (size_t n = strlen(ret); n > 0 && ret[n - 1] == '\n'; n--)
		ret[n - 1] = '\0';
	lbx_make_printable(ret);
	return *ret;
}

bool lbx_abort_message(struct lbx_target *target, char *ret, size_t size)
{
	bool clean = lb_ok();
	bool found = read_message(target, ret, size);

	if (clean)
		lb_clear_error();
	return found;
}
