/* A path as it would be written in Python. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "python/walk.h"

enum { MAX_STEPS = 64, KEY = 256, NESTED = 2 /* paths that are keys within paths */ };

struct text {
	const struct lbx_py_walk *walk;
	char *ret;
	size_t n;
	bool is_cut;
};

static void add(struct text *t, const char *before, const char *what, const char *behind)
{
	int n = snprintf(t->ret + t->n, LBX_PY_PATH - t->n, "%s%s%s", before, what, behind);

	if (n < 0 || (size_t)n >= LBX_PY_PATH - t->n)
		t->is_cut = true;
	else
		t->n += (size_t)n;
}

/* As Python's repr() writes it: what ends the text, a backslash and control characters are escaped. */
bool lbx_py_key_text(const char *key, char *ret, size_t size)
{
	static const char escaped[] = "\n\r\t", letters[] = "nrt";
	char quote = strchr(key, '\'') && !strchr(key, '"') ? '"' : '\'';
	int n = snprintf(ret, size, "[%c", quote);

	for (; *key && n >= 0 && (size_t)n < size; key++) {
		unsigned char c = (unsigned char)*key;
		const char *letter = strchr(escaped, c);
		const char *form = letter || c == '\\' || c == quote ? "\\%c" : c < ' ' || c == 0x7f ? "\\x%02x" : "%c";
		n += snprintf(ret + n, size - (size_t)n, form, letter ? letters[letter - escaped] : c);
	}
	if (n >= 0 && (size_t)n < size)
		n += snprintf(ret + n, size - (size_t)n, "%c]", quote);
	return n >= 0 && (size_t)n < size;
}

static void add_node(struct text *t, uint32_t node, int nested);

/* A str, an int, or one that a path leads to; others by their type and address. */
static void add_key(struct text *t, uint64_t key, int nested)
{
	struct lbx_python *py = t->walk->py;
	const struct lbx_py_type *type = lbx_py_type_of(py, key);
	char text[KEY];
	int64_t number;

	if (lbx_py_text(py, key, text, sizeof text)) {
		char quoted[2 * KEY];
		t->is_cut |= strlen(text) >= sizeof text - 4 || !lbx_py_key_text(text, quoted, sizeof quoted);
		add(t, quoted, "", "");
		return;
	}
	uint32_t node = nested < NESTED ? lbx_py_walk_find(t->walk, key) : UINT32_MAX;
	if (node != UINT32_MAX) {
		add(t, "[", "", "");
		add_node(t, node, nested + 1);
		add(t, "]", "", "");
		return;
	}
	if (lbx_py_int(py, key, &number))
		snprintf(text, sizeof text, "%" PRId64, number);
	else
		snprintf(text, sizeof text, "%s at 0x%" PRIx64, type ? type->name : "?", key);
	add(t, "[", text, "]");
}

bool lbx_py_is_member(const struct lbx_py_walk *walk, uint32_t node)
{
	const struct lbx_py_node *nodes = walk->nodes;

	for (int n = 0; walk->rules->members_of && n < MAX_STEPS && node != UINT32_MAX; n++, node = nodes[node].from)
		if (nodes[node].step != LBX_PY_KEY && nodes[node].step != LBX_PY_INDEX)
			break;
	return node != UINT32_MAX && nodes[node].step == LBX_PY_MEMBER;
}

static void add_step(struct text *t, const struct lbx_py_node *node, int nested)
{
	bool is_member = lbx_py_is_member(t->walk, (uint32_t)(node - t->walk->nodes));
	char name[KEY];

	if (node->step == LBX_PY_INDEX) {
		snprintf(name, sizeof name, "%" PRIu64, node->key);
		add(t, is_member ? "." : "[", name, is_member ? "" : "]");
		return;
	}
	bool is_text = lbx_py_text(t->walk->py, node->key, name, sizeof name);
	if (node->step == LBX_PY_KEY && !(is_member && is_text)) {
		add_key(t, node->key, nested);
	} else if (!is_text) {
		t->is_cut = true;
	} else {
		t->is_cut |= strlen(name) >= sizeof name - 4;
		add(t, node->from == UINT32_MAX ? "" : ".", name, "");
	}
}

static void add_node(struct text *t, uint32_t node, int nested)
{
	uint32_t steps[MAX_STEPS];
	int n = 0;

	for (; node != UINT32_MAX && n < MAX_STEPS; node = t->walk->nodes[node].from)
		steps[n++] = node;
	t->is_cut |= node != UINT32_MAX;
	while (n > 0)
		add_step(t, &t->walk->nodes[steps[--n]], nested);
}

bool lbx_py_path(const struct lbx_py_walk *walk, uint32_t node, char ret[LBX_PY_PATH])
{
	struct text t = { .walk = walk, .ret = ret };

	ret[0] = '\0';
	add_node(&t, node, 0);
	return !t.is_cut && ret[0];
}

bool lbx_py_path_function(const struct lbx_py_walk *walk, uint32_t node, char *ret, size_t size)
{
	for (int n = 0; n < MAX_STEPS && walk->nodes[node].from != UINT32_MAX; n++)
		node = walk->nodes[node].from;
	return walk->nodes[node].step == LBX_PY_LOCAL && lbx_py_text(walk->py, walk->nodes[node].function, ret, size);
}
