#define _GNU_SOURCE
#include "serve/http.h"

#include "base/error.h"

#if LB_HAVE_MICROHTTPD
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/vector.h"
#include "inspect/answer.h"
#include "serve/openapi.h"
#include "serve/page.h"
#include "serve/route.h"

enum {
	MOST_BODY = 1 << 20,
	MOST_CONNECTIONS = 128,
	IDLE_CONNECTION = 60, /* seconds */
	MOST_PARAMS = 64,
};
#define KEEP_ALIVE 5.0 /* seconds between signs of life, where nothing happens */

struct lbx_http {
	struct MHD_Daemon *daemon;
	struct lbx_access *access;
	struct lbx_sessions *sessions;
};

/* A request, while its body comes. */
struct request {
	char *body;
	size_t n, room;
	bool is_too_large;
};

/* ---- responses ---- */

static const char *const headers[][2] = {
	{ "Cache-Control", "no-store" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
};

/* Takes the response over. */
static enum MHD_Result answer(struct MHD_Connection *connection, int status, const char *type,
			      struct MHD_Response *response)
{
	if (!response)
		return MHD_NO;
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	MHD_add_response_header(response, "Content-Type", type);
	if (status == 401)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"lazybones\"");
	enum MHD_Result ret = MHD_queue_response(connection, (unsigned)status, response);
	MHD_destroy_response(response);
	return ret;
}

