/* What stands behind the classes of libstdc++ and of libc++: the object of a smart pointer, of a std::optional or a std::variant, the
 * elements of a sequence, a map or a tuple. They are known by the names of the classes and of what these are made of, in
 * the program's debug information; what is not made as expected is none of them. Nothing of the program is called. */
#ifndef LBX_CONTAINERS_H
#define LBX_CONTAINERS_H

#include <elfutils/libdw.h>

#include "target/target.h"

/* An object in memory; its type without typedefs. */
struct lbx_object {
	Dwarf_Die type;
	int tag;
	uint64_t address;
};

enum lbx_container_kind {
	LBX_LEADS, /* a smart pointer */
	LBX_HOLDS, /* one object in itself, or none */
	LBX_SEQUENCE, /* elements that have numbers */
	LBX_LIST, /* likewise, each of which leads to the next; also of a set, and the pairs of a multimap, or of
		       * a map whose keys are neither texts nor numbers */
	LBX_MAP,
	LBX_TUPLE,
	LBX_UNREAD, /* what it holds is not known: `nothing` says why, as that it is damaged */
};

/* LBX_KEY_MAX: each character of a text may have a \ in front, and the whole has quotes. */
enum { LBX_KEY_TEXT = 48, LBX_KEY_MAX = 2 * LBX_KEY_TEXT + 2, LBX_TUPLE_MAX = 16 };

struct lbx_container {
	enum lbx_container_kind kind;
	const char *nothing; /* why there is no object: "is null", "is empty", "has expired"; or NULL */
	/* Of a smart pointer, the type of a plain one and what it leads to, or 0; the object that is held; of others the whole. */
	struct lbx_object object;
	uint64_t n; /* elements; of a tuple as many as may be, of which some are left out */
	int alternative; /* of a std::variant, which one it holds; else -1 */
	bool is_of_array; /* of a smart pointer: what it leads to is the first of several */
	/* How the elements are reached. */
	struct lbx_object element; /* the type; of a map, of its pairs; where the first one is */
	uint64_t width;
	uint64_t block, blocks; /* of a std::deque: elements in each, and where their addresses are; or 0 */
	/* Of a map or a list: the next node, how many were before it, one of those; where the element is in a node; what the last
	 * one leads to. */
	uint64_t node, passed, seen, value_at, end;
	const int *
	    links; /* where a node of a tree leads to: left, right, its parent; NULL: to the next one, by the word at link_at */
	uint64_t link_at;
};

/* Of the object of a class. False, without error, where it is none of these, or does not look as expected. */
bool lbx_container_find(struct lbx_target *target, const struct lbx_object *object, struct lbx_container *ret);

/* Element i of a sequence, a list or a tuple. False: there is none, or it cannot be reached. */
bool lbx_container_at(struct lbx_target *target, const struct lbx_container *c, uint64_t i, struct lbx_object *ret);
/* The value of the next element of a map or a list; the key is as C++ would write it: "fc1" in its quotes, 7; "" where it is
 * neither a string nor a number; a list's are 0, 1, 2, …. False: there is no more (c->passed is c->n), or it cannot be read. */
bool lbx_container_next(struct lbx_target *target, struct lbx_container *c, struct lbx_object *ret,
			char key[LBX_KEY_MAX]);

/* The key by which a map would have a string, a number or an enumerator, as lbx_container_next() writes it; "": it is none. */
void lbx_container_key(struct lbx_target *target, const struct lbx_object *key, char ret[LBX_KEY_MAX]);

/* Which part of a std::tuple or std::pair, or which alternative of a std::variant, is of a type, by the name that C++ gives it,
 * whatever namespaces are around it; -1: none. */
int lbx_container_part(struct lbx_target *target, const struct lbx_object *whole, const char *type);
/* The name of that type, or NULL. */
const char *lbx_container_part_name(struct lbx_target *target, const struct lbx_object *whole, int i);

/* The record that an object stands for: what PyTorch's at::Tensor, MLX's array and mlx-c's mlx_array lead to, also within a
 * std::optional or behind a smart pointer.
 * Likewise; 0 of a tensor that is undefined. */
bool lbx_container_record(struct lbx_target *target, const struct lbx_object *object, uint64_t *ret);

/* The only member of a class, where it is not public, and is a pointer or has such a class: what a wrapper wraps. */
bool lbx_wrapper_member(const struct lbx_object *object, struct lbx_object *ret);

#endif
