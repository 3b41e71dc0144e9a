/* A descent by the strength of operators, as Python's grammar orders them. */
#include "inspect/formula/syntax.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tensors/state.h"
#include "inspect/say.h"

enum { ITEMS_MOST = 32, TEXT_SHOWN = 400 };

struct parser {
	struct lbx_formula_tree *tree;
	const char *text;
	int at, depth;
	int indices; /* open brackets of those: what C writes `*p` may stand there */
};

/* ---- errors ---- */

/* Columns of the text before a byte: bytes that go on with a character of UTF-8 take none. */
static int column(const char *text, int at)
{
	int n = 0;

	for (int i = 0; i < at && text[i]; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

bool lbx_formula_fail(const struct lbx_formula_tree *tree, int at, const char *format, ...)
{
	char message[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	if (strlen(tree->text) > TEXT_SHOWN)
		return lb_fail("%s, at '%.40s'", message, tree->text + at);
	return lb_fail("%s\n    %s\n    %*s^", message, tree->text, column(tree->text, at), "");
}

bool lbx_formula_fail_at(const struct lbx_formula_tree *tree, int at)
{
	char why[LB_ERROR_MAX];

	snprintf(why, sizeof why, "%s", lb_error_message());
	if (strchr(why, '\n') || lb_error_cause() == LB_INTERRUPTED)
		return false;
	lb_clear_error();
	return lbx_formula_fail(tree, at, "%s", why);
}

/* ---- nodes ---- */

static int add(struct parser *p, enum lbx_formula_kind kind, int begin, int at)
{
	struct lbx_formula_tree *t = p->tree;

	if (t->n == LBX_FORMULA_NODES) {
		lbx_formula_fail(t, at, "the expression is too long");
		return -1;
	}
	t->nodes[t->n] = (struct lbx_formula_node){ .kind = kind, .begin = begin, .end = p->at, .at = at };
	return t->n++;
}

static bool set_children(struct parser *p, int node, int n, const int *children)
{
	struct lbx_formula_tree *t = p->tree;

	if (t->n_children + n > LBX_FORMULA_CHILDREN)
		return lbx_formula_fail(t, t->nodes[node].at, "the expression is too long");
	t->nodes[node].first = t->n_children;
	t->nodes[node].n = n;
	for (int i = 0; i < n; i++)
		t->children[t->n_children++] = children[i];
	t->nodes[node].end = p->at;
	return true;
}

static int with_children(struct parser *p, enum lbx_formula_kind kind, int begin, int at, int n, const int *children)
{
	int node = add(p, kind, begin, at);

	return node >= 0 && set_children(p, node, n, children) ? node : -1;
}

/* ---- characters ---- */

static void skip(struct parser *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
}

static bool take(struct parser *p, const char *token)
{
	size_t n = strlen(token);

	skip(p);
	if (strncmp(p->text + p->at, token, n) != 0)
		return false;
	p->at += (int)n;
	return true;
}

static char peek(struct parser *p)
{
	skip(p);
	return p->text[p->at];
}

static bool starts_word(char c)
{
	return isalpha((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_of_word(char c)
{
	return starts_word(c) || isdigit((unsigned char)c);
}

static bool expect(struct parser *p, const char *token)
{
	if (take(p, token))
		return true;
	return p->text[p->at] ? lbx_formula_fail(p->tree, p->at, "'%s' is missing here", token)
			      : lbx_formula_fail(p->tree, p->at, "'%s' is missing at the end", token);
}

/* ---- operands ---- */

static int parse_or(struct parser *p);

static int parse_number(struct parser *p)
{
	int begin = p->at;
	const char *text = p->text + begin;
	char *end;
	bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	errno = 0;
	double number = strtod(text, &end);

	if (end == text) {
		lbx_formula_fail(p->tree, begin, "a number is malformed");
		return -1;
	}
	bool is_whole = true;
	for (const char *c = text; c < end; c++)
		is_whole &= isdigit((unsigned char)*c) || is_hex;
	p->at = begin + (int)(end - text);
	if (is_of_word(*end) || (is_hex && memchr(text, '.', (size_t)(end - text)))) {
		lbx_formula_fail(p->tree, begin,
				 "a number is malformed, or a name begins with a digit (put it in quotes)");
		return -1;
	}
	if (is_whole && number > LBX_FORMULA_WHOLE) {
		lbx_formula_fail(p->tree, begin, "a whole number is at most 2^53");
		return -1;
	}
	int node = add(p, LBX_FORMULA_NUMBER, begin, begin);
	if (node >= 0) {
		p->tree->nodes[node].number = number;
		p->tree->nodes[node].is_whole = is_whole;
	}
	return node;
}

static int parse_quoted(struct parser *p)
{
	int begin = p->at;
	const char *end = strchr(p->text + begin + 1, p->text[begin]);

	if (!end || end == p->text + begin + 1) {
		lbx_formula_fail(p->tree, begin, end ? "there is nothing between the quotes" : "the quote has no end");
		return -1;
	}
	p->at = (int)(end - p->text) + 1;
	return add(p, LBX_FORMULA_NAME, begin, begin);
}

/* #12, ggml#12, a::b, name@2 */
static int parse_name(struct parser *p)
{
	int begin = p->at;

	while (is_of_word(p->text[p->at]) ||
	       (p->text[p->at] == ':' && p->text[p->at + 1] == ':' && p->at > begin && starts_word(p->text[p->at + 2])))
		p->at += p->text[p->at] == ':' ? 2 : 1;
	if (p->text[p->at] == '#') {
		p->at++;
		if (p->text[p->at] == '$') { /* #$tensor_id */
			while (is_of_word(p->text[p->at]))
				p->at++;
			return add(p, LBX_FORMULA_NAME, begin, begin);
		}
		if (!isdigit((unsigned char)p->text[p->at])) {
			lbx_formula_fail(p->tree, p->at, "# is followed by a tensor's number, as in #12");
			return -1;
		}
		while (isdigit((unsigned char)p->text[p->at]))
			p->at++;
	}
	return add(p, LBX_FORMULA_NAME, begin, begin);
}

static void skip_word(struct parser *p)
{
	while (is_of_word(p->text[p->at]))
		p->at++;
}

/* Memory (operand/view.h): @0x7f00:f32:3x4, @w->data:(3, 4). A list without brackets ends at a comma, which may be a call's. */
static int parse_view(struct parser *p)
{
	int begin = p->at++;
	const char *text = p->text;

	skip_word(p);
	for (;;) {
		int n = text[p->at] == '.' ? 1 : strncmp(text + p->at, "->", 2) == 0 ? 2 : 0;
		if (n == 0 || !starts_word(text[p->at + n]))
			break;
		p->at += n;
		skip_word(p);
	}
	if (p->at == begin + 1) {
		lbx_formula_fail(p->tree, begin, "@ is followed by an address, as in @0x7f00:f32:3x4");
		return -1;
	}
	for (int part = 0; part < 3 && text[p->at] == ':'; part++) {
		p->at += part == 2 && text[p->at + 1] == '-' ? 2 : 1; /* a stride */
		size_t list = text[p->at] == '(' ? strcspn(text + p->at, ")") : 0;
		if (list && text[p->at + (int)list])
			p->at += (int)list + 1;
		else
			skip_word(p);
	}
	return add(p, LBX_FORMULA_NAME, begin, begin);
}

/* Up to `close`, of an open bracket. */
static int parse_list(struct parser *p, const char *close, int *items, int n)
{
	while (peek(p) != *close) {
		if (n == ITEMS_MOST) {
			lbx_formula_fail(p->tree, p->at, "more than %d elements", ITEMS_MOST);
			return -1;
		}
		items[n] = parse_or(p);
		if (items[n++] < 0)
			return -1;
		if (!take(p, ","))
			break;
	}
	return expect(p, close) ? n : -1;
}

static int parse_group(struct parser *p)
{
	int begin = p->at, items[ITEMS_MOST];
	bool is_list = p->text[begin] == '[';
	const char *close = is_list ? "]" : ")";

	p->at++;
	if (is_list || peek(p) == ')') {
		int n = parse_list(p, close, items, 0);
		return n < 0 ? -1 : with_children(p, LBX_FORMULA_TUPLE, begin, begin, n, items);
	}
	items[0] = parse_or(p);
	if (items[0] < 0)
		return -1;
	if (take(p, ",")) {
		int n = parse_list(p, close, items, 1);
		return n < 0 ? -1 : with_children(p, LBX_FORMULA_TUPLE, begin, begin, n, items);
	}
	if (!expect(p, close))
		return -1;
	p->tree->nodes[items[0]].is_grouped = true;
	p->tree->nodes[items[0]].open = begin;
	return items[0];
}

static int parse_atom(struct parser *p)
{
	char c = peek(p);

	if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->text[p->at + 1])))
		return parse_number(p);
	if (c == '\'' || c == '"')
		return parse_quoted(p);
	if (starts_word(c) || c == '#')
		return parse_name(p);
	if (c == '(' || c == '[')
		return parse_group(p);
	if (c == '@')
		return parse_view(p);
	if (c == '*' || c == '&')
		lbx_formula_fail(p->tree, p->at, "C's expressions stand in quotes within others: '*p' + 1");
	else
		lbx_formula_fail(p->tree, p->at,
				 c ? "a tensor or a number is missing here"
				   : "a tensor or a number is missing at the end");
	return -1;
}

/* ---- what follows an operand ---- */

static int begin_of(const struct parser *p, int node)
{
	const struct lbx_formula_node *n = &p->tree->nodes[node];

	return n->is_grouped ? n->open : n->begin;
}

/* A whole number with its sign; false, without an error: there is none. */
static bool take_whole(struct parser *p, int64_t *ret)
{
	int at;
	char *end;

	skip(p);
	at = p->at + (p->text[p->at] == '-' || p->text[p->at] == '+');
	if (!isdigit((unsigned char)p->text[at]))
		return false;
	errno = 0;
	*ret = strtoll(p->text + p->at, &end, 10);
	while (isspace((unsigned char)*end))
		end++;
	if (errno || !strchr(":,]", *end) || !*end)
		return false;
	p->at = (int)(end - p->text);
	return true;
}

static bool takes_new_axis(struct parser *p)
{
	static const char *const words[] = { "None", "newaxis", "np.newaxis" };

	skip(p);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i]);
		if (strncmp(p->text + p->at, words[i], n) == 0 && !is_of_word(p->text[p->at + (int)n])) {
			p->at += (int)n;
			return true;
		}
	}
	return false;
}

