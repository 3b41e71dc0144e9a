#include "serve/mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/answer.h"
#include "inspect/draw/base64.h"
#include "lazybones.h"
#include "serve/openapi.h"
#include "serve/route.h"

enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600, METHOD_NOT_FOUND = -32601, INVALID_PARAMS = -32602 };

static json_t *failure(const json_t *id, int code, const char *message)
{
	return json_pack("{s:s, s:o, s:{s:i, s:s}}", "jsonrpc", "2.0", "id",
			 id ? json_incref((json_t *)id) : json_null(), "error", "code", code, "message", message);
}

static json_t *result(const json_t *id, json_t *value)
{
	return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", value);
}

/* The revision that the client speaks, if it is known; else the newest that is. */
static json_t *initialized(const json_t *params)
{
	static const char *const known[] = { "2024-11-05", "2025-03-26", "2025-06-18" };
	const char *asked = lbx_mi_string(params, "protocolVersion"), *version = known[2];

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i], asked) == 0)
			version = known[i];
	return json_pack("{s:s, s:{s:{}}, s:{s:s, s:s, s:s}, s:s}", "protocolVersion", version, "capabilities", "tools",
			 "serverInfo", "name", "lazybones", "title", "Lazybones", "version", LB_VERSION, "instructions",
			 "Debugs C and C++ programs with tensors, living ones and cores. Begin with `start`; then set "
			 "breakpoints or catches, `continue_async`, and poll `status` with `wait` until the state is "
			 "\"paused\". `tensors`, `evaluate` and `doctor` look; nothing they do changes the program.");
}

static bool is_tool(const struct lbx_route *route)
{
	return route->tool && (!route->type || strcmp(route->type, "image/png") == 0);
}

static json_t *tool_of(const struct lbx_route *route)
{
	bool reads = strcmp(route->method, "GET") == 0;
	json_t *about = route->help
			    ? json_sprintf("%c%s. %s", route->summary[0] - 'a' + 'A', route->summary + 1, route->help)
			    : json_sprintf("%c%s.", route->summary[0] - 'a' + 'A', route->summary + 1);

	return json_pack("{s:s, s:o, s:o, s:{s:b}}", "name", route->tool, "description", about, "inputSchema",
			 lbx_route_schema(route), "annotations", "readOnlyHint", reads);
}

static json_t *tools(void)
{
	json_t *list = json_array();

	for (const struct lbx_route *const *r = lbx_routes; *r; r++)
		if (is_tool(*r))
			json_array_append_new(list, tool_of(*r));
	return json_pack("{s:o}", "tools", list);
}

static json_t *content_of(const struct lbx_reply *reply)
{
	if (strcmp(reply->type, "image/png") != 0)
		return json_pack("{s:s, s:o}", "type", "text", "text", lbx_mi_text(reply->bytes, reply->n));
	size_t n = LBX_BASE64_SIZE(reply->n);
	lb_auto_free char *text = malloc(n);
	if (text)
		lbx_base64((const unsigned char *)reply->bytes, reply->n, text);
	return json_pack("{s:s, s:s%, s:s}", "type", "image", "data", text ? text : "", text ? n : 0, "mimeType",
			 "image/png");
}

static json_t *call(struct lbx_sessions *sessions, const struct lbx_route *route, const json_t *arguments)
{
	json_t *params = arguments ? json_copy((json_t *)arguments) : json_object();
	lb_auto_free char *path = lbx_route_path(route->path, params);
	struct lbx_reply reply;

	if (!path) {
		json_decref(params);
		return json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text",
				 json_sprintf("'%.*s' is needed", (int)strcspn(strchr(route->path, '{') + 1, "}"),
					      strchr(route->path, '{') + 1),
				 "isError", true);
	}
	lbx_dispatch(sessions, route->method, path, params, &reply);
	json_decref(params);
	json_t *ret = json_pack("{s:[o], s:b}", "content", content_of(&reply), "isError", reply.status >= 400);
	free(reply.bytes);
	return ret;
}

static json_t *call_tool(struct lbx_sessions *sessions, const json_t *id, const json_t *params)
{
	const char *name = lbx_mi_string(params, "name");
	const json_t *arguments = json_object_get(params, "arguments");
	char message[128];

	if (arguments && !json_is_object(arguments))
		return failure(id, INVALID_PARAMS, "arguments is no object");
	for (const struct lbx_route *const *r = lbx_routes; *r; r++)
		if (is_tool(*r) && strcmp((*r)->tool, name) == 0)
			return result(id, call(sessions, *r, arguments));
	snprintf(message, sizeof message, "there is no tool '%.64s'", name);
	return failure(id, INVALID_PARAMS, message);
}

/* NULL: a notification, to which nothing is said. */
static json_t *answer(struct lbx_sessions *sessions, const json_t *message)
{
	const json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
	const char *method = lbx_mi_string(message, "method");
	char text[128];

	if (!*method && (json_object_get(message, "result") || json_object_get(message, "error")))
		return NULL; /* an answer; nothing was asked */
	if (strcmp(lbx_mi_string(message, "jsonrpc"), "2.0") != 0 || !*method)
		return failure(NULL, INVALID_REQUEST, "this is no request of JSON-RPC 2.0");
	if (!id)
		return NULL;
	if (!json_is_string(id) && !json_is_integer(id))
		return failure(NULL, INVALID_REQUEST, "id is neither a string nor a whole number");
	if (strcmp(method, "initialize") == 0)
		return result(id, initialized(params));
	if (strcmp(method, "ping") == 0)
		return result(id, json_object());
	if (strcmp(method, "tools/list") == 0)
		return result(id, tools());
	if (strcmp(method, "tools/call") == 0)
		return call_tool(sessions, id, params);
	snprintf(text, sizeof text, "there is no method '%.64s'", method);
	return failure(id, METHOD_NOT_FOUND, text);
}

char *lbx_mcp_answer(struct lbx_sessions *sessions, const char *line, size_t n)
{
	json_error_t error;
	char why[256] = "";
	json_t *message = json_loadb(line, n, JSON_REJECT_DUPLICATES, &error);
	if (!message)
		snprintf(why, sizeof why, "this is no JSON: %s, in column %d", error.text, error.column);
	json_t *told = message ? answer(sessions, message) : failure(NULL, PARSE_ERROR, why);
	char *text = told ? lbx_json_dumps(told, JSON_COMPACT) : NULL;

	json_decref(message);
	json_decref(told);
	return text;
}
