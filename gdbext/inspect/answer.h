/* What an inspection answers, written once, for people and for programs.
 *
 * A person reads text; a program reads JSON: objects and lists of fields, each with a key and a value. An
 * inspection opens an object, tells its text, in which most values bear a key, and closes it:
 *
 *	lbx_begin(out, NULL);
 *	lbx_tell(out, "%pF: %pF, %pF\n", LBX_TEXT("name", c->name), LBX_COUNT("calls", c->calls, "call"),
 *		 LBX_SIZE("nbytes", c->nbytes));
 *	LBX_KEY(out, "id", json_integer(c->id));
 *	lbx_end(out);
 *
 * prints "layer: 12 calls, 1.5 MiB", or {"name":"layer","calls":12,"nbytes":1572864,"id":3}. As JSON, everything
 * that out.h prints is left out; as text, keys are. So the same calls give both, and what one of them tells is in
 * sight where the other is written. `out->json` is for limits, tables and pictures, which a program does not want.
 * gdb's ui-out is the model, its %pF included.
 *
 * A document is written when its outermost object or list ends, in one piece; long lists (lbx_begin_long) as they
 * come. */
#ifndef LBX_ANSWER_H
#define LBX_ANSWER_H

#include <jansson.h>

#include "inspect/out.h"

/* ---- objects and lists ---- */

/* An object, or a list: the document itself, a field of the object that is open, or, where a list is open, its
 * next member: then the key is NULL. The key must live until the end. As text: nothing. */
void lbx_begin(struct lbx_out *out, const char *key);
void lbx_begin_list(struct lbx_out *out, const char *key);
/* A list that may have millions of members: what is open is written, and each member when it comes, as is what
 * follows in the objects and lists around it. */
void lbx_begin_long(struct lbx_out *out, const char *key);
void lbx_end(struct lbx_out *out);
/* Tells which of several tensors was meant, as text; JSON has had it under the key "chosen" of its outermost object. */
void lbx_tell_chosen(struct lbx_out *out);
/* What is done holds for all of them. */
void lbx_forget_chosen(struct lbx_out *out);
/* A failure: what was begun is dropped; where something has been written already, brackets are closed, and the
 * document, if it is an object, says what failed: `error` (or NULL). True: it has said so. Front ends call it after
 * each command; a command that fails may leave anything open. */
bool lbx_abandon(struct lbx_out *out, const char *error);

/* ---- keys without text ---- */

/* A field of the object that is open; or, with key NULL, a member of the list. `value` is evaluated for JSON only,
 * and taken. */
/* (The arguments of lbx_tell() are always evaluated.) */
#define LBX_KEY(out, key, value) ((out)->json ? lbx_answer_add((out), (key), (value)) : (void)0)
/* All fields of an object, which is taken. */
#define LBX_KEYS(out, object) ((out)->json ? lbx_answer_merge((out), (object)) : (void)0)

void lbx_answer_add(struct lbx_out *out, const char *key, json_t *value);
void lbx_answer_merge(struct lbx_out *out, json_t *object);
/* An object that is text already, as a member of the list that is open. */
void lbx_answer_add_object(struct lbx_out *out, const char *text, size_t n);

/* ---- text with keys ---- */

struct lbx_keyed {
	const char *key;
	enum lbx_style style;
	enum {
		LBX_IS_INT,
		LBX_IS_UINT,
		LBX_IS_COUNT,
		LBX_IS_SIZE,
		LBX_IS_HEX,
		LBX_IS_REAL,
		LBX_IS_TEXT,
		LBX_IS_LIST
	} kind;
	int64_t n; /* the number; of a list, how many */
	double real;
	const char *text; /* the text; of a count, its noun; of a real number, how it is printed */
	const int64_t *list;
};

#define LBX_KEYED(...) ((const void *)&(const struct lbx_keyed){ __VA_ARGS__ })
/* 12 */
#define LBX_INT(k, v) LBX_KEYED(.key = (k), .kind = LBX_IS_INT, .n = (int64_t)(v))
/* Of 64 bits without a sign: ids, numbers of evaluations. */
#define LBX_UINT(k, v) LBX_KEYED(.key = (k), .kind = LBX_IS_UINT, .n = (int64_t)(v))
/* 12 tensors, 1 tensor; JSON: 12 */
#define LBX_COUNT(k, v, noun) LBX_KEYED(.key = (k), .kind = LBX_IS_COUNT, .n = (int64_t)(v), .text = (noun))
/* 1.5 MiB; JSON: 1572864 */
#define LBX_SIZE(k, v) LBX_KEYED(.key = (k), .kind = LBX_IS_SIZE, .n = (int64_t)(v))
/* 0x7ffff7a31040; JSON: as a string, and null for 0 */
#define LBX_HEX(k, v) LBX_KEYED(.key = (k), .style = LBX_ADDRESS, .kind = LBX_IS_HEX, .n = (int64_t)(v))
/* By a printf format of one double; JSON: a number, or "NaN", "Infinity", "-Infinity" */
#define LBX_REAL(k, format, v) LBX_KEYED(.key = (k), .kind = LBX_IS_REAL, .text = (format), .real = (double)(v))
/* JSON: a string, and null for NULL, of which there is no text either */
#define LBX_TEXT(k, v) LBX_STYLED(LBX_PLAIN, k, v)
#define LBX_STYLED(s, k, v) LBX_KEYED(.key = (k), .style = (s), .kind = LBX_IS_TEXT, .text = (v))
/* (2, 3); JSON: [2,3] */
#define LBX_LIST(k, v, count) LBX_KEYED(.key = (k), .kind = LBX_IS_LIST, .list = (v), .n = (count))

/* As lbx_printf(), and each %pF is a struct lbx_keyed *: its text here, its key and value in the object that is
 * open. */
void lbx_tell(struct lbx_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- values ---- */

/* A text from the program, made valid UTF-8. */
json_t *lbx_json_string(const char *text);
/* null for NULL or "" */
json_t *lbx_json_text(const char *text);
/* A number; or "NaN", "Infinity", "-Infinity" as a string. */
json_t *lbx_json_double(double value);
json_t *lbx_json_list(const int64_t *values, int n);
/* "0x…", or null for 0. */
json_t *lbx_json_address(uint64_t address);
/* null where `is` is false. */
json_t *lbx_json_int_if(bool is, int64_t value);
/* As json_dumps(), with no more digits of a number than it takes to read it back. The caller's. */
char *lbx_json_dumps(const json_t *value, size_t flags);
/* Its text, printable; the value is released. NULL: no memory. The caller's. */
char *lbx_json_dump(json_t *value);
/* Writes one value, and releases it: for what is JSON by itself, as a timeline is. */
void lbx_json_write(struct lbx_out *out, json_t *value);

#endif
