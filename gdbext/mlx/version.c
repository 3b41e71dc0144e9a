#include "mlx/version.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "mlx/set.h"
#include "target/code.h"

enum { NAME = 64, TEXT = 32, DIGITS = 99 };

/* What repairs wheels may have put a part of its hash into its name. */
bool lbx_mlx_is_library(struct lbx_target *target, const struct lbx_loaded *m)
{
	char name[NAME];

	return lbx_loaded_file(target, m->name, name, sizeof name) &&
	       (strncmp(name, "libmlx.", 7) == 0 || strncmp(name, "libmlx-", 7) == 0);
}

bool lbx_mlx_is_code(const struct lbx_mlx_set *s, uint64_t address)
{
	int at = lbx_loaded_at(s->modules, s->n_modules, address);

	return at >= 0 && lbx_loaded_is_code(&s->modules[at], 1, address) &&
	       lbx_mlx_is_library(lbx_mlx_set_target(s), &s->modules[at]);
}

static int parse(const char *text)
{
	int major, minor, patch;

	if (sscanf(text, "%d.%d.%d", &major, &minor, &patch) != 3 || major < 0 || major > DIGITS || minor < 0 ||
	    minor > DIGITS || patch < 0 || patch > DIGITS)
		return LBX_MLX_UNKNOWN;
	return (major * 100 + minor) * 100 + patch;
}

/* Functions by what came with them: those before 0.29.1 do not tell their version. Newest first. */
static int by_exports(struct lbx_target *target, const struct lbx_loaded *m)
{
#define STRING "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define STREAM "St7variantIJSt9monostateNS0_6StreamENS0_6DeviceEEE"
	static const struct {
		const char *name;
		int version;
	} marks[] = {
		{ "_ZN3mlx4core16quantized_matmulENS0_5arrayES1_S1_St8optionalIS1_Ebii" STRING STREAM, 2900 },
		{ "_ZN3mlx4core7reshapeERKNS0_5arrayENS0_11SmallVectorIiLm10ESaIiEEE" STREAM, 2800 },
		{ "_ZN3mlx4core15export_functionE" STRING "RKSt8functionIFSt6vectorINS0_5arrayESaISB_EERKSD_EESF_b",
		  2200 },
		{ "_ZN3mlx4core4evalESt6vectorINS0_5arrayESaIS2_EE", 2100 },
	};
	uint64_t at;

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (lbx_loaded_symbol(target, m, marks[i].name, &at))
			return marks[i].version;
	return LBX_MLX_UNKNOWN;
}

static int version_of(struct lbx_target *target, const struct lbx_loaded *m)
{
	char text[TEXT];
	uint64_t at;

	if (lbx_loaded_symbol(target, m, "_ZN3mlx4core7versionEv", &at))
		return lbx_code_address(target, at, &at) && lbx_target_read_string(target, at, text, sizeof text)
			   ? parse(text)
			   : LBX_MLX_UNKNOWN;
	return by_exports(target, m);
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
		if (lbx_mlx_is_library(target, &s->modules[i]))
			s->version = version_of(target, &s->modules[i]);
	if (clean)
		lb_clear_error();
	return s->version;
}
