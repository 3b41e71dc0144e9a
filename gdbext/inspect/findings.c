#include "inspect/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "target/columns.h"

bool lbx_findings_add(struct lbx_findings *findings, const char *kind, uint64_t tensor, uint64_t address,
		      const char *format, ...)
{
	va_list args;

	if (findings->n == LBX_FINDINGS_MAX) {
		findings->capped = true;
		return false;
	}
	if (!lb_reserve(findings->list, findings->capacity, findings->n + 1))
		return lb_fail("out of memory");
	struct lbx_finding *f = &findings->list[findings->n++];
	f->kind = kind;
	f->tensor = tensor;
	f->address = address;
	f->key = (struct lbx_key){ NULL, 0, 0 };
	va_start(args, format);
	vsnprintf(f->text, sizeof f->text, format, args);
	va_end(args);
	return true;
}

void lbx_findings_deinit(struct lbx_findings *findings)
{
	free(findings->list);
	*findings = (struct lbx_findings){ 0 };
}

void lbx_print_folded(struct lbx_out *out, const char *lead, const char *text)
{
	int column = lbx_columns(lead);

	lbx_printf(out, "%s", lead);
	lbx_wrap(out, column, column);
	lbx_printf(out, "%s\n", text);
}

void lbx_findings_tell_first(struct lbx_out *out, const char *key, const struct lbx_findings *findings, int shown,
			     const char *how)
{
	lbx_begin_list(out, key);
	for (int i = 0; i < findings->n; i++) {
		const struct lbx_finding *f = &findings->list[i];
		LBX_KEY(out, NULL,
			json_pack("{s:s,s:o,s:o,s:o}", "kind", f->kind, "tensor",
				  lbx_json_int_if(f->tensor, (int64_t)f->tensor), "address",
				  lbx_json_address(f->address), "text", lbx_json_string(f->text)));
		if (i < shown)
			lbx_print_folded(out, "  - ", f->text);
	}
	if (findings->n > shown)
		lbx_printf(out, "  … %s%d more (`%s` shows them)\n", findings->capped ? "at least " : "",
			   findings->n - shown, how);
	else if (findings->capped)
		lbx_printf(out, "  … and more\n");
	lbx_end(out);
}

void lbx_findings_tell(struct lbx_out *out, const char *key, const struct lbx_findings *findings)
{
	lbx_findings_tell_first(out, key, findings, findings->n, NULL);
}