/* `a`, `a:b:c`, `...`, `None`; false, without an error: none of them. */
static bool take_plain_item(struct parser *p, struct lbx_slice_item *ret)
{
	*ret = (struct lbx_slice_item){ .kind = LBX_AT, .step = 1 };
	if (take(p, "...")) {
		ret->kind = LBX_ELLIPSIS;
		return true;
	}
	if (takes_new_axis(p)) {
		ret->kind = LBX_NEW_AXIS;
		return true;
	}
	ret->has_start = take_whole(p, &ret->start);
	if (!take(p, ":"))
		return ret->has_start;
	ret->kind = LBX_RANGE;
	ret->has_stop = take_whole(p, &ret->stop);
	if (take(p, ":") && !take_whole(p, &ret->step))
		ret->step = 1;
	char next = peek(p);
	return !next || next == ',' || next == ']';
}

static bool take_item(struct parser *p, struct lbx_slice_item *ret)
{
	int begin = p->at;
	bool is = take_plain_item(p, ret);

	if (!is)
		p->at = begin;
	return is;
}

/* An index that is computed, or a range with such bounds. */
static int parse_computed_item(struct parser *p)
{
	struct lbx_slice_item item = { .kind = LBX_AT, .step = 1 };
	int bounds[3], n = 0, begin = p->at;
	bool has[3] = { false };

	for (int i = 0; i < 3; i++) {
		char next = peek(p);
		has[i] = i == 0 ? next != ':' : !strchr(":,]", next);
		if (has[i] && (bounds[n++] = parse_or(p)) < 0)
			return -1;
		if (i == 2 || !take(p, ":"))
			break;
		item.kind = LBX_RANGE;
	}
	if (item.kind == LBX_AT)
		return bounds[0];
	int node = with_children(p, LBX_FORMULA_RANGE, begin, begin, n, bounds);
	if (node >= 0) {
		item.has_start = has[0];
		item.has_stop = has[1];
		p->tree->nodes[node].item = item;
	}
	return node;
}

