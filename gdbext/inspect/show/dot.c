#define _GNU_SOURCE
#include "inspect/show/dot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/number_map.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/file.h"
#include "inspect/replay/worker.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/expression.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/json.h"

/* A damaged tensor may claim millions of inputs: so many that are gone or unreadable are enough. */
enum { DOT_SECONDS = 60, MAX_LOST = 4096 };

struct met {
	struct lbx_tensor tensor;
	int64_t depth;
};

/* Breadth first, so that a limit keeps what is near. */
struct walk {
	struct lbx_context *context;
	const struct lbx_dot *how;
	struct lbx_number_map known;
	struct met *queue;
	int64_t n, capacity;
	int lost;
	bool cut;
	FILE *file;   /* DOT goes here; or else */
	json_t *edges;
};

static bool meet(struct walk *w, const struct lbx_tensor *t, int64_t depth)
{
	bool is_new;
	struct lbx_number *known = lbx_number_of_tensor(&w->known, t, &is_new);

	if (!known || !is_new)
		return known != NULL;
	if (!lb_reserve(w->queue, w->capacity, w->n + 1))
		return lb_fail("out of memory for a graph of %" PRId64 " tensors", w->n);
	w->queue[w->n++] = (struct met){ *t, depth };
	return true;
}

/* A string between quotes, of DOT. */
static void put_quoted(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', file);
		putc((unsigned char)*text < ' ' ? ' ' : *text, file);
	}
}

static void put_node(struct walk *w, const struct lbx_tensor *t)
{
	bool ready = t->state == LBX_READY;
	char type[LBX_TYPE_MAX], pc[512], expression[LBX_EXPRESSION_MAX];

	if (!w->file) {
		LBX_KEY(w->context->out, NULL, lbx_json_tensor(t));
		return;
	}
	lbx_describe_type(t, type, sizeof type);
	lbx_describe_pc(t->of->target, t->site, pc, sizeof pc);
	fprintf(w->file, "\tt%" PRIu64 " [label=\"", t->id);
	put_quoted(w->file, t->name);
	fprintf(w->file, "%s#%" PRIu64 " ", t->name[0] ? " " : "", t->id);
	put_quoted(w->file, *lbx_expression(t, expression) ? expression : t->op);
	fprintf(w->file, "\\n%s", type);
	if (t->site) {
		fputs("\\n", w->file);
		put_quoted(w->file, pc);
	}
	fprintf(w->file, "\"%s];\n", ready ? ", style=filled, fillcolor=\"#d5e8d4\"" : ", style=dashed");
}

static void put_edge(struct walk *w, uint64_t from, const struct lbx_tensor *to, uint32_t input, bool gone)
{
	if (w->file)
		fprintf(w->file, "\tt%" PRIu64 " -> t%" PRIu64 "%s;\n", from, to->id, gone ? " [style=dotted]" : "");
	else
		json_array_append_new(w->edges, json_pack("{s:I,s:I,s:i,s:b}", "from", (json_int_t)from, "to",
							  (json_int_t)to->id, "input", (int)input, "gone", gone));
}

static bool put_inputs(struct walk *w, const struct lbx_tensor *t, int64_t depth)
{
	struct lbx_tensor input;

	for (uint32_t i = 0; i < t->n_inputs; i++) {
		if (w->lost == MAX_LOST) {
			w->cut = true;
			break;
		}
		bool found = lbx_tensor_input(t, i, &input);
		uint64_t id = found ? input.id : lbx_tensor_input_id(t, i);
		if (!found) {
			lb_clear_error();
			w->lost++;
		}
		if (id)
			put_edge(w, id, t, i, !found);
		if (found && !meet(w, &input, depth + 1))
			return false;
	}
	return true;
}

static bool walk(struct walk *w, const struct lbx_tensor *t)
{
	if (!meet(w, t, 0))
		return false;
	for (int64_t i = 0; i < w->n; i++) {
		if (i == w->how->limit) {
			w->cut = true;
			break;
		}
		struct met next = w->queue[i]; /* the queue may move */
		put_node(w, &next.tensor);
		if (i % 4096 == 4095 && !lbx_progress(w->context->out, "reading the graph", i, 0))
			return false;
		if (next.tensor.state == LBX_READY && !w->how->history &&
		    !(next.tensor.of && next.tensor.of->keeps_graph))
			continue;
		if (next.depth == w->how->depth)
			w->cut |= next.tensor.n_inputs != 0;
		else if (!put_inputs(w, &next.tensor, next.depth))
			return false;
	}
	return true;
}

/* `as`: "-Tpng". Nothing is to be drawn without a path. */
static bool draw(struct lbx_context *context, FILE *dot, const char *as, const char *path)
{
	static const char *const places[] = { "/usr/bin/dot", "/usr/local/bin/dot", "/bin/dot" };
	char *argv[] = { (char *)"dot", (char *)as, (char *)"-o", (char *)path, NULL };
	struct lbx_worker worker = {
		.argv = argv, .fd = fileno(dot), .doing = "drawing", .what = "dot", .seconds = DOT_SECONDS
	};
	int status = 0;

	if (!path || lbx_target_waits(context->target))
		return true;
	for (size_t i = 0; i < sizeof places / sizeof *places && !worker.path; i++)
		if (access(places[i], X_OK) == 0)
			worker.path = places[i];
	if (!worker.path)
		return lb_fail("there is no program dot to draw with: install graphviz; without it the command graph "
			       "writes what dot would draw, with --dot FILE");
	rewind(dot);
	return lbx_worker_run(context->out, &worker, &status) &&
	       (status == 0 || lb_fail("dot could not draw %s (exit status %d)", path, status));
}

