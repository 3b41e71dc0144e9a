/* The objects, frames and variables of Python programs, as these know them themselves: of each Python that is here; and what
 * becomes of it when their memory lies. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mix.h"
#include "lazybones.h"
#include "python/dict.h"
#include "python/exception.h"
#include "python/expression.h"
#include "python/variables.h"
#include "target/process.h"

enum { MAX_PYTHONS = 32, TEXT = 512, FRAMES = 32, RUNS = 60 };

/* Its lines count from 1. */
static const char program[] =
    "import collections, dataclasses, sys, threading\n"
    "class Point:\n"
    "    def __init__(self, x, name):\n"
    "        self.x = x\n"
    "        self.name = name\n"
    "class Slim:\n"
    "    __slots__ = ('x',)\n"
    "class Words(dict): pass\n"
    "class Name(str): pass\n"
    "number, negative, big, zero = 7, -12345678901, (1 << 62) + 5, 0\n"
    "huge, least, most, below, above = 1 << 70, -(1 << 63), (1 << 63) - 1, -(1 << 63) - 1, 1 << 63\n"
    "wide, wider, widest = 'gr\\xf6\\xdfe', '\\u03bb\\u2192', '\\U0001f4a4z'\n"
    "point, late = Point(1, 'one'), Point(2, 'two')\n"
    "late.__dict__['more'] = 'added'\n"
    "many = Point(3, 'three')\n"
    "for i in range(40): setattr(many, 'a%d' % i, 'n%d' % i)\n"
    "words = Words(a='b')\n"
    "words.more = 'attribute'\n"
    "keys = {'s': 'str', 5: 'int', -1: 'negative', (1, 2): 'tuple', 'gone': 1, \"it's\": 'quoted', "
    "'it\\'s \"both\"': 'both', 'a\\\\b\\n\\x01]': ['escaped']}\n"
    "del keys['gone']\n"
    "table = {i: str(i) for i in range(3000)}\n"
    "nested = [('a', 'b'), ['c', {'d': ['e']}], Name('derived')]\n"
    "cycle = {'end': 'here'}\n"
    "cycle['again'] = cycle\n"
    "ring = [cycle]\n"
    "ring.append(ring); mapped = collections.UserDict(a=['in a mapping'], b=1); "
    "pair = collections.namedtuple('Pair', ['left', 'right'])('l', 'in a pair'); "
    "record = dataclasses.make_dataclass('Record', ['part', 'parts'])('in a record', [('and within',)])\n"
    "module = threading\n"
    "def outer(given):\n"
    "    shared = 'in a cell'\n"
    "    unset = 1\n"
    "    del unset\n"
    "    def inner(own):\n"
    "        mine = own + given\n"
    "        look = shared\n"
    "        return (look,\n"
    "                sys.stdin.read())\n"
    "    return inner('own ')\n"
    "class Worker:\n"
    "    def run(self):\n"
    "        name = 'worker'\n"
    "        done.wait()\n"
    "done = threading.Event()\n"
    "def stack(f): return [f.f_code.co_name, f.f_back.f_code.co_name, f.f_back.f_back.f_code.co_name]\n"
    "def watch(main):\n"
    "    while True:\n"
    "        now = sys._current_frames()\n"
    "        lines = [now[t].f_lineno for t in (main, worker.ident) if t in now]\n"
    "        if lines[:1] == [36] and stack(now[worker.ident]) == ['wait', 'wait', 'run']: break\n"
    "    print('ready', flush=True)\n"
    "    done.wait()\n"
    "worker = threading.Thread(target=Worker().run, daemon=True)\n"
    "worker.start()\n"
    "threading.Thread(target=watch, args=(threading.get_ident(),), daemon=True).start()\n"
    "list(map(outer, ['given']))\n";

static char *pythons[MAX_PYTHONS];
static int n_pythons;

static struct {
	pid_t pid;
	int input;
	struct lbx_target *target;
	struct lbx_loaded *modules;
	int n_modules;
} process;

static void add_python(const char *path)
{
	char version[TEXT] = "", command[TEXT];
	snprintf(command, sizeof command,
		 "%s -c 'import sys; print(sys.version_info >= (3, 11) and sys.implementation.name == \"cpython\" and "
		 "\"free-threading\" not in sys.version, sys.version)' 2>/dev/null",
		 path);
	FILE *answer = popen(command, "r");
	bool is_known = answer && fgets(version, sizeof version, answer) && strncmp(version, "True", 4) == 0;
	if (answer)
		pclose(answer);
	if (is_known && n_pythons < MAX_PYTHONS)
		pythons[n_pythons++] = strdup(path);
}

static void find_pythons(void)
{
	char pattern[TEXT];
	glob_t found;

	add_python("/usr/bin/python3");
	snprintf(pattern, sizeof pattern, "%s/.pyenv/versions/*/bin/python3", getenv("HOME") ? getenv("HOME") : "");
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_python(found.gl_pathv[i]);
	globfree(&found);
}

