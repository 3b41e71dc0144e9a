/* What is written where a tensor is wanted, and computes one: `abs(q - k.T).max(axis=-1)`, `x[0] + 1`, `x[x > 3]`. The
 * syntax is Python's, of its expressions without conditions, comprehensions and texts: NumPy's words are functions.c's. This
 * is its tree; nothing is looked up. */
#ifndef LBX_FORMULA_SYNTAX_H
#define LBX_FORMULA_SYNTAX_H

#include "inspect/tensor/slice.h"

enum {
	LBX_FORMULA_NODES = 512,
	LBX_FORMULA_CHILDREN = 1024,
	LBX_FORMULA_DEPTH = 64, /* of brackets and signs */
};

/* Numbers are kept as doubles: whole ones reach from minus this to this. */
#define LBX_FORMULA_WHOLE 0x1p53

enum lbx_formula_kind {
	LBX_FORMULA_NUMBER,
	LBX_FORMULA_NAME,   /* a word, 'a quoted one', #12, @0x7f00:f32:3x4; in an index also *p */
	LBX_FORMULA_MEMBER, /* x.word, x->word */
	LBX_FORMULA_CALL,   /* the first child is what is called, a NAME or a MEMBER */
	LBX_FORMULA_INDEX,  /* x[…]: the others are items */
	LBX_FORMULA_ITEM,   /* of those: one of a slice's; an expression is a node of its own */
	LBX_FORMULA_RANGE, /* likewise, a:b:c of which something is computed: its children are the bounds that it has, as its item
			     * tells; one more is the step */
	LBX_FORMULA_KEYWORD, /* of a call: word=child */
	LBX_FORMULA_TUPLE, /* (a, b) or [a, b] */
	LBX_FORMULA_SIGN, /* -x, +x, ~x */
	LBX_FORMULA_BINARY,
};

enum lbx_formula_operator {
	LBX_PLUS,
	LBX_MINUS,
	LBX_TIMES,
	LBX_OVER,
	LBX_FLOOR_OVER,
	LBX_MODULO,
	LBX_MATRIX_TIMES,
	LBX_TO_THE,
	LBX_AND,
	LBX_OR,
	LBX_XOR,
	LBX_SHIFT_LEFT,
	LBX_SHIFT_RIGHT,
	LBX_IS_EQUAL,
	LBX_IS_NOT_EQUAL,
	LBX_IS_LESS,
	LBX_IS_LESS_OR_EQUAL,
	LBX_IS_GREATER,
	LBX_IS_GREATER_OR_EQUAL,
	LBX_INVERT,
};

struct lbx_formula_node {
	enum lbx_formula_kind kind;
	int begin, end; /* bytes of the text that it is written in */
	int at; /* the byte that an error about it points to */
	enum lbx_formula_operator op;
	double number;
	bool is_whole; /* a number without a point */
	bool is_grouped; /* brackets stand around it, */
	int open; /* the outermost of which begins at this byte */
	int word, n_word; /* of a MEMBER or a KEYWORD: bytes of the text */
	struct lbx_slice_item item;
	int first, n; /* children, in `children` */
};

struct lbx_formula_tree {
	const char *text; /* must outlive it */
	int n, root, n_children;
	struct lbx_formula_node nodes[LBX_FORMULA_NODES];
	int children[LBX_FORMULA_CHILDREN];
};

/* Fails with a caret under the place. */
bool lbx_formula_parse(const char *text, struct lbx_formula_tree *ret);
/* The brackets that the text ends with, which begin at that byte: an INDEX of a NAME that is all before them. */
bool lbx_formula_parse_slice(const char *text, int at, struct lbx_formula_tree *ret);
/* Fails: the message, the text, and a caret under that byte of it. */
bool lbx_formula_fail(const struct lbx_formula_tree *tree, int at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Likewise, of an error that is kept: it gets its place, if it has none. */
bool lbx_formula_fail_at(const struct lbx_formula_tree *tree, int at);

/* Child i of a node. */
static inline int lbx_formula_child(const struct lbx_formula_tree *t, int node, int i)
{
	return t->children[t->nodes[node].first + i];
}

/* Whether the text of a node is what names a tensor where no formula is known: words, members, and brackets with whole
 * numbers and colons, as in `w->layers[2].weight[0, :]`. */
bool lbx_formula_is_path(const struct lbx_formula_tree *tree, int node);
/* Likewise, but that brackets may hold what C may compute, too: `weights[i + 1]`. */
bool lbx_formula_is_lookup(const struct lbx_formula_tree *tree, int node);
/* Whether the word of a MEMBER or KEYWORD, or the text of a NAME, is this one. */
bool lbx_formula_is_word(const struct lbx_formula_tree *tree, int node, const char *word);

#endif
