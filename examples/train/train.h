/* The text, the model and its loss. */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include "common/checkpoint.h"

#define DEFAULT_TEXT "/usr/share/common-licenses/GPL-3"
enum { HEAD_SIZE = 32 };

struct options {
	const char *text, *out;
	int64_t steps, width, layers, context, batch; /* width: in heads */
	double rate;
	uint64_t seed;
	bool buggy;
};

/* A stretch of tokens. */
struct stretch {
	const int32_t *tokens;
	int64_t n;
};

struct text {
	int32_t *tokens;
	struct stretch train, held_out; /* of tokens */
	struct alphabet alphabet;
};

/* Reads a file; needs more than two contexts of it. False, having complained. */
bool text_read(struct text *text, const char *path, int64_t context);

/* The weights are the list's: it keeps them, and the optimiser replaces them there. The model is
 * how the loss sees them; it has those of the call that is under way. */
struct training {
	const struct options *options;
	struct text text;
	struct model model;
	int n;
	lb_tensor **weights, **gradients, ***places; /* places: in the model */
	lb_tensor *inputs, *targets; /* i32 (batch, context), of the scope that drew them */
	lb_tensor *mean;             /* kept; of the bug */
};

bool training_init(struct training *training, const struct options *options);
void training_release(struct training *training); /* fine after a failure */
int64_t training_size(const struct training *training); /* numbers to learn */
/* Draws the inputs and targets of a step. */
void training_draw(struct training *training, const struct stretch *from, uint64_t step);
/* An lb_function: of all weights, the loss; the context is the training. */
bool training_loss(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out);
/* The mean loss over some of the held-out text. */
double training_evaluate(struct training *training);
/* Puts the list's weights into the model. */
void training_restore(struct training *training);

#endif
