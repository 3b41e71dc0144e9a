/* What the parts of the program share. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdbool.h>

void stop_if(bool failed, const char *what);
/* Of the library; it must be there. */
void *function(const char *name);

/* Prints how many results there are. */
void compute_operations(void);

/* repacked.c; prints the types whose blocks were put into another order. */
void compute_repacked(void);

/* whisper.c; prints "decoded". */
void compute_whisper(const char *model);

/* trace.c */
void write_trace(void);

#endif
