/* The parts of the server of sessions that need no gdb: lines of MI, who may ask, the table of routes with its
 * descriptions, tools for agents, traces. tests/serve/run has whole sessions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "lazybones.h"
#include "serve/access.h"
#include "serve/feed.h"
#include "serve/known.h"
#include "serve/mcp.h"
#include "serve/mi.h"
#include "serve/openapi.h"
#include "serve/place.h"
#include "serve/reads_on.h"
#include "serve/route.h"
#include "serve/sessions.h"
#include "record/trace.h"

/* ---- MI ---- */

static struct lbx_mi_line parsed(const char *text)
{
	struct lbx_mi_line line;

	assert_true(lbx_mi_parse(text, strlen(text), &line));
	return line;
}

/* The results as compact JSON. */
static void says(const char *text, enum lbx_mi_kind kind, long token, const char *class, const char *json)
{
	struct lbx_mi_line line = parsed(text);
	char *told = json_dumps(line.results, JSON_COMPACT);

	assert_int_equal(line.kind, kind);
	assert_int_equal(line.token, token);
	assert_string_equal(line.class, class);
	assert_string_equal(told, json);
	free(told);
	lbx_mi_release(&line);
}

static void test_mi_records(void **state)
{
	(void)state;
	says("12^done", LBX_MI_RESULT, 12, "done", "{}");
	says("^error,msg=\"No symbol \\\"x\\\" in current context.\"", LBX_MI_RESULT, -1, "error",
	     "{\"msg\":\"No symbol \\\"x\\\" in current context.\"}");
	says(
	    "*stopped,reason=\"breakpoint-hit\",bkptno=\"1\",frame={level=\"0\",args=[{name=\"x\",value=\"1\"}]}",
	    LBX_MI_EXEC, -1, "stopped",
	    "{\"reason\":\"breakpoint-hit\",\"bkptno\":\"1\",\"frame\":{\"level\":\"0\",\"args\":[{\"name\":\"x\",\"value\":\"1\"}]}}");
	/* a list of pairs keeps the values; a tuple of values is a list */
	says("7^done,stack=[frame={level=\"0\"},frame={level=\"1\"}]", LBX_MI_RESULT, 7, "done",
	     "{\"stack\":[{\"level\":\"0\"},{\"level\":\"1\"}]}");
	says("=breakpoint-modified,bkpt={script={\"silent\",\"continue\"},empty={},none=[]}", LBX_MI_NOTICE, -1,
	     "breakpoint-modified", "{\"bkpt\":{\"script\":[\"silent\",\"continue\"],\"empty\":{},\"none\":[]}}");
}

static void test_mi_streams(void **state)
{
	struct lbx_mi_line line = parsed("~\"a\\tb\\n\\303\\244 \\\\ \\\"q\\\"\\n\"");

	(void)state;
	assert_int_equal(line.kind, LBX_MI_CONSOLE);
	assert_string_equal(line.text, "a\tb\n\303\244 \\ \"q\"\n");
	assert_int_equal(line.n, strlen(line.text));
	lbx_mi_release(&line);
	line = parsed("(gdb) ");
	assert_int_equal(line.kind, LBX_MI_PROMPT);
	lbx_mi_release(&line);
	line = parsed("BFD: error: something else");
	assert_int_equal(line.kind, LBX_MI_OTHER);
	assert_string_equal(line.text, "BFD: error: something else");
	lbx_mi_release(&line);
}

/* Whatever is cut or too deep is taken as far as it goes. */
static void test_mi_damaged(void **state)
{
	static const char whole[] = "3*stopped,a={b=[\"c\",{d=\"e\\\"f\"}]},g=\"h\"";
	struct lbx_mi_line line;
	char deep[512];

	(void)state;
	for (size_t n = 0; n <= strlen(whole); n++) {
		assert_true(lbx_mi_parse(whole, n, &line));
		lbx_mi_release(&line);
	}
	memset(deep, '[', sizeof deep - 1);
	memcpy(deep, "^done,x=", 8);
	deep[sizeof deep - 1] = '\0';
	says(deep, LBX_MI_RESULT, -1, "done", "{}");
	/* bytes that are no UTF-8 */
	says("^done,value=\"\\377x\"", LBX_MI_RESULT, -1, "done", "{\"value\":\"\xef\xbf\xbdx\"}");
}

