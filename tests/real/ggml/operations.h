/* What the parts of the program share. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdbool.h>

void stop_if(bool failed, const char *what);
/* Of the library; it must be there. */
void *function(const char *name);
/* Of a llama_context, as many as the text says; NULL, and a library without such a function: as many as it has. */
void set_threads(void *context, const char *n);

/* Prints how many results there are. */
void compute_operations(void);

/* repacked.c; prints the types whose blocks were put into another order. */
void compute_repacked(void);

/* kinds.c; of the tokens, and of the lines of stdin. */
void print_logits(const char *model, const char *ids);
void print_tokens(const char *model);

/* whisper.c; prints "decoded". */
void compute_whisper(const char *model);

/* trace.c */
void write_trace(void);

#endif
