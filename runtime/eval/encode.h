/* The instructions of eval/code.h, for each machine that there are some for. They are only bytes:
 * any machine can write them, one runs them. */
#ifndef LB_EVAL_ENCODE_H
#define LB_EVAL_ENCODE_H

#include <stddef.h>
#include <stdint.h>

struct lb_encoding {
	const void *prologue, *call, *epilogue;
	size_t prologue_bytes, call_bytes, epilogue_bytes;
	/* Puts its number, and how many bytes after its beginning the epilogue begins, into a
	 * call. */
	void (*finish_call)(void *call, uint32_t number, size_t to_end);
};

extern const struct lb_encoding lb_encoding_x86_64, lb_encoding_aarch64;
/* This machine's; of no bytes when there is none. */
extern const struct lb_encoding *const lb_encoding_own;

/* Where call number i begins. */
size_t lb_encoding_offset(const struct lb_encoding *encoding, uint32_t i);
/* Bytes of the code of n calls. */
size_t lb_encoding_bytes(const struct lb_encoding *encoding, uint32_t n);
/* Writes them. */
void lb_encode(const struct lb_encoding *encoding, void *to, uint32_t n);

#endif
