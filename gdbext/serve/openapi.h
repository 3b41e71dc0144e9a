/* The table of routes as a description in OpenAPI 3.1, and as JSON's schemas for others. */
#ifndef LBX_SERVE_OPENAPI_H
#define LBX_SERVE_OPENAPI_H

#include <jansson.h>

#include "serve/route.h"

/* As text; NULL: no memory. The caller's. */
char *lbx_openapi(void);
/* What a route takes: {"type":"object","properties":…,"required":…}. A new object. */
json_t *lbx_route_schema(const struct lbx_route *route);

#endif
