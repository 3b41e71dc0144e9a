/* BERT's encoder: a transformer that reads a whole sentence at once, both ways. */
#ifndef MINILM_ENCODER_H
#define MINILM_ENCODER_H

#include "lazybones.h"

/* x weight^T + bias, or a norm's factors and what it adds. */
struct affine {
	lb_tensor *weight, *bias;
};

struct encoder_layer {
	struct affine query, key, value, attention, attention_norm;
	struct affine hidden, output, output_norm;
};

struct encoder {
	int64_t vocabulary, width, hidden, heads, n_layers;
	int64_t longest; /* tokens of a sentence, at most */
	double epsilon;
	lb_tensor *words, *positions, *kinds; /* rows that are added up */
	struct affine norm;
	struct encoder_layer *layers;
	bool without_mask; /* the bug: padding is read as if it were text */
};

/* From a folder with config.json and model.safetensors, whose names the tensors keep. False, having
 * complained or with a runtime error; encoder_close() is fine then, too. */
bool encoder_open(struct encoder *encoder, const char *folder);
void encoder_close(struct encoder *encoder);

/* The mean of what it makes of each sentence's tokens, f32 (sentences, width), lazily. tokens:
 * integers (sentences, length); mask: bool, the same shape, true where there is a token. NULL on
 * error. */
lb_tensor *encoder_forward(const struct encoder *encoder, lb_tensor *tokens, lb_tensor *mask);

#endif
