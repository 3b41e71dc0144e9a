/* Integers that stand for numbers: scales of 8 bits, and codes of 8 bits four to a word, have a code
 * for NaN. So a NaN goes back through them, too, and through what only moves them. */
#ifndef LBX_CODES_H
#define LBX_CODES_H

#include "inspect/origin/look.h"

enum lbx_codes { LBX_NO_CODES, LBX_E8M0, LBX_E4M3 };

/* What input i of a tensor on the way holds, `codes` being what the tensor itself holds. */
enum lbx_codes lbx_codes_of_input(const struct lbx_tensor *t, enum lbx_codes codes, int op, uint32_t i);
/* If the link holds codes: sets its summary and part, as far as they are known, to what they hold. */
bool lbx_look_at_codes(struct lbx_search *search, struct lbx_origin_link *link);

#endif