/* Takes the bytes over. */
static enum MHD_Result answer_bytes(struct MHD_Connection *connection, int status, const char *type, char *bytes,
				    size_t n)
{
	if (!bytes)
		return MHD_NO;
	return answer(connection, status, type, MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result refuse(struct MHD_Connection *connection, int status, const char *why)
{
	json_t *told = json_pack("{s:b, s:o}", "success", false, "error", lbx_mi_text(why, strlen(why)));
	char *text = told ? lbx_json_dumps(told, JSON_COMPACT) : NULL;

	json_decref(told);
	return answer_bytes(connection, status, "application/json", text, text ? strlen(text) : 0);
}

/* ---- events ---- */

struct stream {
	struct lbx_session *session; /* held */
	char *types;                 /* of what is wanted, in commas: ",stopped,exited,"; NULL: all */
	uint64_t after;
	char *pending; /* what is still to be sent */
	size_t n, done;
	bool has_begun;
};

/* Whether events of that type are wanted. */
static bool hears(const struct stream *stream, const char *type)
{
	size_t n = strlen(type);

	for (const char *at = stream->types; at && (at = strstr(at, type)); at++)
		if (at[-1] == ',' && at[n] == ',')
			return true;
	return !stream->types;
}

static bool are_types(const char *types)
{
	bool ok = *types;

	while (ok && *types) {
		size_t n = strcspn(types, ",");
		int i = 0;
		while (lbx_feed_types[i] && (strncmp(lbx_feed_types[i], types, n) != 0 || lbx_feed_types[i][n]))
			i++;
		ok = lbx_feed_types[i];
		types += n + (types[n] == ',');
	}
	return ok;
}

static void free_stream(void *self)
{
	struct stream *stream = self;

	if (hears(stream, "tensors"))
		lbx_watch_listen(lbx_session_watch(stream->session), -1);
	free(stream->types);
	lbx_session_let_go(stream->session);
	free(stream->pending);
	free(stream);
}

/* The next event that is wanted; *lost: how many of any kind before it are no longer kept. */
static bool next_heard(struct stream *stream, struct lbx_feed_event *ret, uint64_t *lost)
{
	struct lbx_feed *feed = lbx_session_feed(stream->session);
	double end = lb_clock_seconds() + KEEP_ALIVE;
	uint64_t more;

	for (*lost = 0; lbx_feed_next(feed, stream->after, end - lb_clock_seconds(), ret, &more);) {
		*lost += more;
		stream->after = ret->number;
		if (hears(stream, ret->type))
			return true;
		free(ret->data);
		if (lb_clock_seconds() > end)
			break;
	}
	return false;
}

/* The next event as a block of lines; a comment where there is none. False at the end. */
static bool fill(struct stream *stream)
{
	struct lbx_feed_event event;
	uint64_t lost;
	int n;

	free(stream->pending);
	stream->pending = NULL;
	stream->done = 0;
	if (!stream->has_begun) {
		stream->has_begun = true;
		n = asprintf(&stream->pending, "retry: 1000\n\n");
	} else if (next_heard(stream, &event, &lost)) {
		if (lost > 0)
			n = asprintf(&stream->pending,
				     "event: lost\ndata: {\"events\":%llu}\n\nid: %llu\nevent: %s\ndata: %s\n\n",
				     (unsigned long long)lost, (unsigned long long)event.number, event.type,
				     event.data);
		else
			n = asprintf(&stream->pending, "id: %llu\nevent: %s\ndata: %s\n\n",
				     (unsigned long long)event.number, event.type, event.data);
		free(event.data);
	} else if (lbx_feed_have_ended(lbx_session_feed(stream->session))) {
		return false;
	} else {
		n = asprintf(&stream->pending, ": still here\n\n");
	}
	stream->n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static ssize_t read_stream(void *self, uint64_t at, char *to, size_t most)
{
	struct stream *stream = self;

	(void)at;
	if (stream->done == stream->n && !fill(stream))
		return MHD_CONTENT_READER_END_OF_STREAM;
	size_t n = stream->n - stream->done < most ? stream->n - stream->done : most;
	memcpy(to, stream->pending + stream->done, n);
	stream->done += n;
	return (ssize_t)n;
}

static const char *query(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result answer_events(struct lbx_http *http, struct MHD_Connection *connection)
{
	const char *session = query(connection, "session"), *types = query(connection, "types"),
		   *last = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID");

	if (types && !are_types(types))
		return refuse(connection, 400,
			      "types: of running, stopped, exited, ended, output, breakpoint, tensors, "
			      "findings, with commas between them");
	struct stream *stream = calloc(1, sizeof *stream);
	if (!stream || (types && asprintf(&stream->types, ",%s,", types) < 0)) {
		free(stream);
		return MHD_NO;
	}
	if (!last)
		last = query(connection, "after");
	stream->session = lbx_sessions_find(http->sessions, session ? atoi(session) : 0);
	if (!stream->session) {
		free(stream->types);
		free(stream);
		return refuse(connection, 404, "there is no such session");
	}
	stream->after = last ? strtoull(last, NULL, 10) : 0;
	if (hears(stream, "tensors"))
		lbx_watch_listen(lbx_session_watch(stream->session), 1);
	return answer(connection, 200, "text/event-stream; charset=utf-8",
		      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, stream, free_stream));
}

/* ---- requests ---- */

static enum MHD_Result add_param(void *params, enum MHD_ValueKind kind, const char *name, const char *value)
{
	(void)kind;
	if (json_object_size(params) >= MOST_PARAMS)
		return MHD_NO;
	json_t *text = lbx_url_decode(value ? value : "", value ? strlen(value) : 0, true);
	json_object_set_new(params, name, text ? text : json_string(""));
	return MHD_YES;
}

enum { WHY = 256 };

/* Parameters of the query, and of the body. NULL, and why not. */
static json_t *params_of(struct MHD_Connection *connection, const struct request *request, char why[WHY])
{
	json_error_t error;

	json_t *ret = json_object(), *body = NULL;

	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_param, ret);
	if (request->n == 0)
		return ret;
	const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
	if (!type || strncasecmp(type, "application/json", 16) != 0)
		snprintf(why, WHY, "the body must be JSON: Content-Type: application/json");
	else if ((body = json_loadb(request->body, request->n, JSON_REJECT_DUPLICATES, &error)))
		snprintf(why, WHY, "the body is no object of JSON");
	else
		snprintf(why, WHY, "the body is no JSON: %s, in line %d, column %d", error.text, error.line,
			 error.column);
	if (!json_is_object(body) || json_object_update(ret, body) != 0) {
		json_decref(ret);
		ret = NULL;
	}
	json_decref(body);
	return ret;
}

static enum MHD_Result answer_route(struct lbx_http *http, struct MHD_Connection *connection, const char *path,
				    const char *method, const struct request *request)
{
	struct lbx_reply reply;
	char why[WHY] = "out of memory";
	json_t *params = params_of(connection, request, why);

	if (!params)
		return refuse(connection, 400, why);
	lbx_dispatch(http->sessions, method, path, params, &reply);
	json_decref(params);
	return answer_bytes(connection, reply.status, reply.type, reply.bytes, reply.n);
}

static enum MHD_Result answer_openapi(struct MHD_Connection *connection)
{
	char *text = lbx_openapi();

	return answer_bytes(connection, 200, "application/json", text, text ? strlen(text) : 0);
}

static enum MHD_Result answer_page(struct MHD_Connection *connection, const struct lbx_page_file *file)
{
	return answer(connection, 200, file->type,
		      MHD_create_response_from_buffer((size_t)(file->end - file->bytes), (void *)(uintptr_t)file->bytes,
						      MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result answer_request(struct lbx_http *http, struct MHD_Connection *connection, const char *path,
				      const char *method, const struct request *request)
{
	bool is_get = strcmp(method, "GET") == 0;
	const struct lbx_page_file *file = is_get ? lbx_page_find(path) : NULL;
	const struct lbx_access_request from = {
		.host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
		.origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin"),
		.authorization = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization"),
		.is_page = file,
	};
	const char *why;
	int status = lbx_access_check(http->access, &from, &why);

	if (status)
		return refuse(connection, status, why);
	if (request->is_too_large)
		return refuse(connection, 413, "a body has 1 MiB at most");
	if (file)
		return answer_page(connection, file);
	if (is_get && strcmp(path, "/events") == 0)
		return answer_events(http, connection);
	if (is_get && strcmp(path, "/openapi.json") == 0)
		return answer_openapi(connection);
	return answer_route(http, connection, path, method, request);
}

static void take_body(struct request *request, const char *bytes, size_t n)
{
	if (request->n + n > MOST_BODY || !lb_reserve(request->body, request->room, request->n + n)) {
		request->is_too_large = true;
		return;
	}
	memcpy(request->body + request->n, bytes, n);
	request->n += n;
}

/* Called for the head of a request, for each piece of its body, and at its end. */
static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *path, const char *method,
				  const char *version, const char *bytes, size_t *n, void **kept)
{
	struct request *request = *kept;

	(void)version;
	if (!request) {
		*kept = calloc(1, sizeof *request);
		return *kept ? MHD_YES : MHD_NO;
	}
	if (*n > 0) {
		take_body(request, bytes, *n);
		*n = 0;
		return MHD_YES;
	}
	return answer_request(self, connection, path, method, request);
}

static void on_end(void *self, struct MHD_Connection *connection, void **kept, enum MHD_RequestTerminationCode how)
{
	struct request *request = *kept;

	(void)self;
	(void)connection;
	(void)how;
	if (request)
		free(request->body);
	free(request);
	*kept = NULL;
}

/* A path is decoded by the table: %2F is no slash between its parts. */
static size_t leave_as_it_is(void *self, struct MHD_Connection *connection, char *text)
{
	(void)self;
	(void)connection;
	return strlen(text);
}

/* ---- the server ---- */

static bool address_of(const struct lbx_access *access, struct sockaddr_storage *ret, socklen_t *n)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof *ret);
	*n = sizeof *v4;
	v4->sin_port = htons((uint16_t)access->port); /* in the place of v6's */
	v4->sin_family = AF_INET;
	if (inet_pton(AF_INET, access->address, &v4->sin_addr) == 1)
		return true;
	*n = sizeof *v6;
	v6->sin6_family = AF_INET6;
	return inet_pton(AF_INET6, access->address, &v6->sin6_addr) == 1 ||
	       lb_fail_because(LB_MISUSED, "'%s' is no address to listen at: expected 127.0.0.1, ::1, 0.0.0.0 …",
			       access->address);
}

/* The port that it has is told before anybody can ask. */
static bool listen_at(struct lbx_access *access, int *ret)
{
	struct sockaddr_storage address;
	socklen_t n;
	int on = 1;

	if (!address_of(access, &address, &n))
		return false;
	lb_auto_close int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) != 0 || listen(fd, 64) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &n) != 0)
		return lb_fail("cannot listen at %s, port %d: %s; --port N takes another, --port 0 a free one",
			       access->address, access->port, strerror(errno));
	access->port = ntohs(((struct sockaddr_in *)&address)->sin_port);
	*ret = fd;
	fd = -1;
	return true;
}

