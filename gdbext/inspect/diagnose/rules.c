#include "inspect/diagnose/rule.h"

#include <ctype.h>
#include <stdio.h>
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

bool lbx_rule_where(const struct lbx_rule *rule, char ret[LBX_WHERE_MAX])
{
	static const struct {
		unsigned sees;
		const char *where;
	} rows[] = {
		{ LBX_SEES_VARIABLES,
		  "In cores alone, with the command `lazybones`: what runs changes its variables meanwhile." },
		{ LBX_SEES_DEATH,
		  "In the core of a program that has died, with the command `lazybones`: a debugger tells of a death itself." },
		{ LBX_SEES_STACKS,
		  "With the command `lazybones`, which goes through all threads, in a core or a process." },
		{ LBX_SEES_LOOKS,
		  "In a program that runs and is looked at several times: `lazybones doctor -- PROGRAM`, or\n"
		  "`lazybones doctor PID --every 10`." },
		{ LBX_SEES_EVENTS, "In programs with Lazybones' own runtime, where its flight recorder is on." },
		{ LBX_SEES_RUNTIME, "In programs with Lazybones' own runtime." },
	};
	unsigned said = 0;
	size_t n = 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!(rule->sees & rows[i].sees) || (rows[i].sees == LBX_SEES_RUNTIME && said & LBX_SEES_EVENTS))
			continue;
		n += (size_t)snprintf(ret + n, LBX_WHERE_MAX - n, "%s%s", n ? "\n" : "", rows[i].where);
		said |= rows[i].sees;
	}
	return n > 0;
}