static int parse_item(struct parser *p)
{
	struct lbx_slice_item item;
	int begin;

	skip(p);
	begin = p->at;
	if (!take_item(p, &item)) {
		p->indices++;
		int node = parse_computed_item(p);
		p->indices--;
		return node;
	}
	if (item.kind == LBX_RANGE && item.step == 0) {
		lbx_formula_fail(p->tree, begin, "a step is not 0");
		return -1;
	}
	int node = add(p, LBX_FORMULA_ITEM, begin, begin);
	if (node >= 0)
		p->tree->nodes[node].item = item;
	return node;
}

static int parse_index(struct parser *p, int of)
{
	int items[ITEMS_MOST + 1] = { of }, n = 1, at = p->at;

	p->at++;
	do {
		if (n > ITEMS_MOST) {
			lbx_formula_fail(p->tree, p->at, "more than %d indices", ITEMS_MOST);
			return -1;
		}
		items[n] = parse_item(p);
		if (items[n++] < 0)
			return -1;
	} while (take(p, ",") && peek(p) != ']');
	if (!expect(p, "]"))
		return -1;
	return with_children(p, LBX_FORMULA_INDEX, begin_of(p, of), at, n, items);
}

/* word=, but not word==. */
static bool take_keyword(struct parser *p, int *word, int *n)
{
	int at;

	skip(p);
	at = p->at;
	*word = at;
	if (!starts_word(p->text[at]))
		return false;
	while (is_of_word(p->text[at]))
		at++;
	*n = at - p->at;
	while (isspace((unsigned char)p->text[at]))
		at++;
	if (p->text[at] != '=' || p->text[at + 1] == '=')
		return false;
	p->at = at + 1;
	return true;
}

