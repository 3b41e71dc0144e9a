#include "inspect/forensics/rank_digest.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/file.h"
#include "inspect/operand/select.h"
#include "inspect/operand/value.h"
#include "inspect/tensor/name.h"
#include "target/printable.h"

enum { OFTEN = 1024 }; /* tensors between two looks at the clock, and at Ctrl-C */
static const char format[] = "lazybones digest 1";
static const char *const found_as[] = { "absent", "lazy", "unreadable", "value" };

static struct lbx_digested *add(struct lbx_rank_digest *d, const char *name, uint64_t id)
{
	if (!lb_reserve(d->list, d->room, d->n + 1))
		return NULL;
	d->list[d->n] = (struct lbx_digested){ .name = strdup(name), .id = id };
	if (!d->list[d->n].name)
		return NULL;
	lbx_make_printable(d->list[d->n].name);
	return &d->list[d->n++];
}

void lbx_rank_digest_deinit(struct lbx_rank_digest *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->list[i].name);
		free(d->list[i].shape);
	}
	free(d->list);
	*d = (struct lbx_rank_digest){ .rank = -1 };
}

/* ---- of a program ---- */

/* False when the user interrupts; a value that cannot be had is told as such. */
static bool fill(struct lbx_context *context, const struct lbx_tensor *t, bool replay, struct lbx_digested *ret)
{
	struct lbx_selection selection = { .tensor = *t };
	struct lbx_sight sight;

	if (t->state != LBX_READY && !replay) {
		ret->found = LBX_LAZY_STILL;
		return true;
	}
	ret->found = LBX_UNREADABLE;
	if (lbx_sight_begin(context, &selection, &sight)) {
		size_t bytes = (size_t)sight.array.rank * sizeof *ret->shape;
		ret->rank = sight.array.rank;
		ret->shape = malloc(bytes + 1); /* a scalar's, too */
		if (ret->shape && lbx_digest(&sight.array, context->out, &ret->digest)) {
			memcpy(ret->shape, sight.array.shape, bytes);
			ret->found = LBX_VALUE;
		}
		lbx_sight_end(&sight);
	}
	bool goes_on = lb_error_cause() != LB_INTERRUPTED;
	if (goes_on)
		lb_clear_error();
	return goes_on;
}

bool lbx_rank_digest_take(struct lbx_context *context, const char *glob, bool replay, struct lbx_rank_digest *ret)
{
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	struct lbx_root root;
	uint64_t slot = 0, bad = 0;

	*ret = (struct lbx_rank_digest){ .rank = -1 };
	if (!lbx_context_tensors(context, &tensors) || (context->table && !lbx_table_root(context->table, &root)))
		return false;
	ret->rank = context->table ? root.rank : -1;
	while (lbx_tensors_next(tensors, &slot, &t, &bad) == LBX_NEXT_TENSOR) {
		if (!t.name[0] || (glob && !lbx_name_matches(glob, t.name)))
			continue;
		if (ret->n % OFTEN == OFTEN - 1 &&
		    !lbx_progress(context->out, "computing checksums", (int64_t)ret->n, 0))
			return false;
		struct lbx_digested *one = add(ret, t.name, t.id);
		if (!one)
			return lb_fail("out of memory");
		if (!fill(context, &t, replay, one))
			return false;
	}
	return lb_ok();
}

/* ---- as a file ---- */

static json_t *json_one(const struct lbx_digested *one)
{
	json_t *o = json_pack("{s:o,s:I,s:s}", "name", lbx_json_string(one->name), "id", (json_int_t)one->id, "found",
			      found_as[one->found]);

	if (one->found != LBX_VALUE)
		return o;
	json_t *value = lbx_json_digest(&one->digest);
	json_object_set_new(o, "dtype", json_string(lbx_dtype_name(one->digest.dtype)));
	json_object_set_new(o, "shape", lbx_json_list(one->shape, one->rank));
	json_object_update(o, value);
	json_decref(value);
	return o;
}

bool lbx_rank_digest_write(const struct lbx_rank_digest *d, const char *path)
{
	struct lbx_file file;
	json_t *list = json_array(), *o;

	for (size_t i = 0; i < d->n; i++)
		json_array_append_new(list, json_one(&d->list[i]));
	o = json_pack("{s:s,s:I,s:o}", "format", format, "rank", (json_int_t)d->rank, "tensors", list);
	bool done = o || lb_fail("out of memory");
	if (done && lbx_file_begin(&file, path))
		done = lbx_file_end(&file, json_dumpf(o, file.stream, JSON_COMPACT) == 0);
	else
		done = false;
	json_decref(o);
	return done && lb_ok();
}

bool lbx_is_rank_digest(const char *path)
{
	struct stat s;
	FILE *f = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? fopen(path, "re") : NULL; /* a FIFO would be waited for */
	int first = f ? fgetc(f) : EOF;

	if (f)
		fclose(f);
	return first == '{';
}

