#include "inspect/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lbx_say(char *text, size_t size, const char *format, ...)
{
	size_t used = strnlen(text, size);
	va_list args;

	va_start(args, format);
	if (used < size)
		vsnprintf(text + used, size - used, format, args);
	va_end(args);
}
