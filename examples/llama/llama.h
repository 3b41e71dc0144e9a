/* A model and its tokenizer out of files. */
#ifndef LLAMA_LLAMA_H
#define LLAMA_LLAMA_H

#include "common/model.h"
#include "tokenizer.h"

struct llama {
	struct model model;
	struct tokenizer *tokenizer;
};

/* Opens a .gguf file, or a folder with config.json, tokenizer.json and *.safetensors. False, having
 * complained or with a runtime error. llama_close() is fine after both. */
bool llama_open(struct llama *llama, const char *path);
void llama_close(struct llama *llama);

/* gguf.c and folder.c */
bool llama_open_gguf(struct llama *llama, const char *path);
bool llama_open_folder(struct llama *llama, const char *path);

#endif
