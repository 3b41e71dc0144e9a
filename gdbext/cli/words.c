#define _GNU_SOURCE
#include "cli/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int lbx_next_option(char **argv, const char *shorts, const struct option *longs)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	opterr = 0;
	int option = getopt_long(argc, argv, shorts, longs, NULL);
	if (option == ':')
		lb_fail("%s: %s needs a value (see lazybones help %s)", argv[0], argv[optind - 1], argv[0]);
	else if (option == '?' && optopt && strncmp(argv[optind - 1], "--", 2) == 0)
		lb_fail("%s: %.*s takes no value", argv[0], (int)strcspn(argv[optind - 1], "="), argv[optind - 1]);
	else if (option == '?')
		lb_fail("%s: there is no option %s (see lazybones help %s)", argv[0],
			argv[optind - (optind > 1)], argv[0]);
	return option == ':' ? '?' : option;
}

bool lbx_word_int(const char *verb, const char *what, const char *text, int64_t max, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	return (end != text && !*end && !errno && *ret > 0 && *ret <= max) ||
	       lb_fail("%s: %s takes a number from 1 to %" PRId64 ", not '%s'", verb, what, max, text);
}
