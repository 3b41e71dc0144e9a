/* Real numbers in JSON, with no more digits than it takes to read the same number back: 0.9, not 0.90000000000000002. */
#ifndef LBX_REALS_H
#define LBX_REALS_H

/* In place, in JSON that was written with 17 digits; texts stay as they are. */
void lbx_shorten_reals(char *json);

#endif
