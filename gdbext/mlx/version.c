#include "mlx/version.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "target/code.h"

enum { NAME = 64, TEXT = 32, DIGITS = 99 };

/* What repairs wheels may have put a part of its hash into its name. */
static bool is_library(struct lbx_target *target, const struct lbx_loaded *m)
{
	char name[NAME];

	return lbx_loaded_file(target, m->name, name, sizeof name) &&
	       (strncmp(name, "libmlx.", 7) == 0 || strncmp(name, "libmlx-", 7) == 0);
}

static int parse(const char *text)
{
	int major, minor, patch;

	if (sscanf(text, "%d.%d.%d", &major, &minor, &patch) != 3 || major < 0 || major > DIGITS || minor < 0 ||
	    minor > DIGITS || patch < 0 || patch > DIGITS)
		return LBX_MLX_UNKNOWN;
	return (major * 100 + minor) * 100 + patch;
}

/* eval() is a function that all of them export. */
static int version_of(struct lbx_target *target, const struct lbx_loaded *m)
{
	char text[TEXT];
	uint64_t at;

	if (lbx_loaded_symbol(target, m, "_ZN3mlx4core7versionEv", &at))
		return lbx_code_address(target, at, &at) && lbx_target_read_string(target, at, text, sizeof text)
			   ? parse(text)
			   : LBX_MLX_UNKNOWN;
	return lbx_loaded_symbol(target, m, "_ZN3mlx4core4evalESt6vectorINS0_5arrayESaIS2_EE", &at) ? LBX_MLX_OLDER
												    : LBX_MLX_UNKNOWN;
}

int lbx_mlx_version(struct lbx_mlx_set *s)
{
	struct lbx_target *target = lbx_mlx_set_target(s);

	if (s->has_version)
		return s->version;
	s->has_version = true;
	s->version = LBX_MLX_UNKNOWN;
	bool clean = lb_ok();
	for (int i = 0; i < s->n_modules && s->version == LBX_MLX_UNKNOWN; i++)
		if (is_library(target, &s->modules[i]))
			s->version = version_of(target, &s->modules[i]);
	if (clean)
		lb_clear_error();
	return s->version;
}
