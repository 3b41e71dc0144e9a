/* A model that writes text byte by byte, as examples/train saves it: a safetensors file with the
 * names of Hugging Face's checkpoints, and the config in its metadata. */
#ifndef COMMON_CHECKPOINT_H
#define COMMON_CHECKPOINT_H

#include "common/model.h"

/* The bytes that the text is made of, in order: token i is bytes[i]. */
struct alphabet {
	int n;
	unsigned char bytes[256];
	int16_t tokens[256]; /* of each byte, or -1 */
};

/* Of all bytes that are marked. */
void alphabet_init(struct alphabet *alphabet, const bool used[256]);
/* The tokens of a text, which the caller frees; NULL, having complained, if a byte has none. */
int32_t *alphabet_encode(const struct alphabet *alphabet, const char *text, size_t n);

/* False, having complained or with a runtime error. */
bool checkpoint_save(const char *path, struct model *model, const struct alphabet *alphabet);
/* Fills in both; the model is to be released in any case. */
bool checkpoint_load(const char *path, struct model *model, struct alphabet *alphabet);

#endif
