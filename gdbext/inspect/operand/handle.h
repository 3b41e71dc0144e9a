/* Types of the values by which a program knows its tensors: lb_tensor *, ggml_tensor *. */
#ifndef LBX_HANDLE_H
#define LBX_HANDLE_H

#include "inspect/context.h"

enum lbx_handle {
	LBX_NO_HANDLE,
	LBX_HANDLE,       /* a pointer to a tensor's record, or a reference to such a pointer */
	LBX_HANDLE_RECORD /* a record itself */
};

/* Of a type as a debugger writes it, "const struct ggml_tensor *", and whose tensors those are. */
enum lbx_handle lbx_handle_of_type(const struct lbx_context *context, const char *type,
				   const struct lbx_provider **ret);
/* Whether a type has to do with such records at all, "lb_tensor *[4]". */
bool lbx_type_is_of_handles(const struct lbx_context *context, const char *type);
/* What a record of the tensor is in C: "ggml_tensor"; "" if it has no such type. */
const char *lbx_record_type(const struct lbx_context *context, const struct lbx_tensor *t);
/* The provider's tensors, where the program has any; else NULL. */
struct lbx_tensors *lbx_handle_tensors(const struct lbx_context *context, const struct lbx_provider *provider);
/* "an lb_tensor * or a ggml_tensor *": of those whose tensors the program has. */
void lbx_describe_handles(const struct lbx_context *context, char *ret, size_t size);

#endif