static int parse_argument(struct parser *p)
{
	int word, n_word;

	if (!take_keyword(p, &word, &n_word))
		return parse_or(p);
	int value = parse_or(p);
	int node = value < 0 ? -1 : with_children(p, LBX_FORMULA_KEYWORD, word, word, 1, &value);
	if (node >= 0) {
		p->tree->nodes[node].word = word;
		p->tree->nodes[node].n_word = n_word;
	}
	return node;
}

static int parse_call(struct parser *p, int of)
{
	int items[ITEMS_MOST + 1] = { of }, n = 1, at = p->at;

	p->at++;
	while (peek(p) != ')') {
		if (n > ITEMS_MOST) {
			lbx_formula_fail(p->tree, p->at, "more than %d arguments", ITEMS_MOST);
			return -1;
		}
		items[n] = parse_argument(p);
		if (items[n++] < 0)
			return -1;
		if (!take(p, ","))
			break;
	}
	if (!expect(p, ")"))
		return -1;
	return with_children(p, LBX_FORMULA_CALL, begin_of(p, of), at, n, items);
}

static int parse_member(struct parser *p, int of)
{
	int at = p->at, node;

	p->at += p->text[p->at] == '-' ? 2 : 1;
	skip(p);
	int word = p->at;
	while (is_of_word(p->text[p->at]))
		p->at++;
	if (p->at == word) {
		lbx_formula_fail(p->tree, word, "a name is missing behind '.'");
		return -1;
	}
	int end = p->at;
	node = with_children(p, LBX_FORMULA_MEMBER, begin_of(p, of), at, 1, &of);
	if (node >= 0) {
		p->tree->nodes[node].word = word;
		p->tree->nodes[node].n_word = end - word;
	}
	return node;
}

/* Which of several that have a name: x@2, x@lazy, x@thread:5929, x@$i (operand/by_name.h), without a space, which would make it
 * a product of matrices. Its length; 0: it is none. */
