#include "plugin/stops/said.h"

#include <string.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/hits.h"

bool lbx_said_hear(struct lbx_context *context, const struct lbx_said *rows, const char *guest, const char *words)
{
	bool known = lbx_catch_refresh();
	const char *at = words + strcspn(words, " ");
	size_t n;

	at += *at == ' ';
	n = strcspn(at, " ");
	lbx_bridge_script("set $_lb_go = 0");
	if (!lbx_hits_ask() || !known)
		return false;
	for (const struct lbx_said *row = rows; row->word; row++)
		if (strlen(row->word) == n && strncmp(row->word, at, n) == 0)
			return row->hear(context, at + n) && (row->stops || lbx_hits_go_on());
	return lb_fail("a breakpoint of %s says '%s'", guest, words);
}
