/* What the code of a class's accessors says of where its fields are. */
#ifndef LBX_TORCH_ACCESSORS_H
#define LBX_TORCH_ACCESSORS_H

#include <stdbool.h>
#include <stdint.h>

enum { LBX_TORCH_CODE = 32 /* bytes of a function, from its beginning on */ };

/* Of a function that returns the address of a field: where that is, in bytes. `machine` is an EM_… of ELF. False, quietly, where
 * the code is another. */
bool lbx_torch_code_gradient(unsigned machine, const unsigned char *code, uint32_t *ret);
/* Of one that says whether a byte is set or a word is not 0. Likewise. */
bool lbx_torch_code_requires(unsigned machine, const unsigned char *code, uint32_t *ret_byte, uint32_t *ret_word);

#endif
