/* Tensors: which there are, what is in them, how they look. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lazybones.h"
#include "serve/route.h"
#include "target/private_folder.h"

enum { MOST_WORDS = 24, MOST_FILE = 64 << 20 };

/* The words of a command, as they are put together. */
struct words {
	const char *at[MOST_WORDS + 1];
	char numbers[4][24];
	int n, n_numbers;
};

static void add(struct words *words, const char *word)
{
	if (words->n < MOST_WORDS)
		words->at[words->n++] = word;
}

/* --OPTION VALUE, where it was given. */
static void add_string(const struct lbx_call *call, struct words *words, const char *param, const char *option)
{
	const char *value = lbx_call_string(call, param);

	if (!value)
		return;
	add(words, option);
	add(words, value);
}

static void add_whole(const struct lbx_call *call, struct words *words, const char *param, const char *option,
		      long long otherwise)
{
	char *text = words->numbers[words->n_numbers++ % 4];

	snprintf(text, sizeof words->numbers[0], "%lld", lbx_call_whole(call, param, otherwise));
	add(words, option);
	add(words, text);
}

/* A word that begins with a dash would be read as an option. */
static bool add_tensor(struct lbx_call *call, struct words *words, const char *tensor)
{
	add(words, tensor);
	return tensor[0] != '-' || lbx_refuse(call, 400, "'%s' is no tensor", tensor);
}

#define TENSOR_PARAM { "id", LBX_TENSOR, true, "a name, a number, #12 or 12, or an expression of the program" }

/* The tensor of the path, with a slice if one is given: 12 is the number of a tensor. */
static bool add_id(struct lbx_call *call, struct words *words, const char *slice)
{
	const char *id = lbx_call_string(call, "id");
	bool is_number = id && strspn(id, "0123456789") == strlen(id);

	if (!id || !*id)
		return lbx_refuse(call, 400, "'id' is empty");
	if (!slice || !*slice)
		slice = "";
	json_decref(call->operand);
	call->operand = json_sprintf(!*slice || *slice == '[' ? "%s%s%s" : "%s%s[%s]", is_number ? "#" : "", id, slice);
	if (!call->operand)
		return lbx_refuse(call, 400, "'id' is no text");
	return add_tensor(call, words, json_string_value(call->operand));
}

static bool run_tensors(struct lbx_call *call)
{
	struct words words = { .at = { "list" }, .n = 1 };
	const char *glob = lbx_call_string(call, "glob");

	if (glob && !add_tensor(call, &words, glob))
		return false;
	add_string(call, &words, "state", "--state");
	add_string(call, &words, "dtype", "--dtype");
	add_string(call, &words, "provider", "--provider");
	add_string(call, &words, "sort", "--sort");
	add_whole(call, &words, "limit", "--limit", 1000);
	add_whole(call, &words, "from", "--from", 0);
	return lbx_answer_tensor(call, words.at);
}

const struct lbx_route lbx_route_tensors = {
	.method = "GET",
	.path = "/tensors",
	.tool = "tensors",
	.summary = "list the tensors that are alive, a page at a time",
	.help = "Each with id, name, dtype, shape, strides, state and bytes; \"total\" says how many match.",
	.needs = LBX_WHERE_STOPPED,
	.params = {
		{ "glob", LBX_STRING, false, "only names that match: layers.*" },
		{ "state", LBX_STRING, false, "only those in a state: lazy, ready" },
		{ "dtype", LBX_STRING, false, "only those of a dtype: float32" },
		{ "provider", LBX_STRING, false, "only those of a provider: lazybones, ggml, torch, mlx" },
		{ "sort", LBX_STRING, false, "by id, name, size, bytes, state or dtype" },
		{ "limit", LBX_WHOLE, false, "how many (1000); 0: all" },
		{ "from", LBX_WHOLE, false, "how many are passed over" },
	},
	.run = run_tensors,
};

static bool run_tensor(struct lbx_call *call)
{
	struct words words = { .at = { "info" }, .n = 1 };

	return add_id(call, &words, NULL) && lbx_answer_tensor(call, words.at);
}

const struct lbx_route lbx_route_tensor = {
	.method = "GET",
	.path = "/tensors/{id}",
	.tool = "tensor",
	.summary = "tell all about a tensor but its values",
	.needs = LBX_WHERE_STOPPED,
	.params = { TENSOR_PARAM },
	.run = run_tensor,
};

/* Values of a lazy tensor are computed outside the program. */
static bool is_lazy(struct lbx_call *call, bool *ret)
{
	struct words words = { .at = { "info" }, .n = 1 };
	json_t *told;

	if (!add_id(call, &words, NULL) || !lbx_ask_tensor(call, words.at, &told))
		return false;
	const char *state = lbx_mi_string(told, "state");
	*ret = strcmp(state, "lazy") == 0 || strcmp(state, "unscheduled") == 0;
	json_decref(told);
	return true;
}

