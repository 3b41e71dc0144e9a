/* The server: HTTP/1.1 by libmicrohttpd, a thread a connection, so that one that waits for gdb keeps nobody else
 * waiting. It answers the rows of routes.def, /events, /openapi.json, and the page. */
#ifndef LBX_SERVE_HTTP_H
#define LBX_SERVE_HTTP_H

#include <stdbool.h>

#include "serve/access.h"
#include "serve/sessions.h"

struct lbx_http;

/* Listens at access->address and access->port; port 0 takes a free one and tells it there. Both must outlive it. */
bool lbx_http_start(struct lbx_access *access, struct lbx_sessions *sessions, struct lbx_http **ret);
/* Takes no more requests; ends the sessions, so that what waits for them goes on; waits for that. */
void lbx_http_stop(struct lbx_http *http);

#endif