/* It says `ready`. */
static void start(const char *python, const char *script)
{
	int in[2], out[2];
	char line[16] = "";

	assert_true(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	process.pid = fork();
	if (process.pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(python, python, "-c", script, (char *)NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	process.input = in[1];
	for (size_t n = 0; n < 6;) {
		ssize_t more = read(out[0], line + n, 6 - n);
		if (more <= 0)
			fail_msg("%s did not run", python);
		n += (size_t)more;
	}
	close(out[0]);
	assert_true(lbx_process_open(process.pid, &process.target));
	assert_non_null(lbx_process_hold(process.target));
	process.modules = lbx_loaded_all(process.target, &process.n_modules);
	assert_non_null(process.modules);
}

static void stop(void)
{
	free(process.modules);
	lbx_target_destroy(process.target);
	close(process.input);
	kill(process.pid, SIGKILL);
	waitpid(process.pid, NULL, 0);
}

static struct lbx_python *open_python(struct lbx_target *target)
{
	return lbx_python_open(target, process.modules, process.n_modules);
}

static bool any(void *context, uint64_t object)
{
	(void)context;
	return object != 0;
}

static bool is_text(void *context, uint64_t object)
{
	char text[4];

	return lbx_py_text(context, object, text, sizeof text);
}

static const struct lbx_py_rules anything = { .is_wanted = any };

/* ---- values ---- */

/* What the expression is: a str as it is, an int in decimal, else its type. */
static const char *value(struct lbx_python *py, const char *expression, char ret[TEXT])
{
	struct lbx_py_found found[LBX_PY_FOUND];
	int64_t number;

	if (lbx_py_evaluate(py, &anything, expression, NULL, found) == 0)
		return "nothing";
	if (lbx_py_int(py, found[0].object, &number))
		snprintf(ret, TEXT, "%lld", (long long)number);
	else if (!lbx_py_text(py, found[0].object, ret, TEXT))
		snprintf(ret, TEXT, "<%s>", lbx_py_type_of(py, found[0].object)->name);
	return ret;
}

static void values_are_as_python_has_them(struct lbx_python *py)
{
	static const char *const cases[][2] = {
		{ "number", "7" },
		{ "negative", "-12345678901" },
		{ "zero", "0" },
		{ "big", "4611686018427387909" },
		{ "least", "-9223372036854775808" },
		{ "most", "9223372036854775807" },
		{ "below", "<int>" },
		{ "above", "<int>" },
		{ "huge", "<int>" },
		{ "wide", "gr\303\266\303\237e" },
		{ "wider", "\316\273\342\206\222" },
		{ "widest", "\360\237\222\244z" },
		{ "point.x", "1" },
		{ "point.name", "one" },
		{ "point.nothing", "nothing" },
		{ "late.x", "2" },
		{ "late.more", "added" },
		{ "many.a0", "n0" },
		{ "many.a39", "n39" },
		{ "many.name", "three" },
		{ "words['a']", "b" },
		{ "words.more", "attribute" },
		{ "keys['s']", "str" },
		{ "keys[\"s\"]", "str" },
		{ "keys[\"it's\"]", "quoted" },
		{ "keys['it\\'s \"both\"']", "both" },
		{ "keys[\"it's \\\"both\\\"\"]", "both" },
		{ "keys['it's \"both\"']", "nothing" },
		{ "keys['a\\\\b\\n\\x01]'][0]", "escaped" },
		{ "keys['a\\", "nothing" },
		{ "keys[5]", "int" },
		{ "keys[-1]", "negative" },
		{ "keys['gone']", "nothing" },
		{ "table[2999]", "2999" },
		{ "table[3000]", "nothing" },
		{ "nested[0][1]", "b" },
		{ "nested[-2][1]['d'][0]", "e" },
		{ "nested[2]", "derived" },
		{ "nested[3]", "nothing" },
		{ "mapped['a'][-1]", "in a mapping" },
		{ "mapped['b']", "1" },
		{ "mapped['c']", "nothing" },
		{ "pair.right", "in a pair" },
		{ "pair.middle", "nothing" },
		{ "record.parts[0][0]", "and within" },
		{ "cycle['again']['again']['end']", "here" },
		{ "ring[1][1][0]['end']", "here" },
		{ "module._counter", "<method-wrapper>" },
		{ "keys[nested[0]]", "nothing" },
		{ "keys[", "nothing" },
		{ "keys['s'", "nothing" },
		{ "keys.", "nothing" },
		{ "", "nothing" },
		{ "7", "nothing" },
		/* of functions that run */
		{ "mine", "own given" },
		{ "own", "own " },
		{ "given", "given" },
		{ "shared", "in a cell" },
		{ "name", "worker" },
		{ "unset", "nothing" },
	};
	char text[TEXT];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (strcmp(value(py, cases[i][0], text), cases[i][1]) != 0 && strncmp(cases[i][0], "module.", 7) != 0)
			fail_msg("%s: %s is %s, not %s", py->version, cases[i][0], value(py, cases[i][0], text),
				 cases[i][1]);
	if (strcmp(value(py, "module._active", text), "<dict>") != 0)
		fail_msg("%s: a module's variable is %s", py->version, text);
}

/* ---- frames ---- */

/* "inner:36 outer:37! <module>:54!": for those with a mark C called the interpreter */
static void describe(struct lbx_python *py, const struct lbx_py_thread *thread, char ret[TEXT])
{
	struct lbx_py_frame frame;
	int n = 0;

	ret[0] = '\0';
	for (bool more = lbx_py_frame_first(py, thread, &frame); more && n < FRAMES; n++) {
		size_t used = strlen(ret);
		snprintf(ret + used, TEXT - used, "%s%s:%d%s", n ? " " : "", frame.function,
			 lbx_py_frame_line(py, &frame), frame.is_entry ? "!" : "");
		more = lbx_py_frame_next(py, &frame, &frame);
	}
}

static void frames_are_as_python_has_them(struct lbx_python *py)
{
	struct lbx_py_thread thread;
	char text[TEXT];
	int n = 0, n_workers = 0;

	for (; lbx_py_thread(py, n, &thread); n++) {
		describe(py, &thread, text);
		if (thread.tid == (uint64_t)process.pid)
			assert_string_equal(text, "outer.<locals>.inner:36 outer:37! <module>:54!");
		else if (!strstr(text, "watch:") && !(strstr(text, " Worker.run:41") && strstr(text, " Thread.run:")))
			fail_msg("%s: a thread is in %s", py->version, text);
		n_workers += strstr(text, " Worker.run:41") != NULL;
	}
	assert_int_equal(n, 3);
	assert_int_equal(n_workers, 1);
}

static void a_line_that_is_not_known_is_left_out(void **state)
{
	static const char script[] = "import sys\n"
				     "def wait():\n"
				     "    print('ready', flush=True)\n"
				     "    sys.stdin.read()\n"
				     "wait.__code__ = wait.__code__.replace(co_linetable=b'')\n"
				     "wait()\n";
	struct lbx_py_thread thread;
	struct lbx_py_frame frame;
	char text[TEXT];

	(void)state;
	if (n_pythons == 0)
		skip();
	start(pythons[0], script);
	struct lbx_python *py = open_python(process.target);
	assert_non_null(py);
	assert_true(lbx_py_thread(py, 0, &thread) && lbx_py_frame_first(py, &thread, &frame));
	lbx_py_frame_text(py, &frame, text, sizeof text);
	assert_string_equal(text, "wait at <string>");
	assert_true(lbx_py_frame_next(py, &frame, &frame));
	lbx_py_frame_text(py, &frame, text, sizeof text);
	assert_string_equal(text, "<module> at <string>:6");
	assert_false(lbx_py_frame_next(py, &frame, &frame));
	lbx_python_close(py);
	stop();
}

/* ---- the walk ---- */

struct wanted {
	uint64_t object;
};

static bool is_that(void *context, uint64_t object)
{
	return ((struct wanted *)context)->object == object;
}

/* The first two paths to what an expression leads to. */
static void paths_lead_to(struct lbx_python *py, const char *expression, const char *first, const char *second)
{
	struct lbx_py_found found[LBX_PY_FOUND];
	struct lbx_py_walk walk;
	char path[LBX_PY_PATH];

	assert_int_equal(lbx_py_evaluate(py, &anything, expression, NULL, found), 1);
	struct wanted wanted = { found[0].object };
	const struct lbx_py_rules rules = { .is_wanted = is_that,
					    .context = &wanted,
					    .elided = { "__dict__", "hidden" } };
	assert_true(lbx_py_walk_start(py, &rules, &walk));
	assert_false(walk.is_cut);
	uint32_t node = lbx_py_walk_find(&walk, wanted.object);
	assert_true(node != UINT32_MAX && lbx_py_path(&walk, node, path));
	assert_string_equal(path, first);
	if (second) {
		node = walk.nodes[node].next;
		assert_true(node != UINT32_MAX && lbx_py_path(&walk, node, path));
		assert_string_equal(path, second);
	}
	lbx_py_walk_end(&walk);
}

struct sought {
	const char *text;
	struct lbx_python *py;
	char names[TEXT];
};

static bool note_name(void *context, const char *name, uint64_t object)
{
	struct sought *s = context;
	char text[TEXT];

	if (!lbx_py_text(s->py, object, text, sizeof text) || strcmp(text, s->text) != 0)
		return false;
	snprintf(s->names + strlen(s->names), sizeof s->names - strlen(s->names), "%s ", name);
	return true;
}

/* What is in variables, of whatever kind, has the name that an expression has. */
static void variables_are_looked_into(struct lbx_python *py)
{
	static const char *const expected[][2] = {
		{ "in a mapping", "mapped['a'][0] " }, { "in a pair", "pair[1] " },
		{ "in a record", "record.part " },     { "and within", "record.parts[0][0] " },
		{ "e", "nested[1][1]['d'][0] " },      { "negative", "keys[-1] " },
	};

	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		struct sought s = { .text = expected[i][0], .py = py };
		struct lbx_py_thread thread;
		struct lbx_py_frame frame;
		for (int k = 0; lbx_py_thread(py, k, &thread); k++)
			for (bool more = lbx_py_frame_first(py, &thread, &frame); more;
			     more = lbx_py_frame_next(py, &frame, &frame))
				lbx_py_look_at_variables(py, &frame, note_name, &s);
		assert_string_equal(s.names, expected[i][1]);
	}
}

static void each_python(void **state)
{
	(void)state;
	if (n_pythons == 0) {
		print_message("no Python of 3.11 or later is here\n");
		skip();
	}
	for (int i = 0; i < n_pythons; i++) {
		start(pythons[i], program);
		struct lbx_python *py = open_python(process.target);
		if (!py)
			fail_msg("%s: %s", pythons[i], lb_error_message());
		values_are_as_python_has_them(py);
		frames_are_as_python_has_them(py);
		paths_lead_to(py, "nested[1][1]['d'][0]", "nested[1][1]['d'][0]", NULL);
		paths_lead_to(py, "cycle", "cycle", "ring[0]");
		paths_lead_to(py, "mine", "mine", NULL);
		paths_lead_to(py, "mapped['a'][0]", "mapped['a'][0]", NULL);
		paths_lead_to(py, "keys['a\\\\b\\n\\x01]'][0]", "keys['a\\\\b\\n\\x01]'][0]", NULL);
		paths_lead_to(py, "mapped.data['a'][0]", "mapped['a'][0]", NULL);
		paths_lead_to(py, "pair.right", "pair[1]", NULL);
		paths_lead_to(py, "record.part", "record.part", NULL);
		variables_are_looked_into(py);
		assert_true(lb_ok());
		lbx_python_close(py);
		stop();
	}
}

/* More than are gone through, and yet what stands beside them is found. */
static void the_large_does_not_hide_the_small(void **state)
{
	static const char large[] = "import sys\n"
				    "rows = [[i, [i]] for i in range(400000)]\n"
				    "small = {'a': {'b': [('deep',)]}}\n"
				    "print('ready', flush=True)\n"
				    "sys.stdin.read()\n";
	struct lbx_py_found found[LBX_PY_FOUND];
	struct lbx_py_walk walk;
	char path[LBX_PY_PATH];

	(void)state;
	if (n_pythons == 0)
		skip();
	start(pythons[0], large);
	struct lbx_python *py = open_python(process.target);
	assert_non_null(py);
	assert_int_equal(lbx_py_evaluate(py, &anything, "small['a']['b'][0][0]", NULL, found), 1);
	struct wanted wanted = { found[0].object };
	const struct lbx_py_rules rules = { .is_wanted = is_that, .context = &wanted };
	assert_true(lbx_py_walk_start(py, &rules, &walk));
	assert_true(walk.is_cut);
	uint32_t node = lbx_py_walk_find(&walk, wanted.object);
	assert_true(node != UINT32_MAX && lbx_py_path(&walk, node, path));
	assert_string_equal(path, "small['a']['b'][0][0]");
	lbx_py_walk_end(&walk);
	lbx_python_close(py);
	stop();
}

/* A type that was looked at is known still when there is room for no more of them. */
static void a_full_table_of_types_is_of_use(void **state)
{
	static const char script[] = "import sys\n"
				     "many = [type('T', (), {})() for i in range(90000)]\n"
				     "text = 'known'\n"
				     "print('ready', flush=True)\n"
				     "sys.stdin.read()\n";
	struct wanted nothing = { 1 };
	const struct lbx_py_rules rules = { .is_wanted = is_that, .context = &nothing };
	struct lbx_py_found found[LBX_PY_FOUND];
	struct lbx_py_walk walk;
	char text[TEXT];

	(void)state;
	if (n_pythons == 0)
		skip();
	start(pythons[0], script);
	struct lbx_python *py = open_python(process.target);
	assert_non_null(py);
	assert_true(lbx_py_walk_start(py, &rules, &walk));
	lbx_py_walk_end(&walk);
	assert_string_equal(value(py, "text", text), "known");
	assert_int_equal(lbx_py_evaluate(py, &anything, "many[89999]", NULL, found), 1);
	assert_null(lbx_py_type_of(py, found[0].object));
	lbx_python_close(py);
	stop();
}

/* ---- members ---- */

/* What is wanted: one of the two. */
static bool is_weight(void *context, uint64_t object)
{
	const struct wanted *wanted = context;

	return object == wanted[0].object || object == wanted[1].object;
}

static void all_paths_are(const struct lbx_py_walk *walk, uint64_t object, const char *expected)
{
	char path[LBX_PY_PATH], all[TEXT] = "";

	for (uint32_t node = lbx_py_walk_find(walk, object); node != UINT32_MAX; node = walk->nodes[node].next) {
		size_t used = strlen(all);
		assert_true(lbx_py_path(walk, node, path));
		snprintf(all + used, sizeof all - used, "%s%s", used ? " " : "", path);
	}
	assert_string_equal(all, expected);
}

/* That of the outermost instance is first, and the others are still there. */
static void members_keep_their_other_paths(struct lbx_python *py)
{
	struct wanted wanted[2];
	struct lbx_py_found found[LBX_PY_FOUND];
	struct lbx_py_walk walk;
	const struct lbx_py_rules rules = { .is_wanted = is_weight,
					    .context = wanted,
					    .elided = { "_parameters", "_buffers", "_modules" } };

	assert_int_equal(lbx_py_evaluate(py, &anything, "weight", NULL, found), 1);
	wanted[0].object = found[0].object;
	assert_int_equal(lbx_py_evaluate(py, &anything, "mean", NULL, found), 1);
	wanted[1].object = found[0].object;
	assert_true(lbx_py_walk_start(py, &rules, &walk));
	all_paths_are(&walk, wanted[0].object, "net.fc.weight weight inner.weight kept[0]");
	all_paths_are(&walk, wanted[1].object, "net.fc.mean mean inner.mean kept[1]");
	lbx_py_walk_end(&walk);
}

/* Each dict of members is counted by itself; they are found under their names, too, and in a Sequential by their places. */
static void members_have_indices(struct lbx_python *py)
{
	static const char *const cases[][2] = {
		{ "row[0]", "first" },
		{ "row[1]", "second" },
		{ "row[-1]", "second" },
		{ "row[-2]", "first" },
		{ "row[-3]", "nothing" },
		{ "row[2]", "nothing" },
		{ "own[0]", "only" },
		{ "own[-1]", "only" },
		{ "own[-2]", "nothing" },
		{ "odd[-1]", "nothing" },
		{ "odd[-9223372036854775808]", "nothing" },
		{ "own['name']", "other" },
		{ "own[\"a.b\"]", "dotted" },
		{ "own['0']", "only" },
		{ "own['none']", "nothing" },
		{ "own['_modules']", "nothing" },
		{ "own[key]", "other" },
		{ "row[number]", "second" },
		{ "items[number]", "b" },
		{ "items[minus]", "a" },
		{ "items[key]", "nothing" },
		{ "named[key]", "under name" },
		{ "named[number]", "under 1" },
		{ "named[long]", "nothing" },
		{ "chain[0]", "head" },
		{ "chain[1]", "tail" },
		{ "chain[-1]", "tail" },
		{ "chain[-2]", "head" },
		{ "chain[2]", "nothing" },
		{ "chain[-3]", "nothing" },
		{ "chain[number]", "tail" },
		{ "chain['1']", "head" },
	};
	const struct lbx_py_rules rules = { .is_wanted = any,
					    .elided = { "_parameters", "_buffers", "_modules" },
					    .counted = "Sequential",
					    .counts = "_modules" };
	struct lbx_py_found found[LBX_PY_FOUND];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[TEXT] = "nothing";
		if (lbx_py_evaluate(py, &rules, cases[i][0], NULL, found) > 0)
			assert_true(lbx_py_text(py, found[0].object, text, sizeof text));
		if (strcmp(text, cases[i][1]) != 0)
			fail_msg("%s: %s is %s", py->version, cases[i][0], text);
	}
}

static void members_of_instances(void **state)
{
	static const char script[] =
	    "import sys\n"
	    "class Net: pass\n"
	    "weight, mean = ['weight'], ['mean']\n"
	    "inner, net = Net(), Net()\n"
	    "inner._parameters = {'weight': weight}\n"
	    "inner._buffers = {'mean': mean}\n"
	    "net._modules = {'fc': inner}\n"
	    "kept = [weight, mean]\n"
	    "row, own, odd = Net(), Net(), Net()\n"
	    "row._parameters = {'scale': ['scale']}\n"
	    "row._buffers = {'mean': ['other']}\n"
	    "row._modules = {'0': 'first', '1': 'second'}\n"
	    "own._parameters = {'0': 'only'}\n"
	    "own._modules = {'name': 'other', 'more': 'another', 'a.b': 'dotted'}\n"
	    "class Sequential(Net): pass\n"
	    "class Chain(Sequential): pass\n"
	    "chain = Chain()\n"
	    "chain._parameters = {'0': 'no place'}\n"
	    "chain._modules = {'gone': 0, '1': 'head', '0': 'tail'}\n"
	    "del chain._modules['gone']\n"
	    "key, number, minus, long = ''.join(['na', 'me']), 1, -2, 'k' * 300\n"
	    "items, named = ['a', 'b'], {'name': 'under name', 1: 'under 1', 'k' * 255: 'cut'}\n"
	    "odd._modules = {'-1': 'odd', '-9223372036854775807': 'odd'}\n"
	    "print('ready', flush=True)\n"
	    "sys.stdin.read()\n";

	(void)state;
	if (n_pythons == 0)
		skip();
	for (int i = 0; i < n_pythons; i++) {
		start(pythons[i], script);
		struct lbx_python *py = open_python(process.target);
		assert_non_null(py);
		members_keep_their_other_paths(py);
		members_have_indices(py);
		lbx_python_close(py);
		stop();
	}
}

/* ---- memory that lies ---- */

struct liar {
	struct lbx_target target; /* first */
	uint64_t seed, n, rate; /* one in `rate` words of a page is another one */
};

static bool read_lies(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	struct liar *liar = (struct liar *)target;
	static const uint64_t lies[] = { 0, 1, UINT64_MAX, INT64_MAX, 1ULL << 40, 0x30, 0x1000, 255 };

	if (!lbx_target_read(process.target, address, to, n))
		return false;
	for (size_t i = (size_t)(-address & 7); i + 8 <= n; i += 8) {
		uint64_t dice = lb_mix((address + i) ^ liar->seed), word;
		if (dice % liar->rate)
			continue;
		memcpy(&word, (char *)to + i, sizeof word);
		dice /= liar->rate;
		word = dice & 1 ? lies[dice >> 8 & 7] : dice & 2 ? word ^ (1ULL << (dice >> 8 & 63)) : word + 16;
		memcpy((char *)to + i, &word, sizeof word);
		liar->n++;
	}
	return true;
}

struct patch {
	struct lbx_target target; /* first */
	uint64_t address, word; /* what is read there instead */
};

static bool read_patched(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	const struct patch *patch = (struct patch *)target;
	uint64_t at = patch->address - address;

	if (!lbx_target_read(process.target, address, to, n))
		return false;
	if (at < n && n - at >= sizeof patch->word)
		memcpy((char *)to + at, &patch->word, sizeof patch->word);
	return true;
}

/* Each thread is there once, though their list is a ring. */
static void a_ring_of_threads_ends(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_patched };
	struct patch patch = { .target = { .ops = &ops } };
	struct lbx_py_thread threads[3], thread;
	char text[TEXT];

	(void)state;
	if (n_pythons == 0)
		skip();
	start(pythons[0], program);
	struct lbx_python *py = open_python(process.target);
	assert_non_null(py);
	for (int i = 0; i < 3; i++)
		assert_true(lbx_py_thread(py, i, &threads[i]));
	assert_false(lbx_py_thread(py, 3, &thread));
	for (int last = 0; last < 3; last++) {
		patch.address = threads[last].address + py->layout.next_thread;
		patch.word = threads[0].address;
		lbx_python_use(py, &patch.target);
		lbx_python_refresh(py);
		for (int i = 0; i <= last; i++) {
			assert_true(lbx_py_thread(py, i, &thread));
			assert_true(thread.address == threads[i].address && thread.tid == threads[i].tid);
		}
		assert_false(lbx_py_thread(py, last + 1, &thread));
		assert_string_equal(value(py, "number", text), "7");
	}
	lbx_python_close(py);
	stop();
}