static bool run_tensor_values(struct lbx_call *call)
{
	struct words words = { .n = 1 };
	bool lazy = false;

	if (!is_lazy(call, &lazy))
		return false;
	words.at[0] = lazy ? "peek" : "print";
	if (!add_id(call, &words, lbx_call_string(call, "slice")))
		return false;
	if (lbx_call_flag(call, "full", false))
		add(&words, "--full");
	add_whole(call, &words, "edge", "--edge", 3);
	return lbx_answer_tensor(call, words.at);
}

const struct lbx_route lbx_route_tensor_values = {
	.method = "GET",
	.path = "/tensors/{id}/values",
	.tool = "tensor_values",
	.summary = "show values of a tensor, or of a slice of it",
	.help = "A lazy tensor is computed outside the program, which is neither changed nor called; the answer says so.",
	.needs = LBX_WHERE_STOPPED,
	.params = {
		TENSOR_PARAM,
		{ "slice", LBX_STRING, false, "as in Python: 0,:4" },
		{ "full", LBX_FLAG, false, "all elements, however many" },
		{ "edge", LBX_WHOLE, false, "elements at each end of an axis that is cut short (3)" },
	},
	.run = run_tensor_values,
};

static bool run_tensor_stats(struct lbx_call *call)
{
	struct words words = { .n = 1 };
	bool lazy = false;

	if (!is_lazy(call, &lazy))
		return false;
	words.at[0] = lazy ? "peek" : "stats";
	if (!add_id(call, &words, NULL))
		return false;
	if (lazy)
		add(&words, "--stats");
	return lbx_answer_tensor(call, words.at);
}

const struct lbx_route lbx_route_tensor_stats = {
	.method = "GET",
	.path = "/tensors/{id}/stats",
	.tool = "tensor_stats",
	.summary = "tell minimum, maximum, mean, NaN, quantiles and histogram of a tensor",
	.needs = LBX_WHERE_STOPPED,
	.params = { TENSOR_PARAM },
	.run = run_tensor_stats,
};

/* ---- pictures ---- */

static bool read_file(const char *path, char **ret, size_t *n)
{
	struct stat about;
	lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &about) != 0 || about.st_size > MOST_FILE)
		return lb_fail("the picture cannot be read: %s", fd < 0 ? strerror(errno) : "it is too large");
	lb_auto_free char *bytes = malloc((size_t)about.st_size + 1);
	if (!bytes)
		return lb_fail("out of memory");
	for (*n = 0; *n < (size_t)about.st_size;) {
		ssize_t got = read(fd, bytes + *n, (size_t)about.st_size - *n);
		if (got <= 0)
			return lb_fail("the picture is cut");
		*n += (size_t)got;
	}
	*ret = bytes;
	bytes = NULL;
	return true;
}

/* Runs a command that writes the file named by its last word, in a folder that nobody else can reach. */
static bool answer_file(struct lbx_call *call, struct words *words, const char *option, const char *name)
{
	char folder[LBX_FOLDER_MAX], path[LBX_FOLDER_MAX + 32];
	json_t *told = NULL;

	if (!lbx_private_folder("pictures", folder))
		return false;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	add(words, option);
	add(words, path);
	bool ok = lbx_ask_tensor(call, words->at, &told) && read_file(path, &call->raw, &call->raw_n);
	json_decref(told);
	unlink(path);
	rmdir(folder);
	return ok;
}

static bool run_tensor_image(struct lbx_call *call)
{
	struct words words = { .at = { "image" }, .n = 1 };

	if (!add_id(call, &words, lbx_call_string(call, "slice")))
		return false;
	add_string(call, &words, "range", "--range");
	add_string(call, &words, "channels", "--channels");
	return answer_file(call, &words, "--out", "image.png");
}

const struct lbx_route lbx_route_tensor_image = {
	.method = "GET",
	.path = "/tensors/{id}/image.png",
	.tool = "tensor_image",
	.summary = "draw a tensor as a heat map or a picture",
	.needs = LBX_WHERE_STOPPED,
	.is_poll = true,
	.type = "image/png",
	.params = {
		TENSOR_PARAM,
		{ "slice", LBX_STRING, false, "as in Python: 0,:4" },
		{ "range", LBX_STRING, false, "LOW,HIGH: values of the darkest and the brightest colour" },
		{ "channels", LBX_STRING, false, "which axis holds channels: first, last or none" },
	},
	.run = run_tensor_image,
};

