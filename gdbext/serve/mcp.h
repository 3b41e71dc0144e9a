/* The table of routes as tools of the Model Context Protocol (revisions 2024-11-05 to 2025-06-18): JSON-RPC 2.0, a message a
 * line. https://modelcontextprotocol.io/specification/2025-06-18 */
#ifndef LBX_SERVE_MCP_H
#define LBX_SERVE_MCP_H

#include <jansson.h>

#include "serve/sessions.h"

/* The answer to a line, without a newline; NULL: none is due, as to a notification. The caller's. Never fails: what cannot
 * be understood has an answer, too. */
char *lbx_mcp_answer(struct lbx_sessions *sessions, const char *line, size_t n);

#endif