/* A frame that comes again ends a stack, wherever in it. */
static void a_ring_of_frames_ends(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_patched };
	struct patch patch = { .target = { .ops = &ops } };
	struct lbx_py_frame frames[8], frame;
	struct lbx_py_thread thread;

	(void)state;
	if (n_pythons == 0)
		skip();
	start(pythons[0], program);
	struct lbx_python *py = open_python(process.target);
	assert_non_null(py);
	int n = 0, n_threads = 0;
	while (lbx_py_thread(py, n_threads, &thread) && thread.tid != (uint64_t)process.pid)
		n_threads++;
	for (bool more = lbx_py_frame_first(py, &thread, &frames[0]); more && ++n < 8;)
		more = lbx_py_frame_next(py, &frames[n - 1], &frames[n]);
	assert_in_range(n, 2, 7);
	for (int last = 0; last < n; last++)
		for (int again = 0; again <= last; again++) {
			int told = 0;
			patch.address = frames[last].address + py->layout.previous;
			patch.word = frames[again].address;
			lbx_python_use(py, &patch.target);
			lbx_python_refresh(py);
			for (bool more = lbx_py_frame_first(py, &thread, &frame); more; told++)
				more = lbx_py_frame_next(py, &frame, &frame);
			assert_in_range(told, last + 1, 4 * n);
		}
	lbx_python_close(py);
	stop();
}

