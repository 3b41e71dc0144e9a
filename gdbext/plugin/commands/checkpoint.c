/* Snapshots of a living program, to look at while it goes on, or when it has gone on too far: gdb's own checkpoints are
 * forks, which have one thread alone, and share what the program does to files. A checkpoint is a core, which gdb writes
 * while the program stands still; `tensor restart N` looks at it in an inferior of its own, where all commands work, and
 * `tensor restart` comes back.
 *
 * They last as long as gdb does, in a folder that nobody else can read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vector.h"
#include "inspect/tensor/format.h"
#include "plugin/bridge/bridge.h"
#include "plugin/command.h"
#include "plugin/commands/commands.h"
#include "plugin/reads/stacks_gdb.h"
#include "plugin/reads/target_gdb.h"
#include "target/private_folder.h"

enum { PATH = 512, PLACE = 256 };

struct checkpoint {
	int number; /* from 1 */
	int of, shown; /* inferiors: of the program; where it is looked at, 0: nowhere yet */
	int frame; /* that was selected */
	uint64_t thread; /* likewise, as the kernel calls it; 0: not known */
	int64_t bytes;
	char path[PATH], place[PLACE];
};

static struct {
	int n, last; /* last: the number that was given last */
	size_t room;
	struct checkpoint *list;
	char folder[LBX_FOLDER_MAX]; /* "" before the first */
	pid_t owner; /* gdb, not a child of it that ends */
	int left; /* the frame that was selected in the program when one was looked at; -1: none, it had ended */
	int left_thread; /* likewise, by its number there */
} checkpoints;

/* gdb ends, or unloads the plugin. */
static __attribute__((destructor)) void forget_all(void)
{
	if (checkpoints.owner != getpid())
		return;
	for (int i = 0; i < checkpoints.n; i++)
		unlink(checkpoints.list[i].path);
	if (checkpoints.folder[0])
		rmdir(checkpoints.folder);
	free(checkpoints.list);
	checkpoints.list = NULL;
	checkpoints.n = 0;
}

static bool make_folder(void)
{
	if (checkpoints.folder[0])
		return true;
	if (!lbx_private_folder("checkpoints", checkpoints.folder))
		return false;
	checkpoints.owner = getpid();
	return true;
}

/* The number of the selected one; false: not known yet. */
static bool ask_inferior(int *ret)
{
	const char *text;

	if (!lbx_bridge_ask(&text, LBX_WITHOUT_FRAME, "output $_inferior"))
		return false;
	*ret = atoi(text);
	return *ret > 0 || lb_fail("checkpoint: gdb does not say which inferior is selected: %.80s", text);
}

static struct checkpoint *shown_in(int inferior)
{
	for (int i = 0; i < checkpoints.n; i++)
		if (checkpoints.list[i].shown == inferior)
			return &checkpoints.list[i];
	return NULL;
}

static bool must_live(struct lbx_context *context)
{
	if (!context->target)
		return lb_fail("checkpoint: there is no program");
	enum lbx_liveness liveness = lbx_target_gdb_liveness();
	if (lbx_bridge_waits())
		return false;
	return liveness != LBX_CORE || lb_fail("checkpoint: this is a core, which stays as it is");
}

/* The frame that is selected: its number, and "main () at plugin.c:12". */
static bool ask_place(int *ret_frame, char ret[PLACE])
{
	const char *text;

	if (!lbx_bridge_ask(&text, LBX_IN_FRAME, "frame"))
		return false;
	*ret_frame = *text == '#' ? atoi(text + 1) : 0;
	text += strspn(text, "#");
	text += strspn(text, "0123456789");
	text += strspn(text, " \t");
	if (strncmp(text, "0x", 2) == 0 && strstr(text, " in "))
		text = strstr(text, " in ") + 4;
	snprintf(ret, PLACE, "%.*s", (int)strcspn(text, "\n"), text);
	return true;
}

/* The thread that is selected: as the kernel calls it; 0: gdb does not tell. */
static bool ask_thread(struct lbx_context *context, uint64_t *ret)
{
	if (!context->stacks || context->stacks->ops->threads(context->stacks, ret, 1) < 1)
		*ret = 0;
	return !lbx_bridge_waits();
}

