/* The file is written piece by piece under another name, and renamed when it is whole. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "inspect/command.h"
#include "inspect/operand/operand.h"
#include "inspect/tensor/format.h"
#include "inspect/texts.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/writer.h"
#include "io/zip.h"
#include "io/zip_write.h"
#include "kernels/half.h"

enum { PATH = 4096, NAME = 512, PIECE = 1 << 18, AXES_OF_OLD_NUMPY = 32 };

struct save {
	struct lbx_operand from;
	char path[PATH], name[NAME];
	enum lb_dtype dtype;  /* as it is written */
	struct lb_writer writer;
	float *wide;          /* a piece of what is written as float32; or NULL */
	uint32_t crc;
};

/* Elements as they are written: NumPy has no bfloat16, but float32 holds it exactly. */
static const void *converted(struct save *s, const void *elements, int64_t n)
{
	const char *from = elements;

	if (!s->wide)
		return elements;
	for (int64_t i = 0; i < n; i++) {
		uint16_t half;
		memcpy(&half, from + i * (int64_t)sizeof half, sizeof half);
		s->wide[i] = lb_bf16_to_float(half);
	}
	return s->wide;
}

static bool write_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct save *s = context;

	(void)first;
	return lb_writer_put(&s->writer, converted(s, elements, n), (size_t)(n * lbx_dtype_bytes(s->dtype)));
}

static bool sum_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct save *s = context;

	(void)first;
	s->crc = lb_crc32(s->crc, converted(s, elements, n), (size_t)(n * lbx_dtype_bytes(s->dtype)));
	return true;
}

static bool write_elements(struct save *s, struct lbx_out *out)
{
	return lbx_array_walk(&s->from.array, out, "saving", PIECE, write_piece, s);
}

static int64_t nbytes(const struct save *s)
{
	return s->from.array.size * lbx_dtype_bytes(s->dtype);
}

static bool write_npy(struct save *s, struct lbx_out *out)
{
	char header[LB_NPY_WRITTEN];
	size_t n;

	return lb_npy_write_header(s->dtype, s->from.array.rank, s->from.array.shape, header, &n) &&
	       lb_writer_put(&s->writer, header, n) && write_elements(s, out);
}

/* A member's checksum stands before it: the elements are read twice. */
static bool write_npz(struct save *s, struct lbx_out *out)
{
	char header[LB_NPY_WRITTEN];
	size_t n;

	if (!lb_npy_write_header(s->dtype, s->from.array.rank, s->from.array.shape, header, &n))
		return false;
	s->crc = lb_crc32(0, header, n);
	if (!lbx_array_walk(&s->from.array, out, "checking", PIECE, sum_piece, s))
		return false;
	struct lb_zip_member member = { .name = s->name, .size = n + (uint64_t)nbytes(s), .crc = s->crc };
	return lb_zip_begin_member(&s->writer, &member) && lb_writer_put(&s->writer, header, n) &&
	       write_elements(s, out) && lb_zip_end(&s->writer, 1, &member);
}

static bool write_safetensors(struct save *s, struct lbx_out *out)
{
	struct lb_safetensors_entry entry = { .name = s->name,
					      .dtype = s->dtype,
					      .rank = s->from.array.rank,
					      .shape = s->from.array.shape,
					      .end = (uint64_t)nbytes(s) };
	size_t n;
	lb_auto_free char *header = lb_safetensors_header(1, &entry, &(struct lb_safetensors_metadata){ .n = 0 }, &n);
	uint64_t prefix = n;

	if (!header)
		return lb_fail("out of memory");
	return lb_writer_put(&s->writer, &prefix, sizeof prefix) && lb_writer_put(&s->writer, header, n) &&
	       write_elements(s, out);
}

