/* "1 tensor", "2 tensors": printf("%d tensor%s", n, LB_S(n)). */
#ifndef LB_BASE_PLURAL_H
#define LB_BASE_PLURAL_H

#define LB_PLURAL(n, one, many) ((n) == 1 ? (one) : (many))
#define LB_S(n) LB_PLURAL(n, "", "s")

#endif
