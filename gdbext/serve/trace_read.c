#define _GNU_SOURCE
#include "serve/trace_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"

enum { LARGEST = 1 << 30 };

/* The lines of a journal, as far as they are whole. */
static json_t *read_journal(FILE *file)
{
	json_t *records = json_array(), *session = NULL, *line;
	lb_auto_free char *text = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&text, &room, file)) > 0 && text[n - 1] == '\n') {
		line = json_loadb(text, (size_t)n, 0, NULL);
		if (line && !session)
			session = json_incref(json_object_get(line, "session"));
		else if (line)
			json_array_append(records, line);
		json_decref(line);
	}
	return json_pack("{s:o, s:o}", "session", session ? session : json_object(), "records", records);
}

bool lbx_trace_read(const char *path, json_t **ret)
{
	struct stat about;
	json_error_t error;
	size_t n = strlen(path);
	FILE *file = fopen(path, "re");

	if (!file)
		return lb_fail("%s: %m", path);
	if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > LARGEST) {
		fclose(file);
		return lb_fail("%s is no file, or larger than 1 GiB", path);
	}
	bool is_journal = n > 6 && strcmp(path + n - 6, ".jsonl") == 0;
	*ret = is_journal ? read_journal(file) : json_loadf(file, 0, &error);
	fclose(file);
	if (json_is_array(json_object_get(*ret, "records")) && json_is_object(json_object_get(*ret, "session")))
		return true;
	json_decref(*ret);
	*ret = NULL;
	return lb_fail("%s is no trace of a session", path);
}
