/* struct ggml_compute_params is { int ith, nth; size_t wsize; void *wdata; struct ggml_threadpool *threadpool; … } from
 * 2024-08 on, before these functions were exported. */
#include "ggml/per_node.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "lazybones.h"
#include "target/exports.h"
#include "target/printable.h"

static bool is_fused(const char *name)
{
	static const char begin[] = "ggml_compute_forward_", end[] = "_fused";
	size_t n = strlen(name);

	return strncmp(name, begin, sizeof begin - 1) == 0 && n > sizeof end &&
	       strcmp(name + n - (sizeof end - 1), end) == 0;
}

static void find_fused(struct lbx_target *target, const struct lbx_loaded *m, struct lbx_ggml_per_node *ret)
{
	struct lbx_exports exports = { 0 };
	char name[LBX_EXPORT_NAME];

	lbx_exports_open(target, m, &exports);
	for (size_t i = 0; i < exports.n; i++) {
		if (!lbx_exports_name(&exports, i, name) || !is_fused(name))
			continue;
		if (strcmp(name, "ggml_compute_forward_rms_norm_mul_fused") == 0)
			ret->two = exports.list[i].start;
		else
			snprintf(ret->unknown, sizeof ret->unknown, "%.*s", (int)sizeof ret->unknown - 1, name);
	}
	lbx_make_printable(ret->unknown);
	lbx_exports_close(&exports);
	lb_clear_error();
}

bool lbx_ggml_per_node_find(struct lbx_target *target, struct lbx_ggml_per_node *ret)
{
	struct lbx_target *direct = lbx_target_direct(target);
	int n;
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(target, &n);

	*ret = (struct lbx_ggml_per_node){ .one = 0 };
	for (int i = 0; modules && i < n && !ret->one && !lbx_target_waits(target); i++)
		if (lbx_loaded_symbol(target, &modules[i], "ggml_cpu_extra_compute_forward", &ret->one))
			find_fused(direct ? direct : target, &modules[i], ret);
	return ret->one;
}