static void test_own_frame(void **state)
{
	char file[] = __FILE__, *text = NULL;
	json_t *frames;

	(void)state;
	frames = json_pack("[{s:s, s:s, s:s}, {s:s, s:s, s:s}, {s:s, s:s, s:s}, {s:s, s:s, s:s}]", "level", "0", "func",
			   "lb_eval_n", "fullname", file, "level", "1", "func", "std::function<void ()>::operator()",
			   "fullname", file, "level", "2", "func", "run", "fullname", "/nonexistent/run.c", "level",
			   "3", "func", "train", "fullname", file);
	struct lbx_libraries libraries = { 0 };
	assert_int_equal(lbx_own_level(frames, &libraries), 3);
	json_t *loaded = json_pack("{s:s, s:[{s:s, s:s}]}", "target-name", "/usr/lib/liblazybones.so.0", "ranges",
				   "from", "0x1000", "to", "0x2000"),
	       *own = json_pack("{s:s, s:[{s:s, s:s}]}", "target-name", "/home/me/libtrain.so", "ranges", "from",
				"0x3000", "to", "0x4000");
	lbx_libraries_take(&libraries, loaded, true);
	lbx_libraries_take(&libraries, own, true);
	json_object_set_new(json_array_get(frames, 3), "addr", json_string("0x1fff"));
	assert_int_equal(lbx_own_level(frames, &libraries), 0); /* none is the program's own */
	json_object_set_new(json_array_get(frames, 3), "addr", json_string("0x3000"));
	assert_int_equal(lbx_own_level(frames, &libraries), 3);
	json_object_set_new(json_array_get(frames, 3), "addr", json_string("0x2000"));
	assert_int_equal(lbx_own_level(frames, &libraries), 3); /* behind its end */
	json_object_set_new(json_array_get(frames, 3), "addr", json_string("0x1000"));
	lbx_libraries_take(&libraries, loaded, false);
	assert_int_equal(lbx_own_level(frames, &libraries), 3);
	lbx_libraries_clear(&libraries);
	json_decref(loaded);
	json_decref(own);
	json_t *place = lbx_place_of(json_array_get(frames, 3));
	assert_int_equal(json_integer_value(json_object_get(place, "level")), 3);
	text = json_dumps(json_object_get(place, "line"), JSON_ENCODE_ANY);
	assert_string_equal(text, "null");
	free(text);
	json_decref(place);
	json_decref(frames);
}

/* ---- what gdb cannot be asked ---- */

static void test_reads_on(void **state)
{
	static const char *const reads[] = { "define foo",
					     "def foo",
					     "  document foo",
					     "\tcommands 1",
					     "comm",
					     "while 1",
					     "if(1)",
					     "py",
					     "python  ",
					     "python-i",
					     "pi",
					     "gu",
					     "compile",
					     "compile code",
					     "compile pr ",
					     "expression",
					     "shell",
					     "she",
					     "!",
					     " ! ",
					     "edit 3",
					     "e" };
	static const char *const not[] = { "define-prefix foo",
					   "do",
					   "d",
					   "com",
					   "py print(1)",
					   "python-interactive 1+1",
					   "pi 1",
					   "compile code 1+1",
					   "compile file x.c",
					   "shell ls",
					   "!ls",
					   "c",
					   "p 1",
					   "w x",
					   "wh",
					   "info line",
					   "",
					   "tensor list",
					   "compare-sections",
					   "exit",
					   "echo x" };

	(void)state;
	for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
		assert_non_null(lbx_reads_on(reads[i]));
	for (size_t i = 0; i < sizeof not / sizeof *not; i++)
		assert_null(lbx_reads_on(not[i]));
}

/* ---- who may ask ---- */

static int check(const struct lbx_access *access, const char *host, const char *origin, const char *authorization,
		 bool page)
{
	const struct lbx_access_request request = { host, origin, authorization, page };
	const char *why = NULL;
	int status = lbx_access_check(access, &request, &why);

	assert_int_equal(status != 0, why != NULL);
	return status;
}

