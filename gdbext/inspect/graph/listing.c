#include "inspect/graph/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/number.h"
#include "target/columns.h"
#include "target/printable.h"

enum { OFTEN = 1024, WIDEST = 72, LEFT_MAX = 1024, OPERANDS_SHOWN = 12 };

static void write_constant(const struct lbx_listing_line *line, char *ret, size_t size)
{
	uint64_t element[2] = { line->value, 0 };
	char number[LBX_NUMBER_MAX];

	lbx_number_scalar(element, line->dtype, number);
	snprintf(ret, size, "%s", number);
}

void lbx_listing_label(const struct lbx_listing *listing, uint32_t i, char *ret, size_t size)
{
	const struct lbx_listing_line *line = &listing->lines[i];

	if (line->repeated)
		snprintf(ret, size, "%s%%%u", line->name, i + 1);
	else if (line->name[0])
		snprintf(ret, size, "%s", line->name);
	else if (i < listing->n_lines)
		snprintf(ret, size, "%%%u", i + 1);
	else if (line->is_constant)
		write_constant(line, ret, size);
	else
		snprintf(ret, size, "in%u", i + 1 - listing->n_lines);
	lbx_make_printable(ret);
}

uint32_t lbx_listing_line_at(const struct lbx_listing *listing, uint64_t offset)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < listing->n_lines; i++) {
		if (listing->lines[i].code == 0)
			continue;
		if (found && listing->lines[i].code > offset)
			break;
		found = i + 1;
	}
	return found;
}

/* "q = matmul(x, wq)" */
static void write_operation(const struct lbx_listing *listing, uint32_t i, char ret[LEFT_MAX])
{
	const struct lbx_listing_line *line = &listing->lines[i];
	char label[LBX_LABEL_MAX];

	lbx_listing_label(listing, i, label, sizeof label);
	int n = snprintf(ret, LEFT_MAX, "%s = %s(", label, line->op);
	if (line->is_constant && n < LEFT_MAX - 1) {
		write_constant(line, label, sizeof label);
		n += snprintf(ret + n, LEFT_MAX - (size_t)n, "%s", label);
	}
	for (uint32_t k = 0; k < line->n_operands && n < LEFT_MAX - 1; k++) {
		const char *comma = k ? ", " : "";
		if (k == OPERANDS_SHOWN) {
			n += snprintf(ret + n, LEFT_MAX - (size_t)n, ", … %u more", line->n_operands - k);
			break;
		}
		lbx_listing_label(listing, line->operands[k] - 1, label, sizeof label);
		n += snprintf(ret + n, LEFT_MAX - (size_t)n, "%s%s", comma, label);
	}
	if (n < LEFT_MAX - 1)
		snprintf(ret + n, LEFT_MAX - (size_t)n, ")");
}

/* "float32 (64, 64)" */
static void write_type(const struct lbx_listing_line *line, char *ret, size_t size)
{
	char shape[192];

	lbx_format_list(line->shape, line->rank, shape, sizeof shape);
	snprintf(ret, size, "%s %s", lbx_dtype_name(line->dtype), shape);
}

static void write_site(struct lbx_out *out, const struct lbx_listing_text *text, uint64_t site)
{
	struct lbx_source_line at = { .line = 0 };

	if (site == 0)
		return;
	lbx_printf(out, "  # ");
	if (!text->line(text->context, site, &at) || (!at.file[0] && !at.function[0])) {
		lbx_styled(out, LBX_ADDRESS, "0x%" PRIx64, site);
		return;
	}
	const char *slash = strrchr(at.file, '/');
	if (at.file[0])
		lbx_styled(out, LBX_FILE, "%s:%d", slash ? slash + 1 : at.file, at.line);
	if (at.function[0])
		lbx_printf(out, "%s%s", at.file[0] ? " " : "", at.function);
}

static void pad(struct lbx_out *out, const char *text, int width)
{
	int columns = lbx_columns(text);

	lbx_printf(out, "%*s", width > columns ? width - columns : 0, "");
}

static void write_line(struct lbx_out *out, const struct lbx_listing_text *text, uint32_t i, const int *widths)
{
	char left[LEFT_MAX], type[256], value[512] = "";

	write_operation(text->listing, i, left);
	write_type(&text->listing->lines[i], type, sizeof type);
	lbx_wrap(out, 0, 4);
	if (text->numbered)
		lbx_printf(out, "%*u  ", snprintf(NULL, 0, "%u", text->listing->n_lines), i + 1);
	lbx_printf(out, "%s", left);
	pad(out, left, widths[0]);
	lbx_printf(out, "  %s", type);
	pad(out, type, widths[1]);
	write_site(out, text, text->listing->lines[i].site);
	if (text->value)
		text->value(text->context, i, value, sizeof value);
	if (value[0])
		lbx_printf(out, "  %s", value);
	lbx_printf(out, "\n");
}

static void measure(const struct lbx_listing *listing, uint32_t from, uint32_t to, int *widths)
{
	char left[LEFT_MAX], type[256];

	widths[0] = widths[1] = 0;
	for (uint32_t i = from; i < to; i++) {
		write_operation(listing, i, left);
		write_type(&listing->lines[i], type, sizeof type);
		const char *texts[] = { left, type };
		for (int k = 0; k < 2; k++) {
			int n = lbx_columns(texts[k]);
			if (n > widths[k])
				widths[k] = n < WIDEST ? n : WIDEST;
		}
	}
}

static void write_inputs(struct lbx_out *out, const struct lbx_listing_text *text)
{
	const struct lbx_listing *listing = text->listing;
	char label[LBX_LABEL_MAX], type[256];
	bool first = true;

	for (uint32_t i = listing->n_lines; i < listing->n_lines + listing->n_inputs; i++) {
		const struct lbx_listing_line *line = &listing->lines[i];
		if (line->is_constant && !line->name[0])
			continue;
		if (first)
			lbx_printf(out, "\n# from outside:\n");
		first = false;
		lbx_wrap(out, 0, 6);
		lbx_listing_label(listing, i, label, sizeof label);
		write_type(line, type, sizeof type);
		lbx_printf(out, "#   %s: %s", label, type);
		write_site(out, text, line->site);
		lbx_printf(out, "\n");
	}
}

bool lbx_listing_write(struct lbx_out *out, const struct lbx_listing_text *text, uint32_t from, uint32_t to)
{
	const struct lbx_listing *listing = text->listing;
	int widths[2];

	measure(listing, from, to, widths);
	for (uint32_t i = from; i < to; i++) {
		if ((text->value || i % OFTEN == OFTEN - 1) && !lbx_progress(out, "writing the listing", i, to))
			return false;
		write_line(out, text, i, widths);
	}
	if (from == 0 && to == listing->n_lines)
		write_inputs(out, text);
	return true;
}
