#define _GNU_SOURCE
#include "inspect/symbols/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/file.h"
#include "inspect/symbols/typed_variables.h"

enum { LIMIT = 1 << 16, LIMIT_MAX = 128 << 20, EXAMPLE = 80 };

enum automatic { AS_IT_WAS, ON, OFF };

bool lbx_write_private(const char *path, const void *bytes, size_t n)
{
	char *new;
	bool ok = false;

	if (asprintf(&new, "%s.XXXXXX", path) < 0)
		return lb_fail("out of memory");
	int fd = mkostemp(new, O_CLOEXEC);
	FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
	if (file) {
		ok = fwrite(bytes, 1, n, file) == n;
		ok = fclose(file) == 0 && ok && rename(new, path) == 0;
	}
	if (!ok) {
		int error = errno;
		if (fd >= 0)
			unlink(new);
		lb_fail("cannot write %s: %s", path, strerror(error));
	}
	free(new);
	return ok;
}

static bool parse_auto(const char *text, enum automatic *ret)
{
	*ret = !text ? AS_IT_WAS : strcmp(text, "on") == 0 ? ON : OFF;
	return *ret != OFF || strcmp(text, "off") == 0 || lbx_misuse("symbols: --auto takes on or off, not '%s'", text);
}

static const char *symbols_value(const char *option, int i)
{
	return strcmp(option, "auto") != 0 ? NULL : i == 0 ? "on" : i == 1 ? "off" : NULL;
}