static void tell(struct lbx_out *out, const struct checkpoint *c)
{
	lbx_begin(out, NULL);
	lbx_tell(out, "checkpoint %pF: %pF, at %pF", LBX_INT("number", c->number), LBX_SIZE("bytes", c->bytes),
		 LBX_TEXT("place", c->place));
	LBX_KEY(out, "file", json_string(c->path));
	LBX_KEY(out, "inferior", c->shown ? json_integer(c->shown) : json_null());
	if (c->shown)
		lbx_printf(out, ", in inferior %d", c->shown);
	lbx_printf(out, "\n");
	lbx_end(out);
}

static bool list(struct lbx_out *out)
{
	lbx_begin_list(out, NULL);
	for (int i = 0; i < checkpoints.n; i++)
		tell(out, &checkpoints.list[i]);
	lbx_end(out);
	if (!checkpoints.n)
		lbx_printf(out, "there are no checkpoints\n");
	return lb_ok();
}

static struct checkpoint *find(const char *command, const struct lbx_args *args, const char *text)
{
	int64_t number;

	if (!lbx_args_whole(args, "N", text, 1, INT32_MAX, &number))
		return NULL;
	for (int i = 0; i < checkpoints.n; i++)
		if (checkpoints.list[i].number == number)
			return &checkpoints.list[i];
	lb_fail("%s: there is no checkpoint %s: `tensor checkpoint --list` shows those that there are", command, text);
	return NULL;
}

static bool take_away(struct lbx_context *context, const struct lbx_args *args, const char *text)
{
	struct checkpoint *c = find("checkpoint", args, text);
	int selected, frame = -1;
	char place[PLACE];

	if (!c || !ask_inferior(&selected))
		return false;
	if (c->shown && c->shown == selected)
		return lb_fail("checkpoint: %s is being looked at: `tensor restart` comes back from it", text);
	if (c->shown && context->target && !ask_place(&frame, place))
		return false;
	if (c->shown) /* gdb removes none that has a core */
		lbx_bridge_script("inferior %d\ncore-file\ninferior %d\nremove-inferiors %d", c->shown, selected,
				  c->shown);
	if (frame > 0)
		lbx_bridge_script("frame %d", frame);
	unlink(c->path);
	*c = checkpoints.list[--checkpoints.n];
	return true;
}

/* gdb writes the file once: its answer is kept while the line runs again with others. */
static bool write_core(struct checkpoint *c)
{
	struct stat s;
	const char *said;

	if (!lbx_bridge_ask(&said, LBX_WITHOUT_FRAME, "generate-core-file %s", c->path))
		return false;
	if (stat(c->path, &s) != 0 || !strstr(said, "Saved corefile")) {
		unlink(c->path);
		return lb_fail("checkpoint: gdb writes no core here: %.300s", said);
	}
	c->bytes = s.st_size;
	return true;
}

static bool run_checkpoint(struct lbx_context *context, const struct lbx_args *args)
{
	struct checkpoint c = { .number = checkpoints.last + 1 };
	const char *unwanted = lbx_args_option(args, "delete");

	if (lbx_args_option(args, "list"))
		return list(context->out);
	if (unwanted)
		return take_away(context, args, unwanted);
	if (!must_live(context) || !make_folder() || !ask_inferior(&c.of) || !ask_place(&c.frame, c.place) ||
	    !ask_thread(context, &c.thread))
		return false;
	snprintf(c.path, sizeof c.path, "%s/%d.core", checkpoints.folder, c.number);
	if (!write_core(&c))
		return false;
	if (!lb_reserve(checkpoints.list, checkpoints.room, (size_t)checkpoints.n + 1)) {
		unlink(c.path);
		return lb_fail("out of memory");
	}
	checkpoints.list[checkpoints.n++] = c;
	checkpoints.last = c.number;
	tell(context->out, &c);
	return lb_ok();
}

