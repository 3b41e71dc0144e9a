/* Writes safetensors. As the reference does, wider elements come first, so that all are
 * aligned; the header is padded with spaces, so that the data are. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "io/cursor.h"
#include "io/safetensors.h"
#include "io/save.h"

struct place {
	struct lb_safetensors_entry entry;
	lb_tensor *x;
	int number;
};

static int compare_entries(const void *a, const void *b)
{
	const struct place *p = a, *q = b;
	int64_t width = lb_dtypes[p->x->dtype].bytes, other = lb_dtypes[q->x->dtype].bytes;
	return width != other ? (width < other) - (width > other) : p->number - q->number;
}

static bool write_file(struct lb_writer *w, int n, const struct place *places, const struct lb_safetensors_metadata *m,
		       const void *site)
{
	size_t length;
	lb_auto_free struct lb_safetensors_entry *entries = malloc(((size_t)n + 1) * sizeof *entries);
	for (int i = 0; i < n && entries; i++)
		entries[i] = places[i].entry;
	lb_auto_free char *header = entries ? lb_safetensors_header(n, entries, m, &length) : NULL;
	if (!header)
		return lb_fail("%s: out of memory for the header", w->path);
	uint64_t prefix = length;
	bool ok = length <= LB_SAFETENSORS_HEADER_MAX ||
		  lb_fail("%s: a header of %zu bytes is more than safetensors allows", w->path, length);
	ok = ok && lb_writer_put(w, &prefix, sizeof prefix) && lb_writer_put(w, header, length);
	for (int i = 0; i < n && ok; i++)
		ok = lb_save_elements(w, places[i].x, site);
	return ok;
}

/* Every key and value is text, and no key comes twice. */
static bool check_metadata(const char *op, const struct lb_safetensors_metadata *m)
{
	char quoted[LB_QUOTED];
	for (int i = 0; i < m->n; i++) {
		const char *both[] = { m->keys[i], m->values[i] };
		for (int k = 0; k < 2; k++) {
			const char *which = k ? "value" : "key";
			if (!both[k])
				return lb_fail("%s: metadata %d: the %s is missing", op, i, which);
			if (!lb_is_text((const uint8_t *)both[k], strlen(both[k])))
				return lb_fail("%s: metadata %d: %s '%s' is not UTF-8", op, i, which,
					       lb_quoted((const uint8_t *)both[k], strlen(both[k]), quoted));
		}
		for (int k = 0; k < i; k++) {
			if (strcmp(m->keys[i], m->keys[k]) == 0)
				return lb_fail("%s: metadata '%.64s' is given twice", op, m->keys[i]);
		}
	}
	return true;
}

static bool save_tensors(const char *op, const char *path, int n, const char *const *names, lb_tensor *const *xs,
			 const struct lb_safetensors_metadata *m, const void *site)
{
	struct lb_writer w;
	if (!lb_save_prepare(op, path, n, names, xs, site) || !check_metadata(op, m))
		return false;
	lb_auto_free struct place *places = calloc((size_t)n + 1, sizeof *places);
	if (!places)
		return lb_fail("%s: out of memory for %d tensors", path, n);
	bool ok = true;
	for (int i = 0; i < n && ok; i++) {
		places[i] = (struct place){ { .name = names[i],
					      .dtype = (enum lb_dtype)xs[i]->dtype,
					      .rank = xs[i]->rank,
					      .shape = xs[i]->shape },
					    xs[i],
					    i };
		if (strcmp(names[i], "__metadata__") == 0)
			ok = lb_fail("%s: no tensor can be named __metadata__", op);
	}
	uint64_t at = 0;
	if (ok)
		qsort(places, (size_t)n, sizeof *places, compare_entries);
	for (int i = 0; i < n && ok; i++) {
		places[i].entry.begin = at;
		at += (uint64_t)lb_nbytes(places[i].x);
		places[i].entry.end = at;
	}
	return ok && lb_writer_begin(&w, path) && lb_writer_end(&w, write_file(&w, n, places, m, site));
}

bool lb_save_safetensors(const char *path, int n, const char *const *names, lb_tensor *const *xs)
{
	LB_ENTER();
	return save_tensors("save_safetensors", path, n, names, xs, &(struct lb_safetensors_metadata){ 0 }, site);
}

bool lb_save_safetensors_with(const char *path, int n, const char *const *names, lb_tensor *const *xs, int n_metadata,
			      const char *const *keys, const char *const *values)
{
	static const char op[] = "save_safetensors_with";
	LB_ENTER();
	if (n_metadata < 0)
		return lb_fail("%s: a list of %d metadata", op, n_metadata);
	if (!LB_GIVEN_LIST(op, n_metadata, keys) || !LB_GIVEN_LIST(op, n_metadata, values))
		return false;
	return save_tensors(op, path, n, names, xs, &(struct lb_safetensors_metadata){ n_metadata, keys, values },
			    site);
}