static void test_access(void **state)
{
	struct lbx_access local = { .token = "secret", .address = "127.0.0.1", .port = 8000 },
			  all = { .token = "secret", .address = "0.0.0.0", .port = 8000 },
			  open = { .address = "127.0.0.1", .port = 8000 };

	(void)state;
	assert_int_equal(check(&local, "localhost:8000", NULL, "Bearer secret", false), 0);
	assert_int_equal(check(&local, "127.0.0.1:8000", "http://127.0.0.1:8000", "bearer secret", false), 0);
	assert_int_equal(check(&local, "[::1]:8000", NULL, "Bearer secret", false), 0);
	assert_int_equal(check(&local, "localhost:8000", NULL, NULL, true), 0); /* the page is no secret */
	assert_int_equal(check(&local, "localhost:8000", NULL, NULL, false), 401);
	assert_int_equal(check(&local, "localhost:8000", NULL, "Bearer secreT", false), 401);
	assert_int_equal(check(&local, "localhost:8000", NULL, "Bearer secret2", false), 401);
	assert_int_equal(check(&local, "localhost:8000", NULL, "Basic secret", false), 401);
	/* names that a stranger's DNS binds to this machine, and other ports */
	assert_int_equal(check(&local, "evil.example:8000", NULL, "Bearer secret", true), 403);
	assert_int_equal(check(&local, "127.0.0.1.evil.example:8000", NULL, "Bearer secret", false), 403);
	assert_int_equal(check(&local, "localhost:80", NULL, "Bearer secret", false), 403);
	assert_int_equal(check(&local, "localhost", NULL, "Bearer secret", false), 403);
	assert_int_equal(check(&local, NULL, NULL, "Bearer secret", false), 403);
	assert_int_equal(check(&local, "", NULL, "Bearer secret", false), 403);
	/* pages of other sites in the user's browser */
	assert_int_equal(check(&open, "localhost:8000", "http://evil.example", NULL, false), 403);
	assert_int_equal(check(&open, "localhost:8000", "null", NULL, false), 403);
	assert_int_equal(check(&open, "localhost:8000", "https://localhost:8000", NULL, false), 403);
	assert_int_equal(check(&open, "localhost:8000", "http://localhost:8001", NULL, false), 403);
	assert_int_equal(check(&open, "localhost:8000", NULL, NULL, false), 0);
	/* where it listens to all, any address of the machine's, but no name */
	assert_int_equal(check(&all, "192.0.2.7:8000", NULL, "Bearer secret", false), 0);
	assert_int_equal(check(&all, "evil.example:8000", NULL, "Bearer secret", false), 403);
	assert_int_equal(check(&all, "cafe:8000", NULL, "Bearer secret", false), 403);
}

static void test_token(void **state)
{
	char a[LBX_TOKEN_MAX], b[LBX_TOKEN_MAX];

	(void)state;
	assert_true(lbx_access_make_token(a) && lbx_access_make_token(b));
	assert_int_equal(strlen(a), 2 * LBX_TOKEN_BYTES);
	assert_string_not_equal(a, b);
	assert_true(lbx_access_is_local("127.0.0.1") && lbx_access_is_local("::1"));
	assert_false(lbx_access_is_local("0.0.0.0") || lbx_access_is_local("192.0.2.7"));
}

/* ---- routes ---- */

/* No session can start. */
static struct lbx_sessions *no_sessions(void)
{
	const struct lbx_sessions_limits limits = { .most = 0 };

	return lbx_sessions_create(&limits);
}

static void refuses(struct lbx_sessions *sessions, const char *method, const char *path, const char *body, int status,
		    const char *why)
{
	json_t *params = json_loads(body, 0, NULL);
	struct lbx_reply reply;

	lbx_dispatch(sessions, method, path, params, &reply);
	json_t *told = json_loadb(reply.bytes, reply.n, 0, NULL);
	if (reply.status != status || !strstr(json_string_value(json_object_get(told, "error")), why))
		fail_msg("%s %s %s: %d %.*s", method, path, body, reply.status, (int)reply.n, reply.bytes);
	assert_true(json_is_false(json_object_get(told, "success")));
	json_decref(told);
	json_decref(params);
	free(reply.bytes);
}

