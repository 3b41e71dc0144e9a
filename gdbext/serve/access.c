#include "serve/access.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/error.h"

bool lbx_access_make_token(char ret[LBX_TOKEN_MAX])
{
	unsigned char bytes[LBX_TOKEN_BYTES];

	if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
		return lb_fail("no random numbers for a token can be had: %s", strerror(errno));
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

bool lbx_access_is_local(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 || strcmp(address, "localhost") == 0;
}

/* HOST[:PORT], [HOST][:PORT]: the parts. False where it is neither. */
static bool split(const char *text, char host[256], int *port)
{
	bool has_brackets = *text == '[';
	size_t n = has_brackets ? strcspn(++text, "]") : strcspn(text, ":");

	if (n == 0 || n >= 256 || (has_brackets && text[n] != ']'))
		return false;
	memcpy(host, text, n);
	host[n] = '\0';
	text += n + has_brackets;
	*port = 80;
	if (*text == ':' && text[1]) {
		char *end;
		long value = strtol(text + 1, &end, 10);
		*port = value > 0 && value < 65536 ? (int)value : 0;
		text = end;
	}
	return !*text;
}

/* Every address is its own where it listens at all; a name is none but localhost. */
static bool is_own_host(const struct lbx_access *access, const char *text)
{
	bool listens_to_all = strcmp(access->address, "0.0.0.0") == 0 || strcmp(access->address, "::") == 0;
	char host[256];
	int port;

	if (!split(text, host, &port) || port != access->port)
		return false;
	if (strcasecmp(host, "localhost") == 0 || strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0)
		return true;
	return strcmp(host, access->address) == 0 ||
	       (listens_to_all && strspn(host, "0123456789abcdefABCDEF.:") == strlen(host) && strpbrk(host, ".:"));
}

/* As long whether it differs at its beginning or at its end. */
static bool is_token(const struct lbx_access *access, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	size_t n = strlen(access->token);
	unsigned char differs = 0;

	if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
		return false;
	authorization += sizeof scheme - 1;
	if (strlen(authorization) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(authorization[i] ^ access->token[i]);
	return differs == 0;
}

int lbx_access_check(const struct lbx_access *access, const struct lbx_access_request *request, const char **why)
{
	static const char scheme[] = "http://";

	if (!request->host || !is_own_host(access, request->host)) {
		*why = "the Host header is no address of this server";
		return 403;
	}
	if (request->origin && (strncmp(request->origin, scheme, sizeof scheme - 1) != 0 ||
				!is_own_host(access, request->origin + sizeof scheme - 1))) {
		*why = "pages of other sites may not ask this server";
		return 403;
	}
	if (access->token[0] && !request->is_page && !is_token(access, request->authorization)) {
		*why = "the token is needed, which the server has printed: Authorization: Bearer TOKEN";
		return 401;
	}
	return 0;
}