/* Ends with a newline; what does not fit goes on in another line. */
static void line(struct lbx_out *out, int hang, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void line(struct lbx_out *out, int hang, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	lbx_wrap(out, 0, hang);
	lbx_printf(out, "%s\n", text);
}

static void tell_too_large(struct lbx_out *out, const struct lbx_typed *t)
{
	int64_t n = t->counts[LBX_TOO_LARGE], wanted = t->wanted;

	if (wanted > LIMIT_MAX)
		line(out, 4,
		     "  %" PRId64 " <optimized out>: of more than %d bytes, which cannot be copied: "
		     "`tensor print` shows any part",
		     n, LIMIT_MAX);
	else if (wanted)
		line(out, 4, "  %" PRId64 " <optimized out>: of more than %" PRId64 " bytes; --bytes %" PRId64 " %s %s",
		     n, t->limit, wanted, LB_PLURAL(wanted, "copy", "copies"), LB_PLURAL(n, "it", "them"));
	else
		line(out, 4, "  %" PRId64 " <optimized out>: copies take at most %d bytes together", n, LBX_COPIES_MAX);
}

/* "q, …" */
static const char *example(const struct lbx_typed *t, enum lbx_outcome outcome, char ret[EXAMPLE])
{
	snprintf(ret, EXAMPLE, "%s%s", t->examples[outcome], t->counts[outcome] > 1 ? ", …" : "");
	return ret;
}

static void tell_lines(struct lbx_out *out, const struct lbx_typed *t)
{
	const int64_t *counts = t->counts;
	char text[EXAMPLE];

	if (counts[LBX_IN_PLACE])
		line(out, 4, "  %" PRId64 " in the program's memory", counts[LBX_IN_PLACE]);
	if (counts[LBX_STAYS_LAZY])
		line(out, 4, "  %" PRId64 " lazy: <optimized out> until the program computes %s",
		     counts[LBX_STAYS_LAZY], LB_PLURAL(counts[LBX_STAYS_LAZY], "it", "them"));
	if (counts[LBX_REPLAYED])
		line(out, 4, "  %" PRId64 " lazy, computed outside the program", counts[LBX_REPLAYED]);
	if (counts[LBX_COPY])
		line(out, 4, "  %" PRId64 " %s as of now: elements of a view lie apart (%s)", counts[LBX_COPY],
		     LB_PLURAL(counts[LBX_COPY], "copy", "copies"), example(t, LBX_COPY, text));
	if (counts[LBX_COPY_OF_RESULT])
		line(out, 4, "  %" PRId64 " %s as of now: %s memory may be used again (%s)", counts[LBX_COPY_OF_RESULT],
		     LB_PLURAL(counts[LBX_COPY_OF_RESULT], "copy", "copies"),
		     LB_PLURAL(counts[LBX_COPY_OF_RESULT], "its", "their"), example(t, LBX_COPY_OF_RESULT, text));
	if (counts[LBX_WITHOUT_VALUE])
		line(out, 4, "  %" PRId64 " <optimized out>: without a value, which `info` explains (%s)",
		     counts[LBX_WITHOUT_VALUE], example(t, LBX_WITHOUT_VALUE, text));
	if (t->limit > LIMIT && (counts[LBX_COPY] || counts[LBX_COPY_OF_RESULT] || counts[LBX_REPLAYED]))
		line(out, 4, "  gdb shows a value of more than %d bytes only after `set max-value-size unlimited`",
		     LIMIT);
	if (counts[LBX_TOO_LARGE])
		tell_too_large(out, t);
	if (counts[LBX_UNREADABLE])
		line(out, 4, "  %" PRId64 " <optimized out>: damaged, or not to be computed%s%s",
		     counts[LBX_UNREADABLE], t->failure[0] ? ": " : "", t->failure);
	if (t->respelt)
		line(out, 2, "Where C cannot spell a name: '%s' is also %s.", t->a_respelt[0], t->a_respelt[1]);
	if (t->repeated)
		line(out, 2, "Where several tensors have one name: another '%s' is %s.", t->a_repeated[0],
		     t->a_repeated[1]);
}

static void tell(struct lbx_out *out, const struct lbx_typed *t, const char *path, size_t bytes, bool beside)
{
	static const char *const names[] = {
		[LBX_IN_PLACE] = "in_place",
		[LBX_STAYS_LAZY] = "lazy",
		[LBX_REPLAYED] = "replayed",
		[LBX_COPY] = "copied",
		[LBX_COPY_OF_RESULT] = "copied_results",
		[LBX_TOO_LARGE] = "too_large",
		[LBX_WITHOUT_VALUE] = "without_value",
		[LBX_UNREADABLE] = "damaged",
	};

	lbx_begin(out, NULL);
	LBX_KEY(out, "variables", json_integer(t->n));
	if (path)
		line(out, 2, "%" PRId64 " tensor%s as variables in %s, for `add-symbol-file`", t->n, LB_S(t->n), path);
	else
		line(out, 2, "%" PRId64 "%s tensor%s now %s of gdb", t->n, beside ? " more" : "",
		     LB_PLURAL(t->n, " is", "s are"), LB_PLURAL(t->n, "a variable", "variables"));
	for (int i = 0; i < LBX_OUTCOMES; i++)
		LBX_KEY(out, names[i], json_integer(t->counts[i]));
	tell_lines(out, t);
	if (t->n)
		line(out, 2, "Where the program has a variable of that name, write %s::NAME.", LBX_TYPED_UNIT);
	LBX_KEYS(out, json_pack("{s:I,s:I,s:o,s:I}", "respelt", (json_int_t)t->respelt, "repeated",
				(json_int_t)t->repeated, "file", lbx_json_text(path), "bytes", (json_int_t)bytes));
	lbx_end(out);
}

static bool write_file(const char *path, const void *bytes, size_t n)
{
	struct lbx_file file;

	if (!lbx_file_begin(&file, path))
		return false;
	fwrite(bytes, 1, n, file.stream);
	return lbx_file_end(&file, true);
}

static bool make(struct lbx_context *context, struct lbx_typed *typed, unsigned machine, const char *path)
{
	bool beside = typed->space->tensors.n > 0;
	const void *object;
	size_t n;

	if (!lbx_typed_variables(context, typed) || !lbx_dwarf_finish(typed->dwarf, machine, &object, &n))
		return false;
	if (path ? !write_file(path, object, n) : (typed->n || !beside) && !context->debugger->load(context, object, n))
		return false;
	tell(context->out, typed, path, n, beside);
	lbx_set_int(context->out, "tensor_count", typed->n);
	return lb_ok();
}

static bool take_away(struct lbx_context *context)
{
	bool was_there;

	if (!context->debugger->unload(context, &was_there))
		return false;
	lbx_begin(context->out, NULL);
	LBX_KEY(context->out, "removed", json_boolean(was_there));
	lbx_printf(context->out,
		   was_there ? "Tensors are no longer variables of gdb.\n" : "No tensors are variables of gdb.\n");
	lbx_end(context->out);
	return lb_ok();
}

static bool say_when(struct lbx_out *out, bool on)
{
	lbx_begin(out, NULL);
	LBX_KEY(out, "auto", json_boolean(on));
	lbx_printf(out, on ? "From its first stop on, the program's tensors are variables.\n"
			   : "Variables stay as they are when the program stops.\n");
	lbx_end(out);
	return lb_ok();
}

static bool run_symbols(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_typed typed = { .glob = args->n ? args->v[0] : NULL,
				   .limit = LIMIT,
				   .peek = lbx_args_option(args, "peek") };
	const char *path = lbx_args_option(args, "out");
	bool remove = lbx_args_option(args, "remove"), known = true;
	enum automatic automatic;
	struct lbx_symbol_space none = { .names = { 0 } };
	struct lbx_tensors *tensors;
	unsigned machine = 0;

	if (!lbx_args_bytes(args, "bytes", 0, LIMIT_MAX, &typed.limit) ||
	    !parse_auto(lbx_args_option(args, "auto"), &automatic))
		return false;
	if (!context->debugger && (remove || automatic || !path))
		return lbx_misuse("symbols: --out FILE says where to write them; then, in gdb: "
				  "add-symbol-file FILE");
	if (remove && (path || automatic == ON || args->n))
		return lbx_misuse("symbols: --remove removes all variables; it combines only with --auto off");
	/* what is to be asked of a debugger comes before what changes anything */
	bool makes = !remove && automatic != OFF && !(automatic == ON && !context->target);
	if (makes && (!lbx_context_tensors(context, &tensors) || !lbx_target_machine(context->target, &machine)))
		known = false;
	if (!path && (makes || remove) && !context->debugger->ready(context, &typed.space))
		known = false;
	/* there may be more tensors than are known yet */
	if (makes && known && lbx_target_waits(context->target))
		known = false;
	if (((automatic || remove) && !context->debugger->at_stops(context, automatic == ON)) || !known)
		return false;
	if (!makes)
		return remove ? take_away(context) : say_when(context->out, automatic == ON);
	if (!typed.space)
		typed.space = &none;
	bool ok = make(context, &typed, machine, path);
	lbx_dwarf_destroy(typed.dwarf);
	if (!ok)
		lbx_symbol_space_deinit(typed.space); /* nothing is loaded of what it has */
	lbx_symbol_space_deinit(&none);
	return ok;
}

const struct lbx_command lbx_command_symbols = {
	.name = "symbols",
	.arguments = "[GLOB]",
	.summary = "make named tensors ordinary variables of gdb, with array types",
	.help = "gdb's own commands know them then: print latents[0][3]@4, ptype, display, watch,\n"
		"completion, an IDE's variables; pointers into them show <tensor latents+64>.\n"
		"A lazy tensor is <optimized out> until the program has computed it. Views whose\n"
		"elements lie apart are copies, as of now, and so are ggml's results, whose memory is\n"
		"used again. Blocks, as of q4_K, are bytes with that name. blk.0.w is 'blk.0.w' and\n"
		"blk_0_w; of several tensors with one name the newest has it, the others are NAME_ID.\n"
		"Where the program has a variable of that name, tensor::NAME is the tensor.\n"
		"Run it again to see newer tensors; displays then have new numbers.\n"
		"Example: symbols 'layers.*' --out layers.o\n"
		"A gdb without this plugin takes that file with add-symbol-file layers.o; one that has it needs no\n"
		"file, and `tensor symbols 'layers.*' --auto on` does it again at each stop.",
	.max_args = 1,
	.options = {
		{ "peek", NULL, "give lazy tensors their values, computed outside the program" },
		{ "bytes", "BYTES", "copy values of up to this many bytes (default 65536)" },
		{ "auto", "on|off", "do it again at each stop, or no longer (in gdb)" },
		{ "remove", NULL, "take the variables away (in gdb)" },
		{ "out", "FILE", "write them to a file, an object for add-symbol-file" },
	},
	.value = symbols_value,
	.run = run_symbols,
};