static bool count_calls(void *context, int64_t done)
{
	int *calls = context;

	assert_true(done > 0);
	return ++*calls < 3;
}

/* Dicts may have millions of entries that are free: what is read has a limit, and the user may end it before. */
static void what_is_read_has_a_limit(void **state)
{
	static const char script[] = "import sys\n"
				     "free = dict.fromkeys(range(1000000))\n"
				     "for i in range(1000000): del free[i]\n"
				     "free['x'] = 'behind them'\n"
				     "text = 'here'\n"
				     "print('ready', flush=True)\n"
				     "sys.stdin.read()\n";
	struct wanted nothing = { 1 };
	const struct lbx_py_rules rules = { .is_wanted = is_that, .context = &nothing };
	struct lbx_py_found found[LBX_PY_FOUND];
	struct lbx_py_dict dict;
	struct lbx_py_walk walk;
	char text[TEXT];
	int calls = 0;

	(void)state;
	if (n_pythons == 0)
		skip();
	start(pythons[0], script);
	struct lbx_python *py = open_python(process.target);
	assert_non_null(py);
	assert_string_equal(value(py, "free['x']", text), "behind them");
	assert_int_equal(lbx_py_evaluate(py, &anything, "free", NULL, found), 1);
	assert_true(lbx_py_dict_open(py, found[0].object, &dict));
	lbx_py_allow(py, 10000);
	assert_int_equal(lbx_py_dict_find(py, &dict, "x"), 0);
	assert_true(lbx_py_is_spent(py));
	assert_string_equal(value(py, "text", text), "here");
	lbx_python_watch(py, count_calls, &calls);
	assert_false(lbx_py_walk_start(py, &rules, &walk));
	assert_int_equal(lb_error_cause(), LB_INTERRUPTED);
	assert_int_equal(calls, 3);
	lb_clear_error();
	lbx_python_watch(py, NULL, NULL);
	assert_true(lbx_py_walk_start(py, &rules, &walk));
	assert_false(walk.is_cut);
	lbx_py_walk_end(&walk);
	lbx_python_close(py);
	stop();
}

