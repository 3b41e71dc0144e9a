#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/command.h"
#include "inspect/tensor/number.h"

static const struct setting {
	const char *name;
	size_t offset;
	int64_t min, max;
	bool is_bytes;
} settings[] = {
	{ "edge-items", offsetof(struct lbx_settings, edge_items), 1, 1 << 20, false },
	{ "threshold", offsetof(struct lbx_settings, threshold), 0, 1 << 26, false },
	{ "precision", offsetof(struct lbx_settings, precision), 0, LBX_PRECISION_MAX, false },
	{ "replay-memory", offsetof(struct lbx_settings, replay_memory), 1 << 20, 1LL << 50, true },
	{ "replay-seconds", offsetof(struct lbx_settings, replay_seconds), 1, 1 << 20, false },
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static int64_t *place(const struct lbx_settings *settings, const struct setting *s)
{
	return (int64_t *)((char *)settings + s->offset);
}

/* A name with or without its dashes: `edgeitems` is NumPy's. */
static bool is_named(const struct setting *s, const char *name)
{
	const char *a = s->name;

	for (; *a || *name; a += *a != '\0', name += *name != '\0') {
		a += *a == '-';
		name += *name == '-' || *name == '_';
		if (*a != *name)
			return false;
	}
	return true;
}

static bool parse(const struct setting *s, const char *text, int64_t *ret)
{
	uint64_t bytes;
	char *rest;

	if (s->is_bytes) {
		if (!lbx_bytes_parse(text, &bytes) || (int64_t)bytes < s->min || (int64_t)bytes > s->max) {
			lb_clear_error();
			return lbx_misuse("set: %s takes a number of bytes from %lld to %lld, such as 4G, not '%s'",
					  s->name, (long long)s->min, (long long)s->max, text);
		}
		*ret = (int64_t)bytes;
		return true;
	}
	errno = 0;
	long long value = strtoll(text, &rest, 0);
	if (rest == text || *rest || errno || value < s->min || value > s->max)
		return lbx_misuse("set: %s takes a whole number from %lld to %lld, not '%s'", s->name,
				  (long long)s->min, (long long)s->max, text);
	*ret = value;
	return true;
}

static void show(struct lbx_out *out, const char *prefix, const struct setting *s, int64_t value, const char *was,
		 int64_t before)
{
	lbx_wrap(out, 0, 16);
	lbx_printf(out, "%-15s %lld", s->name, (long long)value);
	if (before != value)
		lbx_printf(out, ", %s %lld: `%sset %s %lld` restores it", was, (long long)before, prefix ? prefix : "",
			   s->name, (long long)before);
	lbx_printf(out, "\n");
}

static bool fail_name(const char *name)
{
	char names[256] = "";

	for (int i = 0; i < SETTINGS; i++) {
		strcat(names, i == 0 ? "" : i + 1 < SETTINGS ? ", " : " and ");
		strcat(names, settings[i].name);
	}
	return lbx_misuse("set: there is no setting '%s', but %s", name, names);
}

static bool run_set(struct lbx_context *context, const struct lbx_args *args)
{
	const struct setting *s = settings, *end = settings + SETTINGS;
	struct lbx_settings before = *context->settings;

	while (args->n > 0 && s < end && !is_named(s, args->v[0]))
		s++;
	if (args->n > 0 && s == end)
		return fail_name(args->v[0]);
	if (args->n > 0)
		end = s + 1;
	if (args->n == 2 && !parse(s, args->v[1], place(context->settings, s)))
		return false;
	lbx_begin(context->out, NULL);
	for (; s < end; s++) {
		int64_t value = *place(context->settings, s);
		LBX_KEY(context->out, s->name, json_integer(value));
		if (args->n == 2)
			show(context->out, context->prefix, s, value, "was", *place(&before, s));
		else
			show(context->out, context->prefix, s, value, "default", *place(&lbx_default_settings, s));
	}
	lbx_end(context->out);
	return lb_ok();
}

static const char *setting_word(int i)
{
	return i < SETTINGS ? settings[i].name : NULL;
}

const struct lbx_command lbx_command_set = {
	.name = "set",
	.arguments = "[NAME [VALUE]]",
	.summary = "show or change how values are printed and replayed",
	.help = "Without a value it shows the setting, without a name all of them: edge-items,\n"
		"threshold, precision, replay-memory (bytes, such as 4G), replay-seconds.\n"
		"Example: set precision 3",
	.max_args = 2,
	.word = setting_word,
	.run = run_set,
};
