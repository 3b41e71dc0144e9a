#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/bridge/questions.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/files.h"
#include "plugin/bridge/text.h"

enum {
	COMMAND_SIZE = 4096,
	ANSWERS_SIZE = 64 << 20, /* bytes of gdb's output that are read */
	MAX_QUESTIONS = 1 << 16,
	MAX_ROUNDS = 16,
};

struct question {
	char *command;
	char *answer;  /* NULL: not known */
	enum lbx_bridge_where where;
	bool asked; /* gdb was asked in an earlier round */
};

static struct {
	struct question *v;
	int n, room; /* room: a power of two, or 0 */
	int *places; /* of 2 * room: by what is asked, a question's number from 1 on; or 0 */
	int round;   /* how often some were put */
	bool frames; /* there are */
	bool waits;
	bool lacks;     /* gdb would have to be asked more than it is */
	char level[16]; /* of the selected frame; "" before it is known */
	bool wants_level, asked_level;
	bool is_on_stack; /* as `frame view` selects none */
} questions;

/* ---- asking ---- */

/* Where a question's number is, or is to be. */
static int *place_of(const char *command)
{
	uint64_t hash = 0xcbf29ce484222325;
	size_t mask = 2 * (size_t)questions.room - 1;

	for (const char *c = command; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	size_t at = (hash >> 20) & mask;
	while (questions.places[at] && strcmp(questions.v[questions.places[at] - 1].command, command) != 0)
		at = (at + 1) & mask;
	return &questions.places[at];
}

static bool make_room(void)
{
	int room = questions.room ? 2 * questions.room : 64;

	if (questions.n < questions.room)
		return true;
	if (questions.room == MAX_QUESTIONS)
		return false;
	struct question *v = realloc(questions.v, (size_t)room * sizeof *v);
	if (!v)
		return false;
	questions.v = v;
	int *places = calloc(2 * (size_t)room, sizeof *places);
	if (!places)
		return false;
	free(questions.places);
	questions.places = places;
	questions.room = room;
	for (int i = 0; i < questions.n; i++)
		*place_of(v[i].command) = i + 1;
	return true;
}

/* NULL when there are too many, or no memory. */
static struct question *question_of(const char *command, enum lbx_bridge_where where)
{
	int *place = questions.room ? place_of(command) : NULL;

	if (!place || *place == 0) {
		char *copy = make_room() ? strdup(command) : NULL;
		if (!copy)
			return NULL;
		place = place_of(command);
		questions.v[questions.n++] = (struct question){ copy, NULL, where, false };
		*place = questions.n;
	}
	return &questions.v[*place - 1];
}

bool lbx_bridge_ask(const char **ret, enum lbx_bridge_where where, const char *format, ...)
{
	char command[COMMAND_SIZE];
	struct question *q;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if ((!questions.frames && where != LBX_WITHOUT_FRAME) || n < 0 || n >= (int)sizeof(command) ||
	    strchr(command, '\n'))
		return false;
	q = question_of(command, where);
	if (!q || (!q->asked && questions.round >= MAX_ROUNDS)) {
		questions.lacks = true;
		if (q)
			q->asked = true; /* no longer */
		return false;
	}
	if (q->answer) {
		*ret = q->answer;
		return true;
	}
	if (!q->asked)
		questions.waits = true;
	return false;
}

bool lbx_bridge_ask_level(int *ret)
{
	if (!questions.frames)
		return false;
	if (!questions.level[0] && !questions.asked_level)
		questions.wants_level = questions.waits = true;
	*ret = atoi(questions.level);
	return questions.level[0] && questions.is_on_stack;
}

void lbx_bridge_tell(const char *answer, const char *format, ...)
{
	char command[COMMAND_SIZE];
	va_list args;

	va_start(args, format);
	int n = vsnprintf(command, sizeof command, format, args);
	va_end(args);
	if (questions.round == 0 && n > 0 && n < (int)sizeof command)
		lbx_questions_tell(command, answer, strlen(answer));
}

bool lbx_bridge_is_new(void)
{
	return questions.round == 0;
}

bool lbx_bridge_waits(void)
{
	return questions.waits;
}

bool lbx_bridge_lacks(void)
{
	return questions.lacks;
}

/* ---- rounds ---- */

void lbx_questions_begin(void)
{
	for (int i = 0; i < questions.n; i++) {
		free(questions.v[i].command);
		free(questions.v[i].answer);
	}
	questions.n = 0;
	if (questions.places)
		memset(questions.places, 0, 2 * (size_t)questions.room * sizeof *questions.places);
	questions.level[0] = '\0';
	questions.wants_level = questions.asked_level = false;
	questions.round = 0;
}

void lbx_questions_run(bool frames)
{
	questions.frames = frames;
	questions.waits = questions.lacks = false;
}

bool lbx_questions_are_open(void)
{
	for (int i = 0; i < questions.n; i++)
		if (!questions.v[i].asked)
			return true;
	return questions.wants_level && !questions.asked_level;
}

bool lbx_questions_let_run(void)
{
	return questions.round == 0 || !lbx_questions_are_open();
}

/* In the selected frame, whose level the script has found. */
static void put_in_frame(struct text *file, int i)
{
	static const char language[] = "with language auto -- ";
	const char *command = questions.v[i].command;
	bool is_usual = strncmp(command, language, sizeof language - 1) == 0;

	text_printf(file, "_lbm %d\n%s %s\n", i, is_usual ? "_lbh" : "_lbg",
		    command + (is_usual ? sizeof language - 1 : 0));
}

static void put_anywhere(struct text *others, struct text *indexed, int i)
{
	const char *command = questions.v[i].command;
	bool is_indexed = strncmp(command, LBX_INDEXED, strlen(LBX_INDEXED)) == 0;

	text_printf(is_indexed ? indexed : others, "_lbm %d\n_lbf -- %s\n", i,
		    command + (is_indexed ? strlen(LBX_INDEXED) : 0));
}

/* Those for the selected frame are put at once if gdb's script finds its level; otherwise that is asked first. */
bool lbx_questions_put(void)
{
	struct text file = { 0 }, others = { 0 }, within = { 0 }, indexed = { 0 };
	bool ok;

	for (int i = 0; i < questions.n; i++) {
		struct question *q = &questions.v[i];

		if (q->asked)
			continue;
		q->asked = true;
		if (q->where == LBX_WITHOUT_FRAME)
			text_printf(&others, "_lbm %d\n%s\n", i, q->command);
		else if (q->where == LBX_ANYWHERE)
			put_anywhere(&others, &indexed, i);
		else if (questions.level[0])
			text_printf(&others, "_lbm %d\nframe apply level %s -q -c -- %s\n", i, questions.level,
				    q->command);
		else
			put_in_frame(&within, i);
	}
	bool want_level = within.n || (questions.wants_level && !questions.level[0]);
	questions.asked_level |= want_level;
	text_printf(&file, want_level ? "_lbz\n" : "_lbm answers\n");
	if (others.n)
		text_append(&file, others.bytes, others.n);
	if (indexed.n)
		text_printf(&file, LBX_INDEXED "source " LBX_INDEXED_FILE "\n");
	if (want_level)
		text_printf(&file, "if $_lb_n == 1\n%s_lbl\nelse\n_lbi\nend\n", within.n ? within.bytes : "");
	else
		text_printf(&file, "_lbm end\n");
	ok = !file.failed && !others.failed && !within.failed && !indexed.failed &&
	     lbx_file_write(LBX_INDEXED_FD, indexed.bytes, indexed.n) &&
	     lbx_file_write(LBX_QUESTION_FD, file.bytes, file.n);
	text_free(&file);
	text_free(&others);
	text_free(&within);
	text_free(&indexed);
	questions.round += ok;
	return ok;
}

/* Notes the level; questions for the selected frame that have no answer are still open. */
static void take_level(const char *answer, size_t n)
{
	const char *level = memmem(answer, n, "Stack level ", 12);

	snprintf(questions.level, sizeof(questions.level), "%ld", level ? strtol(level + 12, NULL, 10) : 0);
	questions.is_on_stack = level;
	for (int i = 0; i < questions.n; i++)
		if (questions.v[i].where == LBX_IN_FRAME && !questions.v[i].answer)
			questions.v[i].asked = false;
}

static void take_answer(const char *mark, const char *answer, size_t n)
{
	char *end;
	long i = strtol(mark, &end, 10);

	if (strncmp(mark, "level\n", 6) == 0) {
		take_level(answer, n);
		return;
	}
	if (end == mark || *end != '\n' || i < 0 || i >= questions.n)
		return;
	while (n && (answer[n - 1] == '\n'))
		n--;
	if (!questions.v[i].answer)
		questions.v[i].answer = strndup(answer, n);
}

static void take_answers(char *text)
{
	char *mark = text;

	text_strip_chatter(text);
	while (mark && (mark = strstr(mark, LBX_MARK))) {
		char *answer, *next;

		mark += strlen(LBX_MARK);
		answer = strchr(mark, '\n');
		if (!answer)
			return;
		answer++;
		next = strstr(answer, LBX_MARK);
		take_answer(mark, answer, next ? (size_t)(next - answer) : strlen(answer));
		mark = next;
	}
}

bool lbx_questions_take(void)
{
	off_t size = lseek(LBX_REQUEST_FD, 0, SEEK_END);

	/* answers arrive bit by bit, and gdb may look at frames meanwhile */
	if (!lbx_file_ends_with(LBX_REQUEST_FD, LBX_MARK "end"))
		return false;
	size = size < ANSWERS_SIZE ? size : ANSWERS_SIZE;
	lb_auto_free char *all = malloc((size_t)size + 1);
	if (all && lbx_file_read(LBX_REQUEST_FD, all, (size_t)size + 1))
		take_answers(all);
	return true;
}

/* ---- what the script asks ---- */

bool lbx_questions_expect(const char *command)
{
	struct question *q = question_of(command, LBX_WITHOUT_FRAME);

	if (q)
		q->asked = true;
	return q;
}

bool lbx_questions_tell(const char *command, const char *answer, size_t n)
{
	if (!lbx_questions_expect(command))
		return false;
	while (n && answer[n - 1] == '\n')
		n--;
	question_of(command, LBX_WITHOUT_FRAME)->answer = strndup(answer, n);
	return true;
}
