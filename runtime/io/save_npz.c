/* Writes .npz. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "io/npy.h"
#include "io/save.h"
#include "io/zip.h"
#include "io/zip_write.h"

static bool write_member(struct lb_writer *w, struct lb_zip_member *m, lb_tensor *x, const void *site)
{
	char header[LB_NPY_WRITTEN];
	size_t n;
	bool ok = false;
	if (!lb_npy_write_header((enum lb_dtype)x->dtype, x->rank, x->shape, header, &n))
		return false;
	LB_SCOPE {
		const void *data = lb_save_data(x, site);
		if (!data)
			continue;
		m->size = n + (uint64_t)lb_nbytes(x);
		m->crc = lb_crc32(lb_crc32(0, header, n), data, (size_t)lb_nbytes(x));
		ok = lb_zip_begin_member(w, m) && lb_writer_put(w, header, n) &&
		     lb_writer_put(w, data, (size_t)lb_nbytes(x));
	}
	return ok;
}

static bool write_archive(struct lb_writer *w, int n, struct lb_zip_member *members, lb_tensor *const *xs,
			  const void *site)
{
	for (int i = 0; i < n; i++) {
		if (!write_member(w, &members[i], xs[i], site))
			return false;
	}
	return lb_zip_end(w, n, members);
}

bool lb_save_npz(const char *path, int n, const char *const *names, lb_tensor *const *xs)
{
	LB_ENTER();
	enum { NAME_MAX_BYTES = 60000 };
	struct lb_writer w;
	if (!lb_save_prepare("save_npz", path, n, names, xs, site))
		return false;
	lb_auto_free struct lb_zip_member *members = calloc((size_t)n + 1, sizeof *members);
	if (!members)
		return lb_fail("%s: out of memory for %d members", path, n);
	bool ok = true;
	for (int i = 0; i < n && ok; i++) {
		members[i].name = names[i];
		if (strlen(names[i]) > NAME_MAX_BYTES)
			ok = lb_fail("save_npz: name %d is longer than %d bytes", i, NAME_MAX_BYTES);
	}
	return ok && lb_writer_begin(&w, path) && lb_writer_end(&w, write_archive(&w, n, members, xs, site));
}
