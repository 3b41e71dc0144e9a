#define _GNU_SOURCE /* hcreate_r() */
#include "wordpiece.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "characters.h"
#include "common/named.h"

enum { WORD_MOST = 100 /* characters; a longer one is unknown */, UTF8_MOST = 4,
       TOKENS_MOST = 1 << 24 };

struct wordpiece {
	struct hsearch_data by_text; /* the keys are in `file` */
	char *file;
	int64_t n;
	int32_t unknown, first, last;
};

/* ---- the vocabulary ---- */

static int32_t find(struct wordpiece *w, const char *text)
{
	ENTRY *found;

	if (!hsearch_r((ENTRY){.key = (char *)text}, FIND, &found, &w->by_text))
		return -1;
	return (int32_t)(intptr_t)found->data;
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	if (f && getdelim(&text, &room, '\0', f) < 0) {
		free(text);
		text = ferror(f) ? NULL : strdup("");
	}
	if (!text)
		complain("%s: %s", path, strerror(errno));
	if (f)
		fclose(f);
	return text;
}

static bool index_lines(struct wordpiece *w, const char *path)
{
	ENTRY *entered;
	size_t lines = 1;

	for (const char *c = w->file; (c = strchr(c, '\n')); c++)
		lines++;
	if (lines > TOKENS_MOST || !hcreate_r(lines + lines / 2, &w->by_text))
		return complain("%s: no room for %zu tokens", path, lines);
	for (char *line = w->file, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		if (!hsearch_r((ENTRY){line, (void *)(intptr_t)w->n++}, ENTER, &entered,
			       &w->by_text))
			return complain("%s: no room for %zu tokens", path, lines);
	}
	const struct { const char *text; int32_t *at; } specials[] = {
		{"[UNK]", &w->unknown}, {"[CLS]", &w->first}, {"[SEP]", &w->last},
	};
	for (size_t i = 0; i < sizeof(specials) / sizeof(*specials); i++) {
		*specials[i].at = find(w, specials[i].text);
		if (*specials[i].at < 0)
			return complain("%s: no token %s", path, specials[i].text);
	}
	return true;
}

struct wordpiece *wordpiece_open(const char *path)
{
	struct wordpiece *w = calloc(1, sizeof(*w));

	if (!w)
		complain("%s: no memory", path);
	if (w && (w->file = read_file(path)) && index_lines(w, path))
		return w;
	wordpiece_close(w);
	return NULL;
}

void wordpiece_close(struct wordpiece *w)
{
	if (!w)
		return;
	hdestroy_r(&w->by_text);
	free(w->file);
	free(w);
}

int64_t wordpiece_count(const struct wordpiece *w)
{
	return w->n;
}

/* ---- encoding ---- */

struct encoding {
	struct wordpiece *w;
	int32_t *out;
	int64_t n, room;
	int letters; /* of the word so far; WORD_MOST + 1: too many */
	wchar_t word[WORD_MOST];
};

static void put(struct encoding *e, int32_t token)
{
	if (e->n < e->room)
		e->out[e->n] = token;
	e->n++;
}

/* The longest piece at `from`, -1 if there is none; *to is where it ends. */
static int32_t longest(struct encoding *e, int from, int *to)
{
	char text[2 + WORD_MOST * UTF8_MOST + 1] = "##";
	size_t ends[WORD_MOST + 1];
	mbstate_t state = {0};

	ends[from] = from ? 2 : 0;
	for (int i = from; i < e->letters; i++) {
		size_t n = wcrtomb(text + ends[i], e->word[i], &state);
		ends[i + 1] = ends[i] + (n <= UTF8_MOST ? n : 0);
	}
	for (*to = e->letters; *to > from; --*to) {
		text[ends[*to]] = '\0';
		int32_t token = find(e->w, text);
		if (token >= 0)
			return token;
	}
	return -1;
}

static void end_word(struct encoding *e)
{
	int64_t before = e->n;
	int32_t token = e->letters > WORD_MOST ? -1 : 0;

	for (int from = 0, to; token >= 0 && from < e->letters; from = to) {
		token = longest(e, from, &to);
		put(e, token);
	}
	if (token < 0) { /* all of it */
		e->n = before;
		put(e, e->w->unknown);
	}
	e->letters = 0;
}

static void take(struct encoding *e, wchar_t c)
{
	wchar_t plain[PLAIN_MOST];
	enum kind kind = kind_of(c);

	if (kind == KIND_NOTHING)
		return;
	if (kind != KIND_LETTER)
		end_word(e);
	if (kind == KIND_SPACE)
		return;
	for (int i = 0, n = make_plain(c, plain); i < n; i++) {
		if (e->letters < WORD_MOST)
			e->word[e->letters] = plain[i];
		e->letters += e->letters <= WORD_MOST;
	}
	if (kind == KIND_ALONE)
		end_word(e);
}

int64_t wordpiece_encode(struct wordpiece *w, const char *text, size_t nbytes, int32_t *ret,
			 int64_t room)
{
	struct encoding e = {.w = w, .out = ret, .room = room - 1};
	mbstate_t state = {0};

	put(&e, w->first);
	for (size_t at = 0, n; at < nbytes; at += n) {
		wchar_t c;
		n = mbrtowc(&c, text + at, nbytes - at, &state);
		if (n == 0 || n > UTF8_MOST) { /* '\0', or no character */
			n = 1;
			state = (mbstate_t){0};
		} else {
			take(&e, c);
		}
	}
	end_word(&e);
	ret[e.n < e.room ? e.n : e.room] = w->last;
	return e.n + 1;
}