const struct lbx_command lbx_gdb_command_checkpoint = {
	.name = "checkpoint",
	.arguments = "",
	.summary = "keep the program as it is now, to look at later",
	.help = "Of all threads, with their stacks, and all memory: it is a core, which gdb writes now. The\n"
		"program goes on as before; `tensor restart N` looks at what was, with every command, and\n"
		"`tensor restart` comes back. They last as long as gdb does. (gdb's own `checkpoint` makes a\n"
		"fork, which has one thread alone.)\n"
		"Example: checkpoint, checkpoint --list, checkpoint --delete 2",
	.options = {
		{ "list", NULL, "show those that there are" },
		{ "delete", "N", "delete one" },
	},
	.run = run_checkpoint,
};

/* ---- looking at one ---- */

/* Back where the program is. */
static bool come_back(void)
{
	int selected;

	if (!ask_inferior(&selected))
		return false;
	const struct checkpoint *c = shown_in(selected);
	if (!c)
		return lb_fail("restart: no checkpoint is being looked at: `tensor restart N` looks at one");
	lbx_bridge_script("inferior %d", c->of);
	if (checkpoints.left >= 0 && checkpoints.left_thread > 0)
		lbx_bridge_script("_lb_quiet thread %d.%d", c->of, checkpoints.left_thread);
	if (checkpoints.left >= 0)
		lbx_bridge_script("frame %d", checkpoints.left);
	return true;
}

/* Where it was made: gdb selects the first thread of an inferior, and its order in a core is another one. */
static bool select_place(struct lbx_context *context, const struct checkpoint *c)
{
	const char *threads;
	uint64_t selected;

	if (!ask_thread(context, &selected))
		return false;
	if (c->thread && selected != c->thread) {
		if (!lbx_bridge_ask(&threads, LBX_WITHOUT_FRAME, "info threads"))
			return false;
		for (const char *line = threads; *line; line += strcspn(line, "\n"), line += *line == '\n') {
			int inferior, number;
			const char *id = line + strspn(line, " *");
			char text[256];
			snprintf(text, sizeof text, "%.*s", (int)strcspn(id, "\n"), id);
			if (sscanf(text, "%d.%d", &inferior, &number) == 2 && inferior == c->shown &&
			    lbx_stacks_gdb_thread_in(text) == c->thread)
				lbx_bridge_script("_lb_quiet thread %d.%d", inferior, number);
		}
	}
	lbx_bridge_script("frame %d", c->frame);
	return true;
}

/* "Added inferior 2 on connection 1 (native)" */
static bool add_inferior(struct checkpoint *c)
{
	const char *said, *added;

	if (!lbx_bridge_ask(&said, LBX_WITHOUT_FRAME, "clone-inferior %d", c->of))
		return false;
	added = strstr(said, "Added inferior ");
	if (!added)
		return lb_fail("restart: gdb makes no inferior for it: %.200s", said);
	c->shown = atoi(added + strlen("Added inferior "));
	return true;
}

static bool run_restart(struct lbx_context *context, const struct lbx_args *args)
{
	struct checkpoint *c;
	const char *thread = "0";
	char place[PLACE];
	int selected, left = -1;

	if (args->n == 0)
		return come_back();
	c = find("restart", args, args->v[0]);
	if (!c)
		return false;
	bool is_new = !c->shown;
	if (!ask_inferior(&selected) ||
	    (selected == c->of && context->target &&
	     (!ask_place(&left, place) || !lbx_bridge_ask(&thread, LBX_ANYWHERE, "output $_thread"))))
		return false;
	if (selected == c->shown)
		return select_place(context, c);
	if (is_new && !add_inferior(c))
		return false;
	if (selected == c->of) {
		checkpoints.left = left;
		checkpoints.left_thread = atoi(thread);
	}
	lbx_bridge_script("inferior %d", c->shown);
	if (is_new)
		lbx_bridge_script("core-file %s", c->path);
	lbx_bridge_then("restart %d", c->number);
	return true;
}

const struct lbx_command lbx_gdb_command_restart = {
	.name = "restart",
	.arguments = "[N]",
	.summary = "look at a checkpoint; without N, come back",
	.help = "Checkpoint N is looked at in an inferior of its own: stacks, variables and tensors are as they\n"
		"were when `tensor checkpoint` kept them, in the thread and frame that were selected then. The\n"
		"program itself stays where it is, and is what `tensor restart` comes back to, in the thread and\n"
		"frame that were left.\n"
		"Example: restart 1, restart",
	.max_args = 1,
	.run = run_restart,
};
