/* Reads a timeline as a viewer does, checks each event against the Trace Event Format, and prints
 * phase, category and name: "X op matmul". With --cut the closing bracket may be absent. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char *what, const json_t *event)
{
	char *text = json_dumps(event, JSON_COMPACT | JSON_ENCODE_ANY);

	fprintf(stderr, "%s: %s\n", what, text ? text : "?");
	free(text);
	return 1;
}

/* What the format requires of each event, and of its phase. */
static int check(const json_t *event)
{
	const char *phase = json_string_value(json_object_get(event, "ph"));
	json_t *ts = json_object_get(event, "ts"), *args = json_object_get(event, "args");

	if (!phase || strlen(phase) != 1 || !strchr("XiCM", *phase))
		return complain("no phase that is used here", event);
	if (!json_is_string(json_object_get(event, "name")) ||
	    !json_is_string(json_object_get(event, "cat")) ||
	    !json_is_integer(json_object_get(event, "pid")) ||
	    !json_is_integer(json_object_get(event, "tid")) ||
	    !json_is_number(ts) || json_number_value(ts) <= 0 || (args && !json_is_object(args)))
		return complain("a required key", event);
	if (*phase == 'X' && !(json_number_value(json_object_get(event, "dur")) >= 0 &&
			       json_is_number(json_object_get(event, "dur"))))
		return complain("a slice without duration", event);
	const char *scope = json_string_value(json_object_get(event, "s"));
	if (*phase == 'i' && (!scope || !strchr("gpt", *scope)))
		return complain("a mark without scope", event);
	if (*phase == 'C') {
		const char *key;
		json_t *value;
		if (json_object_size(args) == 0)
			return complain("a counter without series", event);
		json_object_foreach(args, key, value)
			if (!json_is_number(value))
				return complain("a counter that is no number", event);
	}
	return 0;
}

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t n = 0, got = 1;

	while (file && got) {
		text = realloc(text, n + (1 << 20));
		got = text ? fread(text + n, 1, (1 << 20) - 2, file) : 0;
		n += got;
	}
	if (file)
		fclose(file);
	if (text)
		text[n] = '\0';
	return text;
}

int main(int argc, char **argv)
{
	char *text = argc > 1 ? read_all(argv[argc - 1]) : NULL;
	int failed = 0;
	json_error_t error;
	size_t i;
	json_t *event;

	if (!text)
		return 2;
	if (strcmp(argv[1], "--cut") == 0)
		strcat(text, "]");
	json_t *events = json_loads(text, 0, &error);
	if (!json_is_array(events)) {
		fprintf(stderr, "line %d: %s\n", error.line, error.text);
		return 1;
	}
	json_array_foreach(events, i, event) {
		const char *name = json_string_value(json_object_get(event, "name"));
		failed |= check(event);
		if (name)
			printf("%s %s %.*s\n", json_string_value(json_object_get(event, "ph")),
			       json_string_value(json_object_get(event, "cat")),
			       (int)strcspn(name, " "), name);
	}
	json_decref(events);
	free(text);
	return failed;
}
