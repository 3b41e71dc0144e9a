#include "inspect/memory/points.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/file.h"
#include "inspect/show/since.h"
#include "io/mapping.h"

void lbx_memory_marks_deinit(struct lbx_memory_marks *marks)
{
	for (int i = 0; i < marks->n; i++)
		lbx_snapshot_deinit(&marks->list[i].snapshot);
	marks->n = 0;
}

static const struct lbx_snapshot *find_mark(const struct lbx_memory_marks *marks, const char *name)
{
	for (int i = 0; marks && i < marks->n; i++)
		if (strcmp(marks->list[i].name, name) == 0)
			return &marks->list[i].snapshot;
	return NULL;
}

static void tell_mark(struct lbx_out *out, const char *name, const struct lbx_snapshot *s)
{
	lbx_begin(out, NULL);
	lbx_wrap(out, 0, 2);
	if (s->counted)
		lbx_tell(out, "mark %pF: %pF in use, %pF\n", LBX_TEXT("mark", name),
			 LBX_SIZE("bytes", s->counters.active_bytes), LBX_COUNT("tensors", s->tensors, "tensor"));
	else
		lbx_tell(out, "mark %pF: %pF in %pF, %pF\n", LBX_TEXT("mark", name), LBX_SIZE("bytes", s->bytes),
			 LBX_COUNT("buffers", s->buffers, "buffer"), LBX_COUNT("tensors", s->tensors, "tensor"));
	lbx_end(out);
}

bool lbx_memory_mark(struct lbx_context *context, const char *name, struct lbx_snapshot *snapshot)
{
	struct lbx_memory_marks *marks = context->marks;
	int i = 0;

	if (!marks)
		return lbx_misuse("memory: a mark would be lost when this command ends; keep it in a file: "
				  "--save FILE");
	if (strlen(name) >= sizeof marks->list[0].name)
		return lb_fail("memory: a mark's name has at most %zu bytes", sizeof marks->list[0].name - 1);
	while (i < marks->n && strcmp(marks->list[i].name, name) != 0)
		i++;
	if (i == LBX_MARKS_MAX)
		return lb_fail("memory: there are already %d marks; reuse one of their names", LBX_MARKS_MAX);
	if (!lbx_marked_note(context, name))
		return false;
	if (i == marks->n)
		marks->n++;
	else
		lbx_snapshot_deinit(&marks->list[i].snapshot);
	snprintf(marks->list[i].name, sizeof marks->list[i].name, "%s", name);
	marks->list[i].snapshot = *snapshot;
	*snapshot = (struct lbx_snapshot){ .n = 0 };
	tell_mark(context->out, name, &marks->list[i].snapshot);
	return true;
}

static bool of_core(struct lbx_context *context, const char *path, struct lbx_snapshot *ret)
{
	struct lbx_context other;
	bool opened = lbx_context_open_other(context, path, &other), ok = opened && lbx_snapshot_take(&other, ret);

	if (ok && !lbx_snapshot_describe(&other, ret)) {
		lbx_snapshot_deinit(ret);
		ok = false;
	}
	if (!opened) {
		char why[512];
		snprintf(why, sizeof why, "%s", lb_error_message());
		lb_clear_error();
		lb_fail("%s; what `memory --save` wrote, or a core file, can be compared with", why);
	} else if (!ok) {
		lb_fail_within("%s", path);
	}
	lbx_context_close_other(&other);
	return ok;
}

/* What is neither a mark nor a file: which marks there are, and what it might be else. */
static void fail_takes(const struct lbx_memory_marks *marks)
{
	char there[1024] = "";

	for (int i = 0; marks && i < marks->n; i++) {
		size_t n = strlen(there);
		snprintf(there + n, sizeof there - n, "%s%s", n ? ", " : "", marks->list[i].name);
	}
	if (marks)
		lb_fail_within("memory: --since takes a mark (%s%s), a file of `memory --save`, or a core",
			       *there ? "there are " : "there is none yet", there);
	else
		lb_fail_within("memory: --since takes a file of `memory --save`, or a core; marks are gdb's");
}

/* Of a file: what `--save` wrote, or a core. */
static bool of_file(struct lbx_context *context, const char *path, struct lbx_snapshot *ret)
{
	struct lb_mapping *file = lb_mapping_open(path);

	if (!file) {
		fail_takes(context->marks); /* it names the file itself */
		return false;
	}
	bool text = file->size && file->data[0] == '{';
	bool ok = text && lbx_snapshot_parse(path, (const char *)file->data, file->size, ret);
	lb_mapping_drop(file);
	return text ? ok : of_core(context, path, ret);
}

bool lbx_point_open(struct lbx_context *context, const char *name, struct lbx_point *ret)
{
	*ret = (struct lbx_point){ .snapshot = find_mark(context->marks, name) };
	if (ret->snapshot)
		return true;
	if (!of_file(context, name, &ret->read))
		return false;
	ret->snapshot = &ret->read;
	return true;
}

void lbx_point_close(struct lbx_point *point)
{
	lbx_snapshot_deinit(&point->read);
}

bool lbx_point_save(struct lbx_context *context, const char *path, struct lbx_snapshot *s)
{
	if (!lbx_snapshot_describe(context, s))
		return false;
	if (lbx_target_waits(context->target))
		return true; /* it all comes again, with the places' names */
	json_t *o = lbx_snapshot_json(s);
	struct lbx_file file;
	bool ok = (o || lb_fail("out of memory")) && lbx_file_begin(&file, path);
	if (ok) {
		json_dumpf(o, file.stream, JSON_COMPACT);
		ok = lbx_file_end(&file, true);
	}
	json_decref(o);
	return ok;
}