static int which(const struct parser *p)
{
	static const char thread[] = "thread:";
	const char *text = p->text + p->at, *end = text + 1;
	enum lbx_state state;
	char word[16];

	if (*text != '@')
		return 0;
	if (strncmp(end, thread, sizeof thread - 1) == 0)
		end += sizeof thread - 1;
	size_t n = strspn(end, "0123456789");
	if (n)
		return (int)(end + n - text);
	if (*end == '$' && is_of_word(end[1])) {
		while (is_of_word(*end))
			end++;
		return (int)(end - text);
	}
	while (isalpha((unsigned char)*end))
		end++;
	snprintf(word, sizeof word, "%.*s", (int)(end - text - 1), text + 1);
	return !is_of_word(*end) && lbx_state_parse(word, &state) ? (int)(end - text) : 0;
}

static int parse_postfix(struct parser *p)
{
	int node = parse_atom(p);

	while (node >= 0) {
		struct lbx_formula_node *n = &p->tree->nodes[node];
		if (which(p) && (n->kind == LBX_FORMULA_NAME || n->kind == LBX_FORMULA_MEMBER)) {
			p->at += which(p);
			n->end = p->at;
			continue;
		}
		char c = peek(p);
		if (c == '[')
			node = parse_index(p, node);
		else if (c == '(')
			node = parse_call(p, node);
		else if ((c == '.' && p->text[p->at + 1] != '.') || (c == '-' && p->text[p->at + 1] == '>'))
			node = parse_member(p, node);
		else
			break;
	}
	return node;
}

/* ---- operators ---- */

struct row {
	const char *token;
	enum lbx_formula_operator op;
};

static int parse_sign(struct parser *p);

static int parse_power(struct parser *p)
{
	int node = parse_postfix(p), at;

	if (node < 0)
		return -1;
	skip(p);
	at = p->at;
	if (!take(p, "**"))
		return node;
	int to = parse_sign(p);
	int both[2] = { node, to };
	int power = to < 0 ? -1 : with_children(p, LBX_FORMULA_BINARY, begin_of(p, node), at, 2, both);
	if (power >= 0)
		p->tree->nodes[power].op = LBX_TO_THE;
	return power;
}

static bool is_index_of_c(const struct lbx_formula_tree *tree, int node);

static int parse_sign(struct parser *p)
{
	char c = peek(p);
	int at = p->at;
	bool is_pointee = c == '*' && p->indices > 0; /* *p, *(p + 1): what the program has there */

	if (c != '-' && c != '+' && c != '~' && !is_pointee)
		return parse_power(p);
	if (++p->depth > LBX_FORMULA_DEPTH) {
		lbx_formula_fail(p->tree, at, "more than %d signs and brackets in each other", LBX_FORMULA_DEPTH);
		return -1;
	}
	p->at++;
	int of = parse_sign(p);
	p->depth--;
	if (of >= 0 && is_pointee && !is_index_of_c(p->tree, of)) {
		lbx_formula_fail(p->tree, at, "a variable of the program is missing behind '*'");
		return -1;
	}
	if (is_pointee)
		return of < 0 ? -1 : add(p, LBX_FORMULA_NAME, at, at);
	int node = of < 0 ? -1 : with_children(p, LBX_FORMULA_SIGN, at, at, 1, &of);
	if (node >= 0)
		p->tree->nodes[node].op = c == '-' ? LBX_MINUS : c == '+' ? LBX_PLUS : LBX_INVERT;
	return node;
}

/* From the strongest to the weakest; a token that is the beginning of another stands behind it. */
static const struct row levels[][8] = {
	{ { "@", LBX_MATRIX_TIMES },
	  { "//", LBX_FLOOR_OVER },
	  { "/", LBX_OVER },
	  { "%", LBX_MODULO },
	  { "*", LBX_TIMES } },
	{ { "+", LBX_PLUS }, { "-", LBX_MINUS } },
	{ { "<<", LBX_SHIFT_LEFT }, { ">>", LBX_SHIFT_RIGHT } },
	{ { "&", LBX_AND } },
	{ { "^", LBX_XOR } },
	{ { "|", LBX_OR } },
	{ { "==", LBX_IS_EQUAL },
	  { "!=", LBX_IS_NOT_EQUAL },
	  { "<=", LBX_IS_LESS_OR_EQUAL },
	  { ">=", LBX_IS_GREATER_OR_EQUAL },
	  { "<", LBX_IS_LESS },
	  { ">", LBX_IS_GREATER } },
};