static uint64_t references(struct lbx_target *target, uint64_t object)
{
	uint64_t ret = 0;

	assert_true(lbx_target_read(target, object, &ret, sizeof ret));
	return ret;
}

/* Of a program that runs on, what leads somewhere stays as it was when it was met, names too; what leads nowhere is not kept. */
static void what_was_met_stays(void **state)
{
	static const char script[] = "import sys\n"
				     "leaves = ['%0200d' % i for i in range(20000)]\n"
				     "box = {leaves[5000]: ['held']}\n"
				     "print('ready', flush=True)\n"
				     "sys.stdin.readline()\n"
				     "box.clear()\n"
				     "leaf = leaves[10000]\n"
				     "leaves.clear()\n"
				     "others = ['x%0199d' % i for i in range(20000)]\n"
				     "leaves = [leaf] * 1000\n"
				     "sys.stdin.read()\n";
	struct lbx_py_found leaf[LBX_PY_FOUND], found[LBX_PY_FOUND];
	struct lbx_target *running;
	struct lbx_py_walk walk;
	char path[LBX_PY_PATH], expected[LBX_PY_PATH];

	(void)state;
	if (n_pythons == 0)
		skip();
	start(pythons[0], script);
	struct lbx_python *py = open_python(process.target);
	assert_non_null(py);
	assert_int_equal(lbx_py_evaluate(py, &anything, "leaves[10000]", NULL, leaf), 1);
	assert_int_equal(lbx_py_evaluate(py, &anything, "box[leaves[5000]][0]", NULL, found), 1);
	lbx_python_close(py);
	struct wanted wanted = { found[0].object };
	const struct lbx_py_rules rules = { .is_wanted = is_that, .context = &wanted };
	assert_true(lbx_process_open(process.pid, &running));
	assert_int_equal(lbx_target_copy(running, false), LBX_COPIED_RUNNING);
	py = open_python(running);
	assert_non_null(py);
	assert_true(lbx_py_walk_start(py, &rules, &walk));
	lbx_target_destroy(process.target); /* which held it */
	process.target = running;
	assert_int_equal(write(process.input, "\n", 1), 1);
	while (references(lbx_target_now(running), leaf[0].object) < 1000)
		usleep(1000);
	lbx_python_refresh(py);
	uint32_t node = lbx_py_walk_find(&walk, wanted.object);
	assert_true(node != UINT32_MAX && lbx_py_path(&walk, node, path));
	snprintf(expected, sizeof expected, "box['%0200d'][0]", 5000);
	assert_string_equal(path, expected);
	assert_true(references(running, leaf[0].object) >= 1000);
	lbx_py_walk_end(&walk);
	lbx_python_close(py);
	stop();
}