static const struct format {
	const char *extension;
	bool has_bfloat16, has_names;
	bool (*write)(struct save *s, struct lbx_out *out);
} formats[] = {
	{ ".npy", false, false, write_npy },
	{ ".npz", false, true, write_npz },
	{ ".safetensors", true, true, write_safetensors },
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const struct format *format_of(const char *path, size_t n)
{
	for (int i = 0; i < FORMATS; i++) {
		size_t m = strlen(formats[i].extension);
		if (n > m && memcmp(path + n - m, formats[i].extension, m) == 0)
			return &formats[i];
	}
	return NULL;
}

/* FILE or FILE:NAME; the name is the tensor's own when none is given. */
static const struct format *take_path(struct save *s, const char *text)
{
	size_t n = strlen(text);
	const struct format *format = format_of(text, n);

	for (size_t at = n; !format && at-- > 0;)
		if (text[at] == ':' && (format = format_of(text, at)))
			n = at;
	const char *name = text[n] == ':' ? text + n + 1 : s->from.name;
	if (!format || n >= sizeof s->path || strlen(name) >= sizeof s->name) {
		lbx_misuse("save: '%s' is not FILE.npy, FILE.npz[:NAME] or FILE.safetensors[:NAME]", text);
		return NULL;
	}
	snprintf(s->path, sizeof s->path, "%.*s", (int)n, text);
	snprintf(s->name, sizeof s->name, "%s", *name ? name : "tensor");
	if (format->has_names && !lb_is_text((const uint8_t *)s->name, strlen(s->name))) {
		lb_fail("save: the tensor's name is not UTF-8; give one, as %s:NAME", s->path);
		return NULL;
	}
	if (!format->has_names && text[n] == ':') {
		lb_fail("save: an .npy file has no names in it");
		return NULL;
	}
	return format;
}

/* A view may have more elements than any disk: it is not filled first to find out. */
static bool has_room(const struct save *s)
{
	lb_auto_free char *path = strdup(s->path);
	struct statvfs disk;
	char needed[32], left[32];
	uint64_t n;

	if (!path)
		return lb_fail("out of memory");
	if (statvfs(dirname(path), &disk) != 0 || __builtin_mul_overflow((uint64_t)disk.f_bavail, disk.f_frsize, &n) ||
	    n >= (uint64_t)nbytes(s))
		return true;
	lbx_format_bytes(nbytes(s), needed, sizeof needed);
	lbx_format_bytes((int64_t)n, left, sizeof left);
	return lb_fail("save: %s: the values take %s, and there is room for %s", s->path, needed, left);
}

static bool write_file(struct save *s, const struct format *format, struct lbx_out *out)
{
	bool widened = s->from.array.dtype == LB_BF16 && !format->has_bfloat16, done;

	s->dtype = widened ? LB_F32 : s->from.array.dtype;
	s->wide = widened ? malloc(PIECE * sizeof *s->wide) : NULL;
	if (widened && !s->wide)
		return lb_fail("out of memory");
	done = has_room(s) && lb_writer_begin(&s->writer, s->path);
	if (done)
		done = lb_writer_end(&s->writer, format->write(s, out));
	free(s->wide);
	return done;
}

static void tell(const struct save *s, const struct format *format, struct lbx_out *out)
{
	char shape[LBX_LIST_MAX], size[32];

	lbx_begin(out, NULL);
	LBX_KEYS(out,
		 json_pack("{s:o,s:o,s:o,s:s,s:s,s:o,s:I,s:b}", "tensor", lbx_json_string(s->from.label), "file",
			   lbx_json_string(s->path), "name", format->has_names ? lbx_json_string(s->name) : json_null(),
			   "dtype", lbx_array_dtype_name(&s->from.array), "written_as", lbx_dtype_name(s->dtype),
			   "shape", lbx_json_list(s->from.array.shape, s->from.array.rank), "bytes",
			   (json_int_t)nbytes(s), "replayed", s->from.was_lazy));
	lbx_format_list(s->from.array.shape, s->from.array.rank, shape, sizeof shape);
	lbx_format_bytes(nbytes(s), size, sizeof size);
	lbx_styled(out, LBX_NAME, "%s", s->from.label);
	lbx_printf(out, " (%s %s%s) saved to ", lbx_array_dtype_name(&s->from.array), shape,
		   s->from.was_lazy ? ", replayed" : "");
	lbx_styled(out, LBX_FILE, "%s", s->path);
	lbx_printf(out, format->has_names ? " as '%s', %s\n" : "%.0s, %s\n", s->name, size);
	if (s->from.array.encoding)
		lbx_printf(out, "  written as %s: what the %s decode to\n", lbx_dtype_name(s->dtype),
			   s->from.array.encoding->n_scales ? "integers" : "blocks");
	if (s->dtype != s->from.array.dtype)
		lbx_printf(out, "  written as %s, exactly: NumPy's formats have no %s; .safetensors has\n",
			   lbx_dtype_name(s->dtype), lbx_array_dtype_name(&s->from.array));
	if (!format->has_bfloat16 && s->from.array.rank > AXES_OF_OLD_NUMPY)
		lbx_printf(out, "  %d axes: NumPy reads more than %d since 2.0\n", s->from.array.rank,
			   AXES_OF_OLD_NUMPY);
	lbx_end(out);
}

static bool run_save(struct lbx_context *context, const struct lbx_args *args)
{
	lb_auto_free struct save *s = calloc(1, sizeof *s);
	const struct format *format = NULL;

	if (!s)
		return lb_fail("out of memory");
	bool done = lbx_operand_tensor(context, args->v[0], &s->from);
	if (done) {
		format = take_path(s, args->v[1]);
		done = format && (lbx_args_option(args, "force") || access(s->path, F_OK) != 0 ||
				  lb_fail("save: %s exists; --force replaces it", s->path));
		done = done && write_file(s, format, context->out);
		if (done)
			tell(s, format, context->out);
		lbx_operand_release(&s->from);
	}
	return done && lb_ok();
}

const struct lbx_command lbx_command_save = {
	.name = "save",
	.arguments = "T[slice] FILE[:NAME]",
	.summary = "save a tensor's values as .npy, .npz or .safetensors",
	.help = "Row-major, in the tensor's own dtype; bfloat16, which NumPy does not have, becomes\n"
		"float32 in .npy and .npz. A lazy tensor is replayed. The file gets its name when it is\n"
		"whole, and an old one is kept unless --force is given. NAME is the tensor's own, if\n"
		"none is given.\n"
		LBX_SLICE_HELP "\n"
		"Example: save q[0] q.npy, save latents run.safetensors:latents --force",
	.min_args = 2,
	.max_args = 2,
	.needs = LBX_NEEDS_VALUES,
	.options = {
		{ "force", NULL, "replace a file that exists" },
	},
	.run = run_save,
};
