/* Fuzzes the server of sessions where it takes what others send: requests (method, path, parameters), messages of agents,
 * headers, and the lines that gdb says. No session can start. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/access.h"
#include "serve/mcp.h"
#include "serve/mi.h"
#include "serve/place.h"
#include "serve/route.h"
#include "serve/sessions.h"
#include "stand_alone.h"

static struct lbx_sessions *sessions;

/* The input up to a NUL, or its end; a string of its own. */
static char *take(const uint8_t **data, size_t *size)
{
	size_t n = strnlen((const char *)*data, *size);
	char *ret = strndup((const char *)*data, n);

	if (!ret)
		abort();
	n += n < *size;
	*data += n, *size -= n;
	return ret;
}

static void fuzz_request(const uint8_t *data, size_t size)
{
	static const char *const methods[] = { "GET", "POST", "DELETE" };
	const char *method = methods[size ? data[0] % 3 : 0];
	char *path = take(&data, &size);
	struct lbx_reply reply;
	json_t *params = json_loadb((const char *)data, size, 0, NULL), *told;

	if (!json_is_object(params)) {
		json_decref(params);
		params = json_object();
	}
	/* half of them at a path that is there */
	if (*path && (path[0] & 1)) {
		size_t n = 0;
		while (lbx_routes[n])
			n++;
		const struct lbx_route *route = lbx_routes[(unsigned char)path[0] / 2 % n];
		method = route->method;
		free(path);
		path = strdup(route->path);
	}
	lbx_dispatch(sessions, method, path, params, &reply);
	told = json_loadb(reply.bytes, reply.n, 0, NULL);
	if (!told || (reply.status == 200) != json_is_true(json_object_get(told, "success")))
		abort();
	json_decref(told);
	json_decref(params);
	free(reply.bytes);
	free(path);
}

static void fuzz_access(const uint8_t *data, size_t size)
{
	static const struct lbx_access access = { .token = "0123456789abcdef", .address = "127.0.0.1", .port = 8000 };
	char *host = take(&data, &size), *origin = take(&data, &size), *authorization = take(&data, &size);
	const struct lbx_access_request request = { host, *origin ? origin : NULL, authorization, false };
	const char *why = NULL;
	int status = lbx_access_check(&access, &request, &why);

	/* none but those who know the token, and name this machine */
	if (status == 0 && (!strstr(authorization, access.token) || !strstr(host, ":8000")))
		abort();
	free(host);
	free(origin);
	free(authorization);
}

static void fuzz_mi(const uint8_t *data, size_t size)
{
	struct lbx_libraries libraries = { 0 };
	struct lbx_mi_line line;

	if (lbx_mi_parse((const char *)data, size, &line)) {
		lbx_libraries_take(&libraries, line.results, true);
		lbx_own_level(json_object_get(line.results, "stack"), &libraries);
		lbx_libraries_take(&libraries, line.results, false);
		json_decref(lbx_place_of(line.results));
		lbx_mi_release(&line);
	}
	lbx_libraries_clear(&libraries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct lbx_sessions_limits none = { .most = 0 };

	if (!sessions)
		sessions = lbx_sessions_create(&none);
	if (!sessions || size == 0)
		return 0;
	switch (data[0] % 4) {
	case 0: fuzz_request(data + 1, size - 1); break;
	case 1: free(lbx_mcp_answer(sessions, (const char *)data + 1, size - 1)); break;
	case 2: fuzz_access(data + 1, size - 1); break;
	default: fuzz_mi(data + 1, size - 1);
	}
	return 0;
}

#ifndef LBX_LIBFUZZER
/* One of these, a NUL for each |, with some bytes changed. */
static const char *const seeds[] = {
	"\4POST /x|{\"program\":\"/bin/true\",\"args\":[\"a\"],\"env\":{\"A\":\"b\"},\"session\":1}",
	"\4/tensors/a%2Fb/values|{\"slice\":\"0,:4\",\"full\":\"true\",\"edge\":\"3\"}",
	"\5{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"tensor\",\"arguments\":{\"id\":\"x\"}}}",
	"\5{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}}",
	"\6localhost:8000|http://localhost:8000|Bearer 0123456789abcdef",
	"\6[::1]:8000||bearer 0123456789abcdee",
	"\7^done,stack=[frame={level=\"0\",addr=\"0x1\",func=\"lb_eval\",fullname=\"/etc/passwd\",line=\"3\"}]",
	"\7=library-loaded,id=\"a\",target-name=\"libc.so.6\",ranges=[{from=\"0x1\",to=\"0xffff\"}]",
	"\7~\"a\\303\\244\\n\\\\ \\\"\"",
};

static size_t fuzz_make(uint64_t *random, uint8_t input[FUZZ_INPUT])
{
	const char *seed = seeds[fuzz_random(random) % (sizeof seeds / sizeof *seeds)];
	size_t n = strlen(seed);

	for (size_t i = 0; i < n; i++)
		input[i] = seed[i] == '|' ? 0 : (uint8_t)seed[i];
	for (uint64_t changes = fuzz_random(random) % 8; changes > 0; changes--) {
		size_t at = fuzz_random(random) % n, with = fuzz_random(random) % 4;
		if (with == 0 && n < FUZZ_INPUT / 2) { /* a piece twice */
			size_t length = fuzz_random(random) % (n - at) + 1;
			memmove(input + at + length, input + at, n - at);
			n += length;
		} else if (with == 1 && n > 1) {
			n = at + 1;
		} else {
			input[at] = (uint8_t)fuzz_random(random);
		}
	}
	return n;
}
#endif