enum { LEVELS = sizeof levels / sizeof *levels, COMPARISONS = LEVELS - 1 };

/* "<" is not taken of "<<", nor "&" of "&&". */
static const struct row *take_operator(struct parser *p, int level)
{
	skip(p);
	for (const struct row *r = levels[level]; r->token && r < levels[level] + 8; r++) {
		size_t n = strlen(r->token);
		const char *text = p->text + p->at;
		bool is_longer = n == 1 && *text && strchr("<>*&|", *text) && text[1] == *text;
		if (strncmp(text, r->token, n) == 0 && !is_longer) {
			p->at += (int)n;
			return r;
		}
	}
	return NULL;
}

static int parse_level(struct parser *p, int level)
{
	int node = level ? parse_level(p, level - 1) : parse_sign(p);
	const struct row *r;

	for (int n = 0; node >= 0; n++) {
		skip(p);
		int at = p->at;
		r = take_operator(p, level);
		if (!r)
			break;
		if (level == COMPARISONS && n > 0) {
			lbx_formula_fail(p->tree, at, "comparisons are not chained: (a < b) & (b < c)");
			return -1;
		}
		int right = level ? parse_level(p, level - 1) : parse_sign(p);
		int both[2] = { node, right };
		node = right < 0 ? -1 : with_children(p, LBX_FORMULA_BINARY, begin_of(p, node), at, 2, both);
		if (node >= 0)
			p->tree->nodes[node].op = r->op;
	}
	return node;
}

static bool is_at_word(const struct parser *p, const char *word)
{
	size_t n = strlen(word);

	return strncmp(p->text + p->at, word, n) == 0 && !is_of_word(p->text[p->at + (int)n]);
}

/* A whole expression. */
static int parse_or(struct parser *p)
{
	if (++p->depth > LBX_FORMULA_DEPTH) {
		lbx_formula_fail(p->tree, p->at, "more than %d signs and brackets in each other", LBX_FORMULA_DEPTH);
		return -1;
	}
	int node = parse_level(p, LEVELS - 1);
	p->depth--;
	if (node < 0)
		return -1;
	skip(p);
	if (strncmp(p->text + p->at, "&&", 2) == 0 || strncmp(p->text + p->at, "||", 2) == 0 || is_at_word(p, "and") ||
	    is_at_word(p, "or")) {
		lbx_formula_fail(p->tree, p->at, "elements are combined by & and |, with brackets: (x > 0) & (x < 1)");
		return -1;
	}
	return node;
}

/* Behind the > that closes what opens at a name's <, if a ( or :: follows there, as of C++'s templates; NULL: it is none. */
static const char *past_template(const char *open)
{
	int depth = 0;

	for (const char *c = open; *c; c++) {
		depth += strchr("<([", *c) ? 1 : strchr(">)]", *c) ? -1 : 0;
		if (depth > 0)
			continue;
		const char *end = *c == '>' ? c + 1 : NULL;
		for (c++; isspace((unsigned char)*c); c++)
			;
		return *c == '(' || strncmp(c, "::", 2) == 0 ? end : NULL;
	}
	return NULL;
}

/* What could not be read may be C++: foo<int>(x). Always false. */
static bool fail_template(const struct parser *p)
{
	for (const char *open = strchr(p->text, '<'); open; open = strchr(open + 1, '<')) {
		const char *name = open, *end = past_template(open);
		while (name > p->text && (is_of_word(name[-1]) || name[-1] == ':'))
			name--;
		int begin = (int)(name - p->text);
		if (end && name < open && begin <= p->at && p->text + p->at <= end) {
			lb_clear_error();
			return lbx_formula_fail(
			    p->tree, begin,
			    "'%.*s' is of C++, and none of what is computed here: in gdb it may stand "
			    "in quotes, as in 'Pool<4>::size' + 1",
			    (int)(end - name), name);
		}
	}
	return false;
}

