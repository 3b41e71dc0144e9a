/* What several inspections say of a tensor. */
#ifndef LBX_DESCRIBE_H
#define LBX_DESCRIBE_H

#include "inspect/command.h"
#include "inspect/tensor/format.h"

/* Address of element 0; 0 while there is no value, or it lies outside the buffer. */
uint64_t lbx_tensor_data(const struct lbx_tensor *t);
enum { LBX_TYPE_MAX = LBX_LIST_MAX + 64 };
/* "float32 (2, 3)", or "of unknown shape". */
void lbx_describe_type(const struct lbx_tensor *t, char *ret, size_t size);
/* "x (#12, float32 (2, 3), ready)", in LBX_DESCRIPTION_MAX. */
enum { LBX_DESCRIPTION_MAX = LB_NAME_MAX + LBX_ID_TEXT_MAX + LBX_LIST_MAX + 64 };
void lbx_describe(const struct lbx_tensor *t, char *ret, size_t size);
const char *lbx_contiguity_name(enum lbx_contiguity contiguity);
/* One line: "main at photo.c:42", or the address. `pc` is a return address; 0: it is not known. */
void lbx_describe_pc(struct lbx_target *target, uint64_t pc, char *ret, size_t size);

/* What stands between a lazy tensor and its value. */
struct lbx_pending {
	int64_t ops, views; /* not yet computed, the tensor itself included */
	int64_t leaves;     /* distinct ready tensors that they start from */
	int64_t lost;       /* values that no replay can bring back */
	bool capped;        /* there are more */
	bool is_translated; /* into operations of ours, which may lack one: tensors/recipe.h */
};
void lbx_pending(const struct lbx_tensor *t, struct lbx_pending *ret);
/* "peek would replay 3 operations from 2 ready tensors"; "would have to" where it may lack one of them */
void lbx_describe_pending(const struct lbx_pending *pending, char *ret, size_t size);

#endif