/* The function behind a stack pointer, or "". */
static void innermost(struct lbx_python *py, const struct lbx_py_thread *thread, uint64_t stack, char ret[TEXT])
{
	struct lbx_py_frame frame;

	ret[0] = '\0';
	if (lbx_py_frame_behind(py, thread, stack, &frame))
		snprintf(ret, TEXT, "%s", frame.function);
}

/* A function that C called, as map does, is told from who called C by the stack. */
static void a_frame_of_c_has_functions_behind_it(void **state)
{
	struct lbx_py_found found[LBX_PY_FOUND];
	struct lbx_py_thread thread;
	char text[TEXT];

	(void)state;
	if (n_pythons == 0)
		skip();
	for (int i = 0; i < n_pythons; i++) {
		start(pythons[i], program);
		struct lbx_python *py = open_python(process.target);
		uint64_t low = 1, high = UINT64_MAX;
		assert_non_null(py);
		for (int k = 0; lbx_py_thread(py, k, &thread) && thread.tid != (uint64_t)process.pid; k++)
			;
		innermost(py, &thread, low, text);
		assert_string_equal(text, "outer.<locals>.inner");
		innermost(py, &thread, high, text);
		assert_string_equal(text, "");
		while (high - low > 1) { /* from where on it is another one */
			uint64_t middle = low + (high - low) / 2;
			innermost(py, &thread, middle, text);
			*(strstr(text, "inner") ? &low : &high) = middle;
		}
		innermost(py, &thread, high, text);
		assert_string_equal(text, "<module>");
		struct lbx_viewpoint from = { .thread = thread.tid, .stack = low };
		assert_int_equal(lbx_py_evaluate(py, &anything, "own", &from, found), 1);
		assert_string_equal(found[0].function, "outer.<locals>.inner");
		from.stack = high; /* what has the name nowhere else is found */
		assert_int_equal(lbx_py_evaluate(py, &anything, "own", &from, found), 1);
		from = (struct lbx_viewpoint){ .thread = thread.tid + 1, .only = true };
		assert_int_equal(lbx_py_evaluate(py, &anything, "own", &from, found), 0);
		lbx_python_close(py);
		stop();
	}
}

/* A function's own variable comes before a module's of that name, whichever thread it is in. */
static void own_variables_come_first(void **state)
{
	static const char script[] =
	    "import sys, threading, types\n"
	    "other = types.ModuleType('other')\n"
	    "exec(\"\"\"\n"
	    "far = 'of another module'\n"
	    "both = 'of another module'\n"
	    "def wait(event, ready):\n"
	    "    near = 'of a function'\n"
	    "    twice = 'of one thread'\n"
	    "    ready.set()\n"
	    "    event.wait()\n"
	    "\"\"\", other.__dict__)\n"
	    "near = 'of the main module'\n"
	    "both = 'of the main module'\n"
	    "ready = threading.Event()\n"
	    "threading.Thread(target=other.wait, args=(threading.Event(), ready), daemon=True).start()\n"
	    "ready.wait()\n"
	    "def run():\n"
	    "    twice = 'of the other thread'\n"
	    "    print('ready', flush=True)\n"
	    "    sys.stdin.read()\n"
	    "run()\n";
	struct lbx_py_found found[LBX_PY_FOUND];
	char text[TEXT];

	(void)state;
	if (n_pythons == 0)
		skip();
	for (int i = 0; i < n_pythons; i++) {
		start(pythons[i], script);
		struct lbx_python *py = open_python(process.target);
		assert_non_null(py);
		assert_string_equal(value(py, "near", text), "of a function");
		assert_string_equal(value(py, "far", text), "of another module");
		assert_string_equal(value(py, "both", text), "of the main module");
		assert_int_equal(lbx_py_evaluate(py, &anything, "near", NULL, found), 1);
		assert_string_equal(found[0].function, "wait");
		assert_int_equal(lbx_py_evaluate(py, &anything, "twice", NULL, found), 2);
		assert_true(strcmp(found[0].function, found[1].function) != 0 && found[0].tid != found[1].tid);
		/* in one thread alone; what it does not have is sought in all */
		for (int k = 0; k < 2; k++) {
			struct lbx_py_found one[LBX_PY_FOUND];
			struct lbx_viewpoint scope = { .thread = found[k].tid };
			assert_int_equal(lbx_py_evaluate(py, &anything, "twice", &scope, one), 1);
			assert_int_equal(one[0].object, found[k].object);
			bool is_main = found[k].tid == (uint64_t)process.pid;
			assert_int_equal(lbx_py_evaluate(py, &anything, "near", &scope, one), 1);
			assert_true(lbx_py_text(py, one[0].object, text, sizeof text));
			assert_string_equal(text, is_main ? "of the main module" : "of a function");
			assert_int_equal(lbx_py_evaluate(py, &anything, "far", &scope, one), 1);
		}
		lbx_python_close(py);
		stop();
	}
}

/* ---- exceptions ---- */

/* "handled Broken: no weights in load:9" */
static void told(const struct lbx_py_exception *e, char ret[TEXT])
{
	static const char *const why[] = { "raised", "handled", "cause", "context" };

	snprintf(ret, TEXT, "%s %s: %s in %s:%d", why[e->why], e->type, e->message, e->function, e->line);
}