bool lbx_formula_parse(const char *text, struct lbx_formula_tree *ret)
{
	struct parser p = { .tree = ret, .text = text };

	ret->text = text;
	ret->n = ret->n_children = 0;
	ret->root = parse_or(&p);
	if (ret->root < 0)
		return fail_template(&p);
	skip(&p);
	if (!text[p.at])
		return true;
	lbx_formula_fail(ret, p.at, "an operator is missing here, or this is too much");
	return fail_template(&p);
}

bool lbx_formula_parse_slice(const char *text, int at, struct lbx_formula_tree *ret)
{
	struct parser p = { .tree = ret, .text = text, .at = at };

	ret->text = text;
	ret->n = ret->n_children = 0;
	ret->root = add(&p, LBX_FORMULA_NAME, 0, 0);
	while (ret->root >= 0 && peek(&p) == '[')
		ret->root = parse_index(&p, ret->root);
	if (ret->root < 0)
		return false;
	return !text[p.at] || lbx_formula_fail(ret, p.at, "'[' is missing here");
}

/* ---- what a tree is ---- */

static bool is_path(const struct lbx_formula_tree *tree, int node, bool with_words);

/* What C may compute an index of: words, numbers and what is between them, but no comparison, which is a mask's. */
static bool is_index_of_c(const struct lbx_formula_tree *tree, int node)
{
	const struct lbx_formula_node *n = &tree->nodes[node];
	bool is_operator = (n->kind == LBX_FORMULA_BINARY && n->op < LBX_IS_EQUAL) ||
			   (n->kind == LBX_FORMULA_SIGN && n->op != LBX_INVERT);

	for (int i = 0; is_operator && i < n->n; i++)
		if (!is_index_of_c(tree, lbx_formula_child(tree, node, i)))
			return false;
	return is_operator || n->kind == LBX_FORMULA_NUMBER || is_path(tree, node, true);
}

static bool is_item_of_c(const struct lbx_formula_tree *tree, int node)
{
	const struct lbx_formula_node *n = &tree->nodes[node];

	if (n->kind != LBX_FORMULA_RANGE)
		return is_index_of_c(tree, node);
	for (int i = 0; i < n->n; i++)
		if (!is_index_of_c(tree, lbx_formula_child(tree, node, i)))
			return false;
	return true;
}

static bool is_path(const struct lbx_formula_tree *tree, int node, bool with_words)
{
	for (bool is_inner = false;; is_inner = true) {
		const struct lbx_formula_node *n = &tree->nodes[node];
		bool is_address = is_inner && n->kind == LBX_FORMULA_NUMBER && n->is_whole;
		if (n->kind == LBX_FORMULA_NAME || is_address)
			return true;
		if (n->kind != LBX_FORMULA_MEMBER && n->kind != LBX_FORMULA_INDEX)
			return false;
		for (int i = 1; n->kind == LBX_FORMULA_INDEX && i < n->n; i++) {
			int item = lbx_formula_child(tree, node, i);
			if (tree->nodes[item].kind != LBX_FORMULA_ITEM && !(with_words && is_item_of_c(tree, item)))
				return false;
		}
		node = lbx_formula_child(tree, node, 0);
		if (tree->nodes[node].is_grouped && !with_words) /* `(x)` is no name, but may be C's */
			return false;
	}
}

bool lbx_formula_is_path(const struct lbx_formula_tree *tree, int node)
{
	return is_path(tree, node, false);
}

bool lbx_formula_is_lookup(const struct lbx_formula_tree *tree, int node)
{
	return is_path(tree, node, true);
}

bool lbx_formula_is_word(const struct lbx_formula_tree *tree, int node, const char *word)
{
	const struct lbx_formula_node *n = &tree->nodes[node];
	bool is_name = n->kind == LBX_FORMULA_NAME;
	int begin = is_name ? n->begin : n->word, length = is_name ? n->end - n->begin : n->n_word;

	return (int)strlen(word) == length && memcmp(tree->text + begin, word, (size_t)length) == 0;
}