static bool write_dot(struct walk *w, const struct lbx_tensor *t, const char *path)
{
	fprintf(w->file,
		"digraph graph_of_%" PRIu64 " {\n\trankdir=BT;\n"
		"\tnode [shape=box, fontname=\"monospace\", fontsize=10];\n",
		t->id);
	bool ok = walk(w, t);
	fputs("}\n", w->file);
	if (fflush(w->file) != 0 || ferror(w->file))
		return ok && lb_fail("cannot write %s: %s", path, strerror(errno));
	return ok;
}

static bool keep_dot(FILE *from, const char *path)
{
	struct lbx_file file;
	char piece[1 << 14];
	size_t n;

	if (!lbx_file_begin(&file, path))
		return false;
	rewind(from);
	while ((n = fread(piece, 1, sizeof piece, from)) > 0)
		fwrite(piece, 1, n, file.stream);
	return lbx_file_end(&file, true);
}

static bool is_output(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/* The text alone, for a pipe; in JSON as a key. */
static bool show_dot(struct walk *w)
{
	struct lbx_out *out = w->context->out;
	long n = ftell(w->file);
	lb_auto_free char *text = n < 0 ? NULL : calloc((size_t)n + 1, 1);

	if (!text)
		return lb_fail("out of memory for a graph of %lld tensors", (long long)w->n);
	rewind(w->file);
	if (fread(text, 1, (size_t)n, w->file) != (size_t)n)
		return lb_fail("cannot read the graph again");
	lbx_begin(out, NULL);
	lbx_tell(out, "%pF", LBX_TEXT("dot", text));
	LBX_KEYS(out, json_pack("{s:o,s:o,s:b}", "png", lbx_json_text(w->how->png), "svg", lbx_json_text(w->how->svg),
				"cut", w->cut));
	lbx_end(out);
	return lb_ok();
}

static void tell_files(struct walk *w, const char *path, int64_t written)
{
	const struct lbx_dot *how = w->how;
	const char *files[] = { how->dot, how->png, how->svg };
	struct lbx_out *out = w->context->out;

	lbx_begin(out, NULL);
	lbx_tell(out, "%pF written to %s", LBX_COUNT("tensors", written, "tensor"), path);
	for (int i = 1; i < 3; i++)
		if (files[i] && files[i] != path)
			lbx_printf(out, " and %s", files[i]);
	lbx_printf(out, "%s\n", w->cut ? "; there are more" : "");
	LBX_KEYS(out, json_pack("{s:o,s:o,s:o,s:b}", "dot", lbx_json_text(how->dot), "png", lbx_json_text(how->png),
				"svg", lbx_json_text(how->svg), "cut", w->cut));
	lbx_end(out);
}

static bool write_file(struct walk *w, const struct lbx_tensor *t)
{
	const struct lbx_dot *how = w->how;
	const char *path = how->dot ? how->dot : how->png ? how->png : how->svg;
	bool is_shown = is_output(how->dot);
	int fd = memfd_create("graph.dot", MFD_CLOEXEC);

	w->file = fd >= 0 ? fdopen(fd, "w+") : NULL;
	if (!w->file) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		return lb_fail("cannot write %s: %s", path, strerror(error));
	}
	bool ok = write_dot(w, t, path) &&
		  (!how->dot || lbx_target_waits(w->context->target) ||
		   (is_shown ? show_dot(w) : keep_dot(w->file, how->dot))) &&
		  draw(w->context, w->file, "-Tpng", how->png) && draw(w->context, w->file, "-Tsvg", how->svg);
	fclose(w->file);
	int64_t written = w->n < how->limit ? w->n : how->limit;
	if (ok && !is_shown)
		tell_files(w, path, written);
	return ok;
}

static bool key_graph(struct walk *w, const struct lbx_tensor *t)
{
	struct lbx_out *out = w->context->out;

	w->edges = json_array();
	lbx_begin(out, NULL);
	LBX_KEY(out, "root", json_integer((json_int_t)t->id));
	lbx_begin_list(out, "tensors");
	if (!walk(w, t)) {
		json_decref(w->edges);
		return false;
	}
	lbx_end(out);
	LBX_KEY(out, "edges", w->edges);
	LBX_KEY(out, "cut", json_boolean(w->cut));
	lbx_end(out);
	return lb_ok();
}

bool lbx_dot(struct lbx_context *context, const struct lbx_tensor *t, const struct lbx_dot *how)
{
	struct walk w = { .context = context, .how = how };
	bool ok;

	if (how->dot || how->png || how->svg) {
		ok = write_file(&w, t);
	} else {
		ok = key_graph(&w, t);
	}
	lbx_number_map_deinit(&w.known);
	free(w.queue);
	return ok && lb_ok();
}
