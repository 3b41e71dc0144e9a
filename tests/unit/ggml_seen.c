#include "ggml_seen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/error.h"
#include "ggml/ggml.h"

struct ggml_image image;
struct lbx_tensors *set;

void ggml_begin(bool exports, uint64_t pool, uint64_t context)
{
	ggml_image_create(&image, 0, exports, pool);
	ggml_image_context(&image, context);
}

static void forget(void)
{
	lbx_tensors_close(set);
	set = NULL;
	lb_clear_error();
}

int ggml_finish(void **state)
{
	(void)state;
	forget();
	ggml_image_destroy(&image);
	return 0;
}

bool ggml_look(struct lbx_stacks *stacks)
{
	forget();
	return lbx_ggml_open(&image.target, stacks, NULL, NULL, &set);
}

void ggml_see(struct lbx_stacks *stacks)
{
	if (!ggml_look(stacks))
		fail_msg("%s", lb_error_message());
}

bool ggml_named(const char *name, struct lbx_tensor *ret)
{
	uint64_t slot = 0, bad = 0;

	while (lbx_tensors_next(set, &slot, ret, &bad) == LBX_NEXT_TENSOR)
		if (strcmp(ret->name, name) == 0)
			return true;
	return false;
}

uint64_t ggml_tensor(const char *name, uint32_t type, const int64_t ne[LBX_GGML_AXES])
{
	uint64_t at = ggml_image_tensor(&image, name, type, ne);

	ggml_image_allocate(&image, at);
	return at;
}

uint64_t ggml_node(const char *name, uint32_t op, const int64_t ne[LBX_GGML_AXES], uint64_t a, uint64_t b)
{
	uint64_t at = ggml_image_node(&image, name, op, ne, a, b);

	ggml_image_allocate(&image, at);
	return at;
}

uint64_t ggml_graph(const uint64_t *nodes, uint64_t n)
{
	uint64_t graph = ggml_image_object(&image, 1, 0x100);

	ggml_image_put(&image, graph, n, 4);
	ggml_image_put(&image, graph + 4, n, 4);
	ggml_image_put(&image, graph + 0x10, graph + GGML_LISTED, 8);
	for (uint64_t i = 0; i < n; i++)
		ggml_image_put(&image, graph + GGML_LISTED + 8 * i, nodes[i], 8);
	return graph;
}