static void be_silent(void *self, const char *format, va_list args)
{
	(void)self;
	(void)format;
	(void)args;
}

bool lbx_http_start(struct lbx_access *access, struct lbx_sessions *sessions, struct lbx_http **ret)
{
	struct lbx_http *http = calloc(1, sizeof *http);
	int fd;

	if (!http)
		return lb_fail("out of memory");
	*http = (struct lbx_http){ .access = access, .sessions = sessions };
	if (!listen_at(access, &fd)) {
		free(http);
		return false;
	}
	unsigned flags =
	    MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ERROR_LOG;
	http->daemon =
	    MHD_start_daemon(flags, 0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, be_silent, NULL,
			     MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS,
			     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_CONNECTION, MHD_OPTION_NOTIFY_COMPLETED,
			     on_end, NULL, MHD_OPTION_UNESCAPE_CALLBACK, leave_as_it_is, NULL, MHD_OPTION_END);
	if (!http->daemon) {
		close(fd);
		free(http);
		return lb_fail("the server cannot be started: %s", strerror(errno));
	}
	*ret = http;
	return true;
}

void lbx_http_stop(struct lbx_http *http)
{
	if (!http)
		return;
	int fd = MHD_quiesce_daemon(http->daemon);
	if (fd >= 0)
		close(fd);
	lbx_sessions_end_all(http->sessions);
	MHD_stop_daemon(http->daemon);
	free(http);
}
#else
bool lbx_http_start(struct lbx_access *access, struct lbx_sessions *sessions, struct lbx_http **ret)
{
	(void)access;
	(void)sessions;
	(void)ret;
	return lb_fail("this program was built without libmicrohttpd: `mcp` has the same sessions, for agents");
}

void lbx_http_stop(struct lbx_http *http)
{
	(void)http;
}
#endif
