#include "target/cxx_types.h"

#include <string.h>

#include "lazybones.h"
#include "target/demangle.h"

enum { WORD = 8, BASES_MAX = 16, DEPTH_MAX = 16, WHOLE_MAX = 1 << 30 };

/* As it stands there: one that begins with '*' is of a class that only one module knows. */
bool lbx_cxx_type_mangled(struct lbx_target *target, uint64_t type, char ret[LBX_CXX_MANGLED])
{
	bool clean = lb_ok();
	uint64_t name;

	if (!lbx_target_try_read(target, type + WORD, &name, sizeof name) || !name ||
	    !lbx_target_try_read(target, name, ret, 1))
		return false;
	bool is_read = lbx_target_read_string(target, name + (ret[0] == '*'), ret, LBX_CXX_MANGLED);
	if (clean)
		lb_clear_error();
	return is_read && ret[0] && strlen(ret) < LBX_CXX_MANGLED - 1 && strchr("N123456789S", ret[0]) &&
	       !ret[strspn(ret, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")];
}

bool lbx_cxx_type_name(struct lbx_target *target, uint64_t type, char ret[LBX_CXX_NAME])
{
	char mangled[2 + LBX_CXX_MANGLED] = "_Z";

	if (!lbx_cxx_type_mangled(target, type, mangled + 2))
		return false;
	/* a name within a namespace is demangled as a variable's would be */
	lbx_demangle(mangled, ret, LBX_CXX_NAME);
	return ret[0] != '\0';
}

bool lbx_cxx_type_within(struct lbx_target *target, uint64_t vtable, int64_t *ret_top, uint64_t *ret)
{
	uint64_t front[2];

	if (!vtable || vtable % WORD || !lbx_target_try_read(target, vtable - sizeof front, front, sizeof front) ||
	    !front[1])
		return false;
	*ret_top = (int64_t)front[0];
	*ret = front[1];
	return *ret_top <= 0 && *ret_top > -WHOLE_MAX;
}

bool lbx_cxx_type_of(struct lbx_target *target, uint64_t vtable, uint64_t *ret)
{
	int64_t top; /* 0 in the first table of a class */

	return lbx_cxx_type_within(target, vtable, &top, ret) && top == 0;
}

bool lbx_cxx_type_is(struct lbx_target *target, uint64_t type, const char *mangled)
{
	uint64_t words[2]; /* the base; or flags and how many there are, and the first base */
	char name[LBX_CXX_MANGLED];

	for (int i = 0; i < DEPTH_MAX && lbx_cxx_type_mangled(target, type, name); i++) {
		if (strcmp(name, mangled) == 0)
			return true;
		if (!lbx_target_try_read(target, type + 2 * WORD, words, sizeof words))
			return false;
		bool has_several = words[0] >> 32 >= 1 && words[0] >> 32 <= BASES_MAX && (words[0] & UINT32_MAX) < 4;
		type = words[has_several];
	}
	return false;
}
