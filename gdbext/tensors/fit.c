#include "tensors/fit.h"

#include "base/error.h"

enum {
	ONE_IN = 20, /* may not fit: a word that only looks like an object, or one that is being made */
	OTHERS = 3, /* or so many, where TELLING tell */
	TELLING = 16,
};

static size_t least(size_t n)
{
	return n - n / ONE_IN;
}

size_t lbx_fit_least(size_t n)
{
	return n < OTHERS ? 0 : least(n) < n - OTHERS ? least(n) : n - OTHERS;
}

bool lbx_fit_is_good(const struct lbx_fit *fit)
{
	return fit->n && fit->n_fits >= least(fit->n);
}

bool lbx_fit_is_told(const struct lbx_fit *fit)
{
	return fit->n - fit->n_fits <= OTHERS && fit->n_tell >= TELLING;
}

bool lbx_fit_fail(const char *library, const char *objects, int n, const struct lbx_fit *best)
{
	if (!best->n)
		return lb_fail("the program has %s, but no %s of it", library, objects);
	if (n > 1)
		return lb_fail(
		    "the program has %s, in a version whose %s cannot be read: more than one layout fits %s%zu",
		    library, objects, best->n < ONE_IN ? "so few: " : "the ", best->n);
	if (lbx_fit_is_good(best))
		return lb_fail(
		    "the program has %s, but its %s do not tell where their fields are: %zu, none with elements",
		    library, objects, best->n);
	if (best->n >= ONE_IN)
		return lb_fail(
		    "the program has %s, in a version whose %s cannot be read: no layout fits 95%% of them; the "
		    "best fits %zu of %zu",
		    library, objects, best->n_fits, best->n);
	return lb_fail(
	    "the program has %s, but too few %s to tell where their fields are: of %zu the best layout fits %zu; "
	    "of fewer than %d all must fit",
	    library, objects, best->n, best->n_fits, ONE_IN);
}
