#include "inspect/diagnose/rule.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const struct lbx_rule *const lbx_rules[] = {
#define RULE(name) &lbx_rule_##name,
#include "inspect/diagnose/rules.def"
#undef RULE
	NULL,
};

bool lbx_rule_is(const struct lbx_rule *rule, const char *word)
{
	size_t n = strlen(word);

	if (strcasecmp(rule->id, word) == 0 || strcmp(rule->name, word) == 0)
		return true;
	/* the row's id, before a letter */
	return n > 0 && strncasecmp(rule->id, word, n) == 0 && isdigit((unsigned char)word[n - 1]) &&
	       islower((unsigned char)rule->id[n]);
}