static void test_refusals(void **state)
{
	struct lbx_sessions *sessions = no_sessions();

	(void)state;
	refuses(sessions, "GET", "/nothing", "{}", 404, "no GET to /nothing");
	refuses(sessions, "GET", "/debug/start", "{}", 405, "takes no GET");
	refuses(sessions, "DELETE", "/tensors/a%2Fb", "{}", 405, "takes no DELETE");
	refuses(sessions, "POST", "/debug/start", "{}", 400, "program, core or pid is needed");
	refuses(sessions, "POST", "/debug/start", "{\"program\":\"/bin/true\"}", 503, "as many as may be");
	refuses(sessions, "POST", "/debug/start", "{\"program\":\"/nonexistent\"}", 400, "No such file");
	refuses(sessions, "POST", "/debug/start", "{\"program\":\"/\"}", 400, "is no file");
	refuses(sessions, "POST", "/debug/start", "{\"program\":\"/etc/passwd\"}", 400, "is no program");
	refuses(sessions, "POST", "/debug/start", "{\"core\":\"/etc/passwd\"}", 400, "is no core file");
	refuses(sessions, "POST", "/debug/start", "{\"pid\":1,\"program\":\"/bin/true\"}", 400, "pid stands alone");
	refuses(sessions, "POST", "/debug/start", "{\"program\":5}", 400, "'program' must be of type string");
	refuses(sessions, "POST", "/debug/start", "{\"args\":[1],\"program\":\"/bin/true\"}", 400, "of strings");
	refuses(sessions, "POST", "/debug/start", "{\"prgram\":\"/bin/true\"}", 400, "no parameter 'prgram'");
	refuses(sessions, "POST", "/debug/evaluate", "{}", 400, "'expression' is needed");
	refuses(sessions, "POST", "/debug/evaluate", "{\"expression\":\"x\"}", 404, "there is no session");
	refuses(sessions, "GET", "/debug/status", "{\"session\":\"7\"}", 404, "there is no session 7");
	refuses(sessions, "GET", "/debug/status", "{\"session\":\"seven\"}", 400, "type integer");
	refuses(sessions, "GET", "/tensors/x/values", "{\"full\":\"maybe\"}", 400, "type boolean");
	lbx_sessions_destroy(sessions);
}

/* The description has each route, once, and nothing else but the events. */
static void test_openapi(void **state)
{
	char *text = lbx_openapi();
	json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *methods, *operation;
	const char *path, *method;
	size_t routes = 0, described = 0;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(all, "openapi")), "3.1.0");
	for (const struct lbx_route *const *r = lbx_routes; *r; r++, routes++) {
		methods = json_object_get(json_object_get(all, "paths"), (*r)->path);
		operation = json_object_get(methods, strcmp((*r)->method, "GET") == 0 ? "get" : "post");
		assert_string_equal(json_string_value(json_object_get(operation, "summary")), (*r)->summary);
		assert_non_null(json_object_get(json_object_get(operation, "responses"), "200"));
	}
	json_object_foreach(json_object_get(all, "paths"), path, methods)
	    json_object_foreach(methods, method, operation) described++;
	assert_int_equal(described, routes + 1);
	json_decref(all);
	free(text);
}

/* Each path's parameters are listed, each name is used once, each tool's name, too. */
static void test_table(void **state)
{
	(void)state;
	for (const struct lbx_route *const *r = lbx_routes; *r; r++) {
		json_t *schema = lbx_route_schema(*r), *properties = json_object_get(schema, "properties");
		const char *open = strchr((*r)->path, '{');
		assert_true((*r)->run && (*r)->summary && (*r)->path[0] == '/');
		if (open) {
			char name[64];
			snprintf(name, sizeof name, "%.*s", (int)strcspn(open + 1, "}"), open + 1);
			assert_non_null(json_object_get(properties, name));
		}
		for (const struct lbx_route *const *other = lbx_routes; other < r; other++) {
			assert_false(strcmp((*other)->path, (*r)->path) == 0 &&
				     strcmp((*other)->method, (*r)->method) == 0);
			assert_false((*other)->tool && (*r)->tool && strcmp((*other)->tool, (*r)->tool) == 0);
		}
		json_decref(schema);
	}
}

/* ---- tools for agents ---- */

/* What stands at that place of the answer, as text. */
static void agent(struct lbx_sessions *sessions, const char *line, const char *expected)
{
	char *answer = lbx_mcp_answer(sessions, line, strlen(line));

	if (!expected)
		assert_null(answer);
	else if (!answer || !strstr(answer, expected) || strchr(answer, '\n'))
		fail_msg("%s\n%s", line, answer ? answer : "(none)");
	free(answer);
}

