#include "serve/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "serve/mi.h"

enum { LINES_AROUND = 5, LARGEST_SOURCE = 32 << 20 };

bool lbx_is_own_place(const json_t *frame, const struct lbx_libraries *libraries)
{
	const char *file = lbx_mi_string(frame, "fullname");
	struct lbx_told_frame told = { .address = strtoull(lbx_mi_string(frame, "addr"), NULL, 16),
				       .function = lbx_mi_string(frame, "func"),
				       .has_source = *file && access(file, R_OK) == 0 };

	return lbx_is_own_frame(&told, libraries, 0);
}

int lbx_own_level(const json_t *frames, const struct lbx_libraries *libraries)
{
	size_t i;
	json_t *frame;

	json_array_foreach((json_t *)frames, i,
			   frame) if (lbx_is_own_place(frame, libraries)) return atoi(lbx_mi_string(frame, "level"));
	return 0;
}

void lbx_libraries_take(struct lbx_libraries *libraries, const json_t *told, bool is_loaded)
{
	size_t i;
	json_t *each;

	json_array_foreach(json_object_get(told, "ranges"), i, each)
	{
		uint64_t from = strtoull(lbx_mi_string(each, "from"), NULL, 16),
			 to = strtoull(lbx_mi_string(each, "to"), NULL, 16);
		if (is_loaded)
			lbx_libraries_add(libraries, lbx_mi_string(told, "target-name"), from, to);
		else
			lbx_libraries_remove(libraries, from);
	}
}

static void add_line(json_t *lines, char *text)
{
	text[strcspn(text, "\r\n")] = '\0';
	json_t *line = json_string(text);
	json_array_append_new(lines, line ? line : json_string(""));
}

json_t *lbx_source_lines(const char *path, long first, long last)
{
	struct stat about;
	FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= LARGEST_SOURCE
			 ? fopen(path, "re")
			 : NULL;
	lb_auto_free char *text = NULL;
	size_t room = 0;

	if (!file)
		return NULL;
	json_t *lines = json_array();
	for (long i = 1; i <= last && getline(&text, &room, file) >= 0; i++)
		if (i >= first)
			add_line(lines, text);
	fclose(file);
	return lines;
}

/* NULL: it cannot be read. */
static json_t *source_around(const char *path, long at)
{
	long first = at > LINES_AROUND ? at - LINES_AROUND : 1;
	json_t *lines = at > 0 ? lbx_source_lines(path, first, at + LINES_AROUND) : NULL;

	return lines ? json_pack("{s:i, s:o}", "first", (int)first, "lines", lines) : NULL;
}

json_t *lbx_place_of(const json_t *frame)
{
	const char *file = lbx_mi_string(frame, "fullname");
	long line = atol(lbx_mi_string(frame, "line"));

	if (!*file)
		file = lbx_mi_string(frame, "file");
	return json_pack("{s:s*, s:o, s:s*, s:i, s:s*, s:s*, s:o*}", "file", *file ? file : NULL, "line",
			 line > 0 ? json_integer(line) : json_null(), "function",
			 json_object_get(frame, "func") ? lbx_mi_string(frame, "func") : NULL, "level",
			 atoi(lbx_mi_string(frame, "level")), "address",
			 json_object_get(frame, "addr") ? lbx_mi_string(frame, "addr") : NULL, "library",
			 json_object_get(frame, "from") ? lbx_mi_string(frame, "from") : NULL, "source",
			 source_around(file, line));
}
