/* A captured graph as a listing (symtab.h), each op with the program's call that made it: what is
 * left of those calls when the graph has been simplified and fused. */
#include <stdlib.h>
#include <string.h>

#include "compile/image.h"
#include "eval/listing.h"
#include "eval/step.h"

static uint64_t name_bytes(const char *name)
{
	return name ? strnlen(name, LB_NAME_MAX) + 1 : 0;
}

static const char *tensor_name(const struct lb_tensor *t)
{
	return (const char *)(uintptr_t)t->name;
}

static uint32_t add_text(const struct lb_listing *listing, char *texts, uint32_t *used, const char *text)
{
	if (!text)
		return 0;
	uint32_t at = *used;
	size_t n = strnlen(text, LB_NAME_MAX);
	if (texts + at + n + 1 > (const char *)listing + listing->size) /* longer since it was measured */
		return 0;
	memcpy(texts + at, text, n);
	*used += (uint32_t)n + 1; /* the memory was zero */
	return at;
}

/* A line, from 1: nodes, then inputs, then what was captured. */
static uint32_t place_of(const struct lb_image *image, struct lb_value v)
{
	uint32_t first = v.kind == LB_VALUE_NODE    ? 0
			 : v.kind == LB_VALUE_INPUT ? image->n_nodes
						    : image->n_nodes + image->n_in;
	return first + v.index + 1;
}

static struct lb_listing *new_listing(const struct lb_image *image, const char *name)
{
	uint64_t n = (uint64_t)image->n_nodes + image->n_in + image->n_captured;
	uint64_t texts = 1 + name_bytes(name);
	for (uint32_t i = 0; i < image->n_nodes; i++)
		texts += name_bytes(image->nodes[i].name);
	for (uint32_t i = 0; i < image->n_captured; i++)
		texts += name_bytes(tensor_name(image->captured[i]));
	uint64_t size = sizeof(struct lb_listing) + n * sizeof(struct lb_listing_line) +
			image->n_operands * sizeof(uint32_t) + texts;
	struct lb_listing *listing = image->n_nodes && size < 1 << 26 ? calloc(1, size) : NULL;
	if (listing)
		*listing = (struct lb_listing){
			.magic = LB_LISTING_MAGIC,
			.size = size,
			.n_lines = image->n_nodes,
			.n_inputs = image->n_in + image->n_captured,
			.n_operands = image->n_operands,
		};
	return listing;
}

void lb_image_list(const struct lb_image *image, const char *name)
{
	struct lb_listing *listing = lb_step_wanted() ? new_listing(image, name) : NULL;
	if (!listing)
		return;
	struct lb_listing_line *lines = (struct lb_listing_line *)(listing + 1), *line = lines;
	uint32_t *operands = (uint32_t *)(lines + listing->n_lines + listing->n_inputs), used = 1;
	char *texts = (char *)(operands + listing->n_operands);
	listing->title = add_text(listing, texts, &used, name);
	for (uint32_t i = 0; i < image->n_nodes; i++, line++) {
		const struct lb_node_image *node = &image->nodes[i];
		lb_listing_describe(line, &node->like);
		line->name = add_text(listing, texts, &used, node->name);
		line->operands = node->first_operand;
		line->n_operands = node->n_operands;
	}
	for (uint32_t i = 0; i < image->n_in; i++)
		lb_listing_describe(line++, &image->inputs[i]);
	for (uint32_t i = 0; i < image->n_captured; i++, line++) {
		lb_listing_describe(line, image->captured[i]);
		line->name = add_text(listing, texts, &used, tensor_name(image->captured[i]));
	}
	for (uint32_t i = 0; i < image->n_operands; i++)
		operands[i] = place_of(image, image->operands[i]);
	for (uint32_t i = 0; i < image->n_out; i++) {
		if (image->outputs[i].kind == LB_VALUE_NODE)
			lines[image->outputs[i].index].stays = 1;
	}
	lb_step_keep(listing);
}
