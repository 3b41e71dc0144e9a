/* Who may ask. Other users of the machine are strangers, and so are pages of other sites in the user's own browser:
 * a request carries the token that the server has printed, names the server by an address that is its own (a name
 * that a stranger's DNS has bound to this machine is none), and comes from its own page if it comes from one. */
#ifndef LBX_SERVE_ACCESS_H
#define LBX_SERVE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { LBX_TOKEN_BYTES = 24, LBX_TOKEN_MAX = 2 * LBX_TOKEN_BYTES + 1 };

struct lbx_access {
	char token[LBX_TOKEN_MAX]; /* "": none is asked for */
	char address[64];          /* what it listens at, without brackets */
	int port;
};

/* Makes one up, from the kernel's random numbers. */
bool lbx_access_make_token(char ret[LBX_TOKEN_MAX]);
/* Whether the server listens to this machine alone. */
bool lbx_access_is_local(const char *address);

/* Headers of a request, NULL where there are none. 0, or the status with which it is refused, and why. `is_page`: what
 * is asked for is part of the page, which is no secret. */
struct lbx_access_request {
	const char *host, *origin, *authorization;
	bool is_page;
};
int lbx_access_check(const struct lbx_access *access, const struct lbx_access_request *request, const char **why);

#endif