static void exceptions_are_as_python_prints_them(void **state)
{
	static const char script[] = "import sys\n"
				     "class Broken(Exception): pass\n"
				     "def get(d, key):\n"
				     "    return d[key]\n"
				     "def load(path):\n"
				     "    try:\n"
				     "        return get({}, 'weight')\n"
				     "    except KeyError as e:\n"
				     "        raise Broken('no weights in ' + path + '\\nand more') from e\n"
				     "def generate():\n"
				     "    yield 1\n"
				     "    print('ready', flush=True)\n"
				     "    yield sys.stdin.read()\n"
				     "def run():\n"
				     "    try: load('x.pt')\n"
				     "    except Broken:\n"
				     "        try: open('/nonexistent/file')\n"
				     "        except OSError:\n"
				     "            try: raise ValueError(7)\n"
				     "            except ValueError:\n"
				     "                for i in generate(): pass\n"
				     "run()\n";
	static const char *const expected[] = {
		"handled ValueError:  in run:19",
		"context FileNotFoundError: [Errno 2] No such file or directory in run:17",
		"context Broken: no weights in x.pt … in load:9", "cause KeyError: 'weight' in get:4"
	};
	struct lbx_py_exception exceptions[LBX_PY_EXCEPTIONS];
	struct lbx_py_thread thread;
	char text[TEXT];
	bool more;

	(void)state;
	if (n_pythons == 0)
		skip();
	for (int i = 0; i < n_pythons; i++) {
		start(pythons[i], script);
		struct lbx_python *py = open_python(process.target);
		assert_non_null(py);
		assert_true(lbx_py_thread(py, 0, &thread));
		assert_int_equal(lbx_py_exceptions(py, &thread, exceptions, &more), 4);
		assert_false(more);
		for (int k = 0; k < 4; k++) {
			told(&exceptions[k], text);
			assert_string_equal(text, expected[k]);
		}
		lbx_python_close(py);
		stop();
	}
}

/* As when C has raised it, and nobody has handled it yet. */
static void an_exception_on_its_way_is_told(void **state)
{
	static const char script[] = "import sys\n"
				     "kept = ValueError('on its way')\n"
				     "kept.__suppress_context__ = True\n"
				     "kept.__context__ = KeyError('hidden')\n"
				     "print('ready', flush=True)\n"
				     "sys.stdin.read()\n";
	static const struct lbx_target_ops ops = { .read = read_patched };
	struct patch patch = { .target = { .ops = &ops } };
	struct lbx_py_exception exceptions[LBX_PY_EXCEPTIONS];
	struct lbx_py_found found[LBX_PY_FOUND];
	struct lbx_py_thread thread;
	char text[TEXT];
	bool more;

	(void)state;
	if (n_pythons == 0)
		skip();
	for (int i = 0; i < n_pythons; i++) {
		start(pythons[i], script);
		struct lbx_python *py = open_python(process.target);
		assert_non_null(py);
		assert_true(lbx_py_thread(py, 0, &thread));
		assert_int_equal(lbx_py_exceptions(py, &thread, exceptions, &more), 0);
		assert_int_equal(lbx_py_evaluate(py, &anything, "kept", NULL, found), 1);
		patch.address = thread.address + py->layout.raised;
		patch.word = found[0].object;
		lbx_python_use(py, &patch.target);
		lbx_python_refresh(py);
		assert_int_equal(lbx_py_exceptions(py, &thread, exceptions, &more), 1);
		told(&exceptions[0], text);
		assert_string_equal(text, "raised ValueError: on its way in :0");
		/* no exception at all */
		patch.word = py->type_type;
		lbx_python_refresh(py);
		assert_int_equal(lbx_py_exceptions(py, &thread, exceptions, &more), 0);
		lbx_python_close(py);
		stop();
	}
}

/* Each names the next as its cause; the last one the first. */
static void a_ring_of_exceptions_is_told_once(void **state)
{
	static const char script[] = "many = [ValueError(str(i)) for i in range(n)]\n"
				     "for e, cause in zip(many, many[1:] + many[:1]): e.__cause__ = cause\n"
				     "try: raise many[0]\n"
				     "except ValueError:\n"
				     "    print('ready', flush=True)\n"
				     "    sys.stdin.read()\n";
	struct lbx_py_exception exceptions[LBX_PY_EXCEPTIONS];
	struct lbx_py_thread thread;
	bool more;

	(void)state;
	if (n_pythons == 0)
		skip();
	for (int n = LBX_PY_EXCEPTIONS; n <= LBX_PY_EXCEPTIONS + 1; n++) {
		char whole[TEXT];
		snprintf(whole, sizeof whole, "import sys\nn = %d\n%s", n, script);
		start(pythons[0], whole);
		struct lbx_python *py = open_python(process.target);
		assert_non_null(py);
		assert_true(lbx_py_thread(py, 0, &thread));
		assert_int_equal(lbx_py_exceptions(py, &thread, exceptions, &more), LBX_PY_EXCEPTIONS);
		assert_int_equal(more, n > LBX_PY_EXCEPTIONS);
		assert_string_equal(exceptions[LBX_PY_EXCEPTIONS - 1].message, "7");
		lbx_python_close(py);
		stop();
	}
}

/* As the runtime tells it from 3.13 on, in the third word of its offsets. */
static void a_free_threaded_build_is_refused(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_patched };
	struct patch patch = { .target = { .ops = &ops }, .word = 1 };
	int n_told = 0;

	(void)state;
	for (int i = 0; i < n_pythons; i++) {
		start(pythons[i], "import sys\nprint('ready', flush=True)\nsys.stdin.read()\n");
		struct lbx_python *py = open_python(process.target);
		uint64_t version;
		assert_non_null(py);
		if (lbx_py_layout_is_told(process.target, py->runtime, &version)) {
			patch.address = py->runtime + 2 * sizeof patch.word;
			assert_null(open_python(&patch.target));
			assert_non_null(strstr(lb_error_message(), "it is a free-threaded build of Python 3.1"));
			lb_clear_error();
			n_told++;
		}
		lbx_python_close(py);
		stop();
	}
	if (n_told == 0)
		skip();
}

static bool one_in_64(void *context, uint64_t object)
{
	(void)context;
	return lb_mix(object) % 64 == 0;
}