static void test_mcp(void **state)
{
	struct lbx_sessions *sessions = no_sessions();

	(void)state;
	agent(
	    sessions,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-03-26\"}}",
	    "\"protocolVersion\":\"2025-03-26\"");
	agent(
	    sessions,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"1999-01-01\"}}",
	    "\"protocolVersion\":\"2025-06-18\"");
	agent(sessions, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", NULL);
	agent(sessions, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}", "\"id\":\"a\",\"result\":{}");
	agent(sessions, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}", "\"name\":\"set_breakpoint\"");
	agent(sessions, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"status\"}}",
	      "\"isError\":true");
	agent(
	    sessions,
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"tensor\",\"arguments\":{}}}",
	    "'id' is needed");
	agent(
	    sessions,
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"tensor\",\"arguments\":{\"id\":\"a/b?c\"}}}",
	    "there is no session");
	agent(sessions, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}",
	      "-32602");
	agent(sessions, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/list\"}", "-32601");
	agent(sessions, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600");
	agent(sessions, "{\"id\":3,\"method\":\"ping\"}", "-32600");
	agent(sessions, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}", NULL);
	agent(sessions, "[1]", "-32600");
	agent(sessions, "{", "-32700");
	lbx_sessions_destroy(sessions);
}

/* ---- traces ---- */

static char folder[] = "/tmp/lazybones-test-serve-XXXXXX";

static json_t *load(const char *path)
{
	json_t *told = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(told);
	return told;
}

static void test_trace(void **state)
{
	struct lbx_trace *trace;
	char path[256], journal[300];

	(void)state;
	assert_true(lbx_trace_open(folder, "train", json_pack("{s:{s:i}}", "session", "id", 1), &trace));
	snprintf(path, sizeof path, "%s", lbx_trace_path(trace));
	snprintf(journal, sizeof journal, "%sl", path);
	for (int i = 0; i < 3000; i++)
		assert_true(lbx_trace_add(trace, json_pack("{s:s, s:i}", "kind", "test", "i", i)));
	/* whatever is killed now, the journal has it */
	FILE *file = fopen(journal, "r");
	char line[512];
	int lines = 0;
	while (fgets(line, sizeof line, file)) {
		json_t *record = json_loads(line, 0, NULL);
		assert_non_null(record);
		json_decref(record);
		lines++;
	}
	fclose(file);
	assert_int_equal(lines, 3001);
	lbx_trace_end(trace);
	assert_false(lbx_trace_add(trace, json_object()));
	lb_clear_error();
	lbx_trace_destroy(trace);
	json_t *told = load(path), *records = json_object_get(told, "records");
	assert_int_equal(json_array_size(records), 3000);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(records, 2999), "n")), 3000);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(told, "session"), "id")), 1);
	json_decref(told);
	assert_int_not_equal(access(journal, F_OK), 0);
	struct stat about;
	assert_int_equal(stat(path, &about), 0);
	assert_int_equal(about.st_mode & 077, 0); /* nobody else reads it */
}

/* What a server that was killed has left becomes whole; a line that it did not end is dropped. */
static void test_mend(void **state)
{
	char journal[256], path[256];
	int mended;

	(void)state;
	snprintf(path, sizeof path, "%s/killed_20260102_030405.json", folder);
	snprintf(journal, sizeof journal, "%sl", path);
	FILE *file = fopen(journal, "w");
	fputs("{\"session\":{\"id\":3}}\n{\"n\":1}\n{\"n\":2}\n{\"n\":3,\"cut", file);
	fclose(file);
	assert_true(lbx_traces_mend(folder, &mended));
	assert_int_equal(mended, 1);
	json_t *told = load(path);
	assert_int_equal(json_array_size(json_object_get(told, "records")), 2);
	json_decref(told);
	assert_int_not_equal(access(journal, F_OK), 0);
	/* one that has only begun */
	file = fopen(journal, "w");
	fputs("{\"session\":{\"id\":3}}\n", file);
	fclose(file);
	assert_true(lbx_traces_mend(folder, &mended));
	told = load(path);
	assert_int_equal(json_array_size(json_object_get(told, "records")), 0);
	json_decref(told);
	assert_true(lbx_traces_mend("/nonexistent/folder", &mended) && mended == 0);
}

