#include "inspect/diagnose/family.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool lbx_family_of(const char *name, char ret[LB_NAME_MAX + 1])
{
	const char *number = name;

	while (*number && !(isdigit((unsigned char)*number) && (number == name || !isalnum((unsigned char)number[-1]))))
		number++;
	size_t digits = strspn(number, "0123456789");
	if (!digits)
		return false;
	snprintf(ret, LB_NAME_MAX + 1, "%.*s*%s", (int)(number - name), name, number + digits);
	return true;
}
