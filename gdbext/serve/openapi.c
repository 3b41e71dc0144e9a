#include "serve/openapi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lazybones.h"

static json_t *type_of(const struct lbx_param *param)
{
	json_t *ret = json_pack("{s:s, s:s}", "type", lbx_param_type_name(param->type), "description", param->help);

	if (param->type == LBX_TENSOR)
		json_object_set_new(ret, "type", json_pack("[s, s]", "string", "integer"));
	if (param->type == LBX_LIST)
		json_object_set_new(ret, "items", json_pack("{s:s}", "type", "string"));
	if (param->type == LBX_PAIRS)
		json_object_set_new(ret, "additionalProperties", json_pack("{s:s}", "type", "string"));
	return ret;
}

json_t *lbx_route_schema(const struct lbx_route *route)
{
	json_t *properties = json_object(), *required = json_array();

	for (const struct lbx_param *p = route->params; p < route->params + LBX_PARAMS_MAX && p->name; p++) {
		json_object_set_new(properties, p->name, type_of(p));
		if (p->is_needed)
			json_array_append_new(required, json_string(p->name));
	}
	if (route->needs != LBX_OF_SERVER)
		json_object_set_new(properties, lbx_session_param.name, type_of(&lbx_session_param));
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required", required,
			 "additionalProperties", false);
}

static bool is_in_path(const struct lbx_route *route, const char *name)
{
	char braced[64];

	snprintf(braced, sizeof braced, "{%s}", name);
	return strstr(route->path, braced);
}

static void add_parameter(json_t *parameters, const struct lbx_route *route, const struct lbx_param *param)
{
	bool in_path = is_in_path(route, param->name);
	json_t *schema = type_of(param);

	json_object_del(schema, "description");
	json_array_append_new(parameters, json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", param->name, "in",
						    in_path ? "path" : "query", "required", in_path || param->is_needed,
						    "description", param->help, "schema", schema));
}

/* Those of a query; what a body has is its schema. */
static json_t *parameters_of(const struct lbx_route *route)
{
	json_t *ret = json_array();

	for (const struct lbx_param *p = route->params; p < route->params + LBX_PARAMS_MAX && p->name; p++)
		add_parameter(ret, route, p);
	if (route->needs != LBX_OF_SERVER)
		add_parameter(ret, route, &lbx_session_param);
	return ret;
}

static json_t *reference(const char *to)
{
	return json_pack("{s:s, s:{s:{s:{s:s}}}}", "description",
			 strcmp(to, "Failure") == 0 ? "what was wrong" : "the answer", "content", "application/json",
			 "schema", "$ref",
			 strcmp(to, "Failure") == 0 ? "#/components/schemas/Failure" : "#/components/schemas/Success");
}

static json_t *success_of(const struct lbx_route *route)
{
	if (!route->type)
		return reference("Success");
	return json_pack("{s:s, s:{s:{s:{s:s, s:s}}}}", "description", route->summary, "content", route->type, "schema",
			 "type", "string", "format", "binary");
}

static json_t *operation_of(const struct lbx_route *route)
{
	char id[128];
	size_t n = 0;
	const char *after = route->path + 1;

	for (; *after && n < sizeof id - 1; after++)
		if (!strchr("{}", *after))
			id[n++] = strchr("/.", *after) ? '_' : *after;
	id[n] = '\0';
	json_t *ret = json_pack("{s:s, s:s, s:s*, s:{s:o, s:o}}", "operationId", route->tool ? route->tool : id,
				"summary", route->summary, "description", route->help, "responses", "200",
				success_of(route), "default", reference("Failure"));
	if (strcmp(route->method, "GET") == 0)
		json_object_set_new(ret, "parameters", parameters_of(route));
	else
		json_object_set_new(ret, "requestBody",
				    json_pack("{s:b, s:{s:{s:o}}}", "required", false, "content", "application/json",
					      "schema", lbx_route_schema(route)));
	return ret;
}

static json_t *paths(void)
{
	json_t *ret = json_object();

	for (const struct lbx_route *const *r = lbx_routes; *r; r++) {
		json_t *path = json_object_get(ret, (*r)->path);
		if (!path) {
			path = json_object();
			json_object_set_new(ret, (*r)->path, path);
		}
		json_object_set_new(path, strcmp((*r)->method, "GET") == 0 ? "get" : "post", operation_of(*r));
	}
	json_object_set_new(
	    ret, "/events",
	    json_pack(
		"{s:{s:s, s:s, s:s, s:[], s:{s:{s:s, s:{s:{s:{s:s}}}}, s:o}}}", "get", "operationId", "events",
		"summary", "server-sent events: stops, output, the program's end", "description",
		"Types: stopped, running, exited, ended, output, breakpoint. Last-Event-ID goes on where one was.",
		"parameters", "responses", "200", "description", "a stream without end", "content", "text/event-stream",
		"schema", "type", "string", "default", reference("Failure")));
	return ret;
}

static json_t *components(void)
{
	json_t *success = json_pack("{s:s, s:{s:{s:b}, s:{}}, s:[s, s]}", "type", "object", "properties", "success",
				    "const", true, "data", "required", "success", "data");
	json_t *failure = json_pack("{s:s, s:{s:{s:b}, s:{s:s}}, s:[s, s]}", "type", "object", "properties", "success",
				    "const", false, "error", "type", "string", "required", "success", "error");

	return json_pack("{s:{s:o, s:o}, s:{s:{s:s, s:s}}}", "schemas", "Success", success, "Failure", failure,
			 "securitySchemes", "token", "type", "http", "scheme", "bearer");
}

char *lbx_openapi(void)
{
	json_t *about = json_pack("{s:s, s:s, s:s}", "title", "Lazybones", "version", LB_VERSION, "description",
				  "Sessions of gdb for programs with tensors.");
	json_t *all = json_pack("{s:s, s:o, s:o, s:o, s:[{s:[]}]}", "openapi", "3.1.0", "info", about, "paths", paths(),
				"components", components(), "security", "token");
	char *text = all ? json_dumps(all, JSON_INDENT(1) | JSON_PRESERVE_ORDER) : NULL;

	json_decref(all);
	return text;
}