static void test_clean(void **state)
{
	char other[256];
	int removed;

	(void)state;
	snprintf(other, sizeof other, "%s/results_20260102_030405.json", folder);
	FILE *file = fopen(other, "w");
	fputs("{\"loss\":1}", file); /* somebody's own */
	fclose(file);
	assert_true(lbx_traces_clean(folder, 1, -1, &removed));
	assert_int_equal(removed, 1);
	assert_int_equal(access(other, F_OK), 0);
	assert_true(lbx_traces_clean(folder, -1, 3600, &removed));
	assert_int_equal(removed, 0);
	assert_true(lbx_traces_clean(folder, 0, -1, &removed));
	assert_int_equal(removed, 1);
	unlink(other);
}

/* ---- events ---- */

static void test_feed(void **state)
{
	struct lbx_feed *feed = lbx_feed_create();
	struct lbx_feed_event event;
	uint64_t lost;

	(void)state;
	assert_false(lbx_feed_next(feed, 0, 0.01, &event, &lost));
	for (int i = 1; i <= 3; i++)
		lbx_feed_tell(feed, "stopped", json_pack("{s:i}", "i", i));
	assert_true(lbx_feed_next(feed, 1, 0, &event, &lost));
	assert_int_equal(event.number, 2);
	assert_string_equal(event.type, "stopped");
	assert_string_equal(event.data, "{\"i\":2}");
	free(event.data);
	/* who was away too long is told how much was lost */
	for (int i = 4; i <= 2000; i++)
		lbx_feed_tell(feed, "output", json_pack("{s:i}", "i", i));
	assert_true(lbx_feed_next(feed, 3, 0, &event, &lost));
	assert_int_equal(event.number, 3 + lost + 1);
	assert_true(lost > 0 && lost < 2000);
	free(event.data);
	/* a number of another session */
	assert_false(lbx_feed_next(feed, 99999, 0, &event, &lost));
	lbx_feed_end(feed);
	assert_true(lbx_feed_have_ended(feed));
	assert_false(lbx_feed_next(feed, 2000, 60, &event, &lost));
	lbx_feed_destroy(feed);
}

static void knows(const char *line, const char *expected)
{
	json_t *tensors = json_pack("[{s:s, s:s, s:s}, {s:s, s:s, s:s}, {s:s, s:s}, {s:s, s:s, s:s}]", "variable",
				    "next", "type", "struct lb_tensor *", "record", "0x5581", "variable", "w", "type",
				    "nn::T *", "record", "0x90", "variable", "shadowed", "record", "0x91", "variable",
				    "odd", "type", "T<int, 3> *", "record", "0x92");
	char *told = lbx_known_line(tensors, line);

	assert_string_equal(told, expected);
	free(told);
	json_decref(tensors);
}

static void test_known(void **state)
{
	(void)state;
	knows("info next", "*next=0x5581=struct+lb_tensor+* info next");
	knows("print abs(next[0]-w.T)", "*next=0x5581=struct+lb_tensor+* *w=0x90=nn::T+* print abs(next[0]-w.T)");
	knows("info next2 the_next ww", "info next2 the_next ww");
	/* which of the two is not known; a type that is no one word */
	knows("info shadowed odd", "info shadowed odd");
	/* the plugin takes only so many words */
	knows("list a b c d e f g h i j k next", "list a b c d e f g h i j k next");
	char *plain = lbx_known_line(NULL, "info next");
	assert_string_equal(plain, "info next");
	free(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mi_records), cmocka_unit_test(test_mi_streams), cmocka_unit_test(test_mi_damaged),
		cmocka_unit_test(test_own_frame),  cmocka_unit_test(test_reads_on),   cmocka_unit_test(test_access),
		cmocka_unit_test(test_token),      cmocka_unit_test(test_refusals),   cmocka_unit_test(test_openapi),
		cmocka_unit_test(test_table),      cmocka_unit_test(test_mcp),        cmocka_unit_test(test_trace),
		cmocka_unit_test(test_mend),       cmocka_unit_test(test_clean),      cmocka_unit_test(test_feed),
		cmocka_unit_test(test_known),
	};

	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