static bool run_tensor_raster(struct lbx_call *call)
{
	struct words words = { .at = { "image" }, .n = 1 };

	if (!add_id(call, &words, lbx_call_string(call, "slice")))
		return false;
	add_string(call, &words, "channels", "--channels");
	add_whole(call, &words, "width", "--width", 128);
	add_whole(call, &words, "rows", "--rows", 128);
	add(&words, "--values");
	return lbx_answer_tensor(call, words.at);
}

const struct lbx_route lbx_route_tensor_raster = {
	.method = "GET",
	.path = "/tensors/{id}/raster",
	.summary = "give the values that a heat map would have, averaged to a size",
	.help = "What is larger than `width` and `rows` is averaged; \"marked\" are the pixels, counted row by row,\n"
		"with NaN or Inf among their elements. All elements of the slice are read: of a large tensor ask for\n"
		"a part, or with a step, ::100.",
	.needs = LBX_WHERE_STOPPED,
	.is_poll = true,
	.params = {
		TENSOR_PARAM,
		{ "slice", LBX_STRING, false, "as in Python: 0,:4,::2" },
		{ "channels", LBX_STRING, false, "which axis holds channels: first, last or none" },
		{ "width", LBX_WHOLE, false, "columns at most (128)" },
		{ "rows", LBX_WHOLE, false, "rows at most (128)" },
	},
	.run = run_tensor_raster,
};

static bool run_tensor_graph(struct lbx_call *call)
{
	struct words words = { .at = { "graph" }, .n = 1 };

	if (!add_id(call, &words, NULL))
		return false;
	add_whole(call, &words, "depth", "--depth", 8);
	if (lbx_call_flag(call, "history", false))
		add(&words, "--history");
	return answer_file(call, &words, "--svg", "graph.svg");
}

const struct lbx_route lbx_route_tensor_graph = {
	.method = "GET",
	.path = "/tensors/{id}/graph.svg",
	.summary = "draw the graph behind a tensor",
	.help = "Graphviz draws it, which must be installed where the server runs. Without it: POST /command with\n"
		"`tensor graph T --dot FILE`, for a dot elsewhere, or with `tensor graph T --json`, as data.",
	.needs = LBX_WHERE_STOPPED,
	.is_poll = true,
	.type = "image/svg+xml",
	.params = {
		TENSOR_PARAM,
		{ "depth", LBX_WHOLE, false, "how far inputs are followed (8)" },
		{ "history", LBX_FLAG, false, "go on past ready tensors" },
	},
	.run = run_tensor_graph,
};

/* ---- looking at several ---- */

static bool run_diff(struct lbx_call *call)
{
	struct words words = { .at = { "diff" }, .n = 1 };

	if (!add_tensor(call, &words, lbx_call_string(call, "a")) ||
	    !add_tensor(call, &words, lbx_call_string(call, "b")))
		return false;
	add_string(call, &words, "rtol", "--rtol");
	add_string(call, &words, "atol", "--atol");
	return lbx_answer_tensor(call, words.at);
}

const struct lbx_route lbx_route_diff = {
	.method = "GET",
	.path = "/diff",
	.tool = "diff",
	.summary = "compare two tensors, or a tensor with a file, and explain how they differ",
	.needs = LBX_WHERE_STOPPED,
	.params = {
		{ "a", LBX_TENSOR, true, "a tensor: T[slice]; or a pattern" },
		{ "b", LBX_TENSOR, true, "another, or a file: FILE[:NAME]" },
		{ "rtol", LBX_STRING, false, "relative tolerance" },
		{ "atol", LBX_STRING, false, "absolute tolerance" },
	},
	.run = run_diff,
};

static bool run_doctor(struct lbx_call *call)
{
	struct words words = { .at = { "doctor" }, .n = 1 };

	const char *glob = lbx_call_string(call, "glob");

	if (glob && !add_tensor(call, &words, glob))
		return false;
	add_string(call, &words, "only", "--only");
	add_whole(call, &words, "seconds", "--seconds", 10);
	return lbx_answer_tensor(call, words.at);
}

const struct lbx_route lbx_route_doctor = {
	.method = "GET",
	.path = "/doctor",
	.tool = "doctor",
	.summary = "say what is wrong, how sure that is, and what to do",
	.needs = LBX_WHERE_STOPPED,
	.params = {
		{ "glob", LBX_STRING, false, "only tensors of such names" },
		{ "only", LBX_STRING, false, "only these rules: L1,L2a" },
		{ "seconds", LBX_WHOLE, false, "how long values may be looked at (10); 0: not at all" },
	},
	.run = run_doctor,
};
