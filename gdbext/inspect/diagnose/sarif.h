#ifndef LBX_SARIF_H
#define LBX_SARIF_H

#include "inspect/diagnose/diagnosis.h"

/* The findings as a SARIF 2.1.0 document (OASIS, Static Analysis Results Interchange Format), which editors and CI read:
 * those that have a line of source lead there. */
void lbx_sarif(struct lbx_out *out, const struct lbx_diagnosis *diagnosis);

#endif