/* Whatever is read, it ends, and what is found has a path. */
static void survive(struct lbx_python *py)
{
	const struct lbx_py_rules rules = { .is_wanted = one_in_64, .elided = { "name", "__dict__", "_target" } };
	struct lbx_py_found found[LBX_PY_FOUND];
	struct lbx_py_thread thread;
	struct lbx_py_walk walk;
	char text[TEXT], path[LBX_PY_PATH];
	struct lbx_py_exception exceptions[LBX_PY_EXCEPTIONS];
	bool more;

	for (int i = 0; lbx_py_thread(py, i, &thread); i++) {
		describe(py, &thread, text);
		assert_in_range(lbx_py_exceptions(py, &thread, exceptions, &more), 0, LBX_PY_EXCEPTIONS);
	}
	lbx_py_evaluate(py, &rules, "ring[1][1][0]['again']['end']", NULL, found);
	assert_true(lbx_py_walk_start(py, &rules, &walk));
	for (size_t i = 0; i < walk.n; i += 1 + walk.n / 2000)
		if (lbx_py_path(&walk, (uint32_t)i, path))
			assert_true(path[0] != '\0');
	lbx_py_walk_end(&walk);
	assert_true(lb_ok());
}

/* Variables of a module by keys that are a function's own, and what there is instead of a key. */
static void keys_are_the_functions_own(void **state)
{
	static const char script[] =
	    "import collections, sys\n"
	    "class Net: pass\n"
	    "net, net.parts, net.more = Net(), {'fc': 1}, {'0': 2}\n"
	    "layers, table = ['a', 'b', 'c'], {'w': 'ww', 7: 'seven', 'it\\'s': 'its', (1,): 'pair'}\n"
	    "long = {f'encoder.layers.{i}.weight': i for i in range(99)}\n"
	    "empty, user = {}, collections.UserDict(x=1)\n"
	    "i = 0\n"
	    "def inner():\n"
	    "    i, name = 2, 'w'\n"
	    "    print('ready', flush=True)\n"
	    "    sys.stdin.read()\n"
	    "inner()\n";
	static const char *const values[][2] = { { "layers[i]", "c" },
						 { "table[name]", "ww" },
						 { "layers[-1]", "c" },
						 { "i", "2" },
						 { "net.parts[name]", "nothing" } };
	static const char *const reasons[][2] = {
		{ "layers[3]", "layers has no element 3: there are 3" },
		{ "layers[-4].x", "layers has no element -4: there are 3" },
		{ "layers['w']", "layers has nothing under 'w': its elements have numbers" },
		{ "table['x'][0]", "table has nothing under 'x': it has 'w', 7, \"it's\"" },
		{ "table[8]", "table has nothing under 8: it has 'w', 7, \"it's\"" },
		{ "table[i]", "table has nothing under 2: it has 'w', 7, \"it's\"" },
		{ "net[name]", "net has nothing under 'w': it has 'fc', '0'" },
		{ "net[5]", "net has nothing under 5: it has fc, 0" },
		{ "net . parts", "" },
		{ "empty['x']", "empty has nothing under 'x': it is empty" },
		{ "user['y']", "user has nothing under 'y': it has 'x'" },
		{ "long['x']",
		  "long has nothing under 'x': it has 'encoder.layers.0.weight', 'encoder.layers.1.weight', "
		  "'encoder.layers.2.weight', …" },
		{ "table['w']", "" },
		{ "table[nope]", "" },
		{ "table[layers]", "" },
		{ "nope['x']", "" },
		{ "i['x']", "" },
		{ "layers[1:2]", "" },
	};
	struct lbx_py_rules rules = { .is_wanted = is_text, .elided = { "parts", "more" } };
	char text[TEXT];

	(void)state;
	if (n_pythons == 0)
		skip();
	for (int k = 0; k < n_pythons; k++) {
		start(pythons[k], script);
		struct lbx_python *py = open_python(process.target);
		assert_non_null(py);
		rules.context = py;
		for (size_t i = 0; i < sizeof values / sizeof *values; i++)
			assert_string_equal(value(py, values[i][0], text), values[i][1]);
		for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
			bool is = lbx_py_why_not(py, &rules, reasons[i][0], NULL, text, sizeof text);
			assert_string_equal(is ? text : "", reasons[i][1]);
			/* with less room it says nothing */
			if (is)
				assert_false(lbx_py_why_not(py, &rules, reasons[i][0], NULL, text, 64));
		}
		lbx_python_close(py);
		stop();
	}
}

static void lies_are_survived(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_lies };
	struct liar liar = { .target = { .ops = &ops } };
	int n_opened = 0;

	(void)state;
	if (n_pythons == 0)
		skip();
	for (int i = 0; i < n_pythons; i++) {
		start(pythons[i], program);
		for (int run = 0; run < RUNS; run++) {
			struct lbx_python *py = open_python(process.target);
			liar.seed = lb_mix((uint64_t)run + 1);
			liar.rate = run % 3 == 0 ? 20 : run % 3 == 1 ? 300 : 5000;
			liar.n = 0;
			assert_non_null(py);
			lbx_python_refresh(py);
			lbx_python_use(py, &liar.target);
			survive(py);
			lbx_python_close(py);
			assert_true(liar.n > 0);
			/* found among lies, or refused with a sentence */
			py = open_python(&liar.target);
			n_opened += py != NULL;
			assert_true(py || !lb_ok() || process.n_modules > 0);
			lbx_python_close(py);
			lb_clear_error();
		}
		stop();
	}
	assert_true(n_opened > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_python),
					    cmocka_unit_test(a_line_that_is_not_known_is_left_out),
					    cmocka_unit_test(the_large_does_not_hide_the_small),
					    cmocka_unit_test(a_full_table_of_types_is_of_use),
					    cmocka_unit_test(members_of_instances),
					    cmocka_unit_test(a_ring_of_threads_ends),
					    cmocka_unit_test(a_ring_of_frames_ends),
					    cmocka_unit_test(what_is_read_has_a_limit),
					    cmocka_unit_test(what_was_met_stays),
					    cmocka_unit_test(a_frame_of_c_has_functions_behind_it),
					    cmocka_unit_test(own_variables_come_first),
					    cmocka_unit_test(keys_are_the_functions_own),
					    cmocka_unit_test(exceptions_are_as_python_prints_them),
					    cmocka_unit_test(an_exception_on_its_way_is_told),
					    cmocka_unit_test(a_ring_of_exceptions_is_told_once),
					    cmocka_unit_test(a_free_threaded_build_is_refused),
					    cmocka_unit_test(lies_are_survived) };

	find_pythons();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