static double number(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);
	const char *text = json_string_value(value);

	return !text                            ? json_number_value(value)
	       : strcmp(text, "Infinity") == 0  ? INFINITY
	       : strcmp(text, "-Infinity") == 0 ? -INFINITY
						: NAN;
}

static bool take_value(const json_t *o, struct lbx_digested *ret)
{
	const char *checksum = json_string_value(json_object_get(o, "checksum")),
		   *dtype = json_string_value(json_object_get(o, "dtype"));
	const json_t *shape = json_object_get(o, "shape"), *size;
	struct lbx_digest *d = &ret->digest;
	size_t i;
	char *end;

	if (!checksum || !json_is_array(shape) || json_array_size(shape) > LBX_ARRAY_RANK || !dtype ||
	    !lbx_dtype_parse(dtype, &d->dtype))
		return false;
	ret->rank = (int)json_array_size(shape);
	ret->shape = malloc((size_t)ret->rank * sizeof *ret->shape + 1);
	if (!ret->shape)
		return false;
	json_array_foreach(shape, i, size) ret->shape[i] = json_integer_value(size);
	d->checksum = strtoull(checksum, &end, 16);
	d->count = json_integer_value(json_object_get(o, "count"));
	d->nan = json_integer_value(json_object_get(o, "nan"));
	d->inf = json_integer_value(json_object_get(o, "inf"));
	d->min = number(o, "min"), d->max = number(o, "max"), d->mean = number(o, "mean"), d->std = number(o, "std");
	return end != checksum && !*end;
}

static bool take_one(const json_t *o, const char *glob, struct lbx_rank_digest *ret)
{
	const char *name = json_string_value(json_object_get(o, "name")),
		   *found = json_string_value(json_object_get(o, "found"));
	const json_t *id = json_object_get(o, "id");
	int as = LBX_LAZY_STILL;

	if (!name || !found || !json_is_integer(id))
		return false;
	while (as <= LBX_VALUE && strcmp(found, found_as[as]) != 0)
		as++;
	if (as > LBX_VALUE)
		return false;
	if (glob && !lbx_name_matches(glob, name))
		return true;
	struct lbx_digested *one = add(ret, name, (uint64_t)json_integer_value(id));
	if (!one)
		return lb_fail("out of memory");
	one->found = (enum lbx_digested_as)as;
	return as != LBX_VALUE || take_value(o, one);
}

bool lbx_rank_digest_read(const char *path, const char *glob, struct lbx_rank_digest *ret)
{
	json_error_t error;
	json_t *o = json_load_file(path, 0, &error), *list = json_object_get(o, "tensors"), *item;
	const char *is = json_string_value(json_object_get(o, "format"));
	bool done = is && strcmp(is, format) == 0 && json_is_array(list) && json_is_integer(json_object_get(o, "rank"));
	size_t i;

	*ret = (struct lbx_rank_digest){ .rank = -1 };
	if (done)
		ret->rank = json_integer_value(json_object_get(o, "rank"));
	json_array_foreach(list, i, item) done = done && take_one(item, glob, ret);
	json_decref(o);
	return done || lb_fail("%s: neither a core nor what `digest` wrote%s%s", path, *error.text && !o ? ": " : "",
			       o ? "" : error.text);
}

/* ---- the command ---- */

static bool run_digest(struct lbx_context *context, const struct lbx_args *args)
{
	const char *path = lbx_args_option(args, "output");
	struct lbx_rank_digest d;

	if (!path)
		return lbx_misuse("digest: where to? -o FILE");
	bool done =
	    lbx_rank_digest_take(context, lbx_args_option(args, "names"), lbx_args_option(args, "replay"), &d) &&
	    lbx_rank_digest_write(&d, path);
	if (done) {
		struct lbx_out *out = context->out;
		lbx_begin(out, NULL);
		lbx_tell(out, "%pF digested to %pF", LBX_COUNT("tensors", d.n, "tensor"),
			 LBX_STYLED(LBX_FILE, "file", path));
		LBX_KEY(out, "rank", lbx_json_int_if(d.rank >= 0, d.rank));
		if (d.rank >= 0)
			lbx_printf(out, ", of rank %lld", (long long)d.rank);
		lbx_printf(out, "\n");
		lbx_end(out);
	}
	lbx_rank_digest_deinit(&d);
	return done;
}

const struct lbx_command lbx_command_digest = {
	.name = "digest",
	.arguments = "-o FILE",
	.summary = "keep of a process what ranks compares, in a small file",
	.help = "Of each named tensor its shape, figures and a checksum, some 200 bytes each: so that the\n"
		"processes of a job are compared (`lazybones ranks D…`) where their cores need not be.\n"
		"Example: digest -o rank3.digest",
	.min_args = 0,
	.max_args = 0,
	.needs = LBX_NEEDS_TENSORS,
	.options = {
		{ "output", "FILE", "where to write; also -o" },
		{ "names", "GLOB", "only tensors of these names" },
		{ "replay", NULL, "compute lazy tensors outside the program" },
	},
	.letters = "output",
	.run = run_digest,
};
