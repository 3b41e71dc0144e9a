/* What files say of themselves: lookups over the list that a format has filled in. */
#include <string.h>

#include "io/file.h"

const struct lb_metadata *lb_file_find_metadata(const struct lb_file *file, const char *key)
{
	for (int64_t i = 0; i < file->n_metadata; i++) {
		if (strcmp(file->metadata[i].key, key) == 0)
			return &file->metadata[i];
	}
	return NULL;
}

int64_t lb_file_metadata_count(const lb_file *file)
{
	return LB_GIVEN_HERE("file_metadata_count", file) ? file->n_metadata : 0;
}

const char *lb_file_metadata_key(const lb_file *file, int64_t i)
{
	LB_ENTER();
	(void)site;
	if (!LB_GIVEN("file_metadata_key", file))
		return NULL;
	if (i < 0 || i >= file->n_metadata) {
		lb_fail("%s: no metadata number %lld, there are %lld", file->mapping->path, (long long)i,
			(long long)file->n_metadata);
		return NULL;
	}
	return file->metadata[i].key;
}

const char *lb_file_metadata(const lb_file *file, const char *key)
{
	if (!LB_GIVEN_HERE("file_metadata", file) || !LB_GIVEN_HERE("file_metadata", key))
		return NULL;
	const struct lb_metadata *m = lb_file_find_metadata(file, key);
	return m ? m->text : NULL;
}

int64_t lb_file_metadata_length(const lb_file *file, const char *key)
{
	if (!LB_GIVEN_HERE("file_metadata_length", file) || !LB_GIVEN_HERE("file_metadata_length", key))
		return -1;
	const struct lb_metadata *m = lb_file_find_metadata(file, key);
	return m ? (int64_t)m->count : -1;
}

/* The metadata under a key, or an error. */
static struct lb_metadata *want(struct lb_file *file, const char *key)
{
	const struct lb_metadata *m = lb_file_find_metadata(file, key);
	if (!m)
		lb_fail("%s: no metadata '%.64s'", file->mapping->path, key);
	return (struct lb_metadata *)m;
}

const char *lb_file_metadata_string(lb_file *file, const char *key, int64_t i, size_t *nbytes)
{
	static const char op[] = "file_metadata_string";
	LB_ENTER();
	(void)site;
	if (!LB_GIVEN(op, file) || !LB_GIVEN(op, key) || !LB_GIVEN(op, nbytes))
		return NULL;
	struct lb_metadata *m = want(file, key);
	if (!m)
		return NULL;
	if (m->type != LB_VALUE_STRING || i < 0 || (uint64_t)i >= m->count) {
		lb_fail("%s: metadata '%.64s': no string number %lld", file->mapping->path, key, (long long)i);
		return NULL;
	}
	if (!m->is_array) {
		*nbytes = strlen(m->text);
		return m->text;
	}
	if ((uint64_t)i < m->next) {
		m->next = 0;
		m->next_at = m->at;
	}
	struct lb_cursor c = lb_mapping_cursor(file->mapping);
	const uint8_t *text = NULL;
	uint64_t n = 0;
	c.at = m->next_at;
	for (; m->next <= (uint64_t)i; m->next++, m->next_at = c.at) {
		if (!lb_cursor_u64(&c, "metadata string", &n) || !lb_cursor_take(&c, "metadata string", n, &text))
			return NULL;
	}
	*nbytes = n;
	return (const char *)text;
}

lb_tensor *lb_file_metadata_tensor(lb_file *file, const char *key)
{
	static const enum lb_dtype dtypes[LB_VALUE_TYPES] = {
		[LB_VALUE_U8] = LB_U8,   [LB_VALUE_I8] = LB_I8,   [LB_VALUE_U16] = LB_U16, [LB_VALUE_I16] = LB_I16,
		[LB_VALUE_U32] = LB_U32, [LB_VALUE_I32] = LB_I32, [LB_VALUE_F32] = LB_F32, [LB_VALUE_BOOL] = LB_BOOL,
		[LB_VALUE_U64] = LB_U64, [LB_VALUE_I64] = LB_I64, [LB_VALUE_F64] = LB_F64,
	};
	LB_ENTER();
	if (!LB_GIVEN("file_metadata_tensor", file) || !LB_GIVEN("file_metadata_tensor", key))
		return NULL;
	const struct lb_metadata *m = want(file, key);
	if (!m)
		return NULL;
	if (m->type == LB_VALUE_STRING) {
		lb_fail("%s: metadata '%.64s' is text, not numbers: lb_file_metadata_string() reads it",
			file->mapping->path, key);
		return NULL;
	}
	struct lb_array array = {
		.dtype = dtypes[m->type], .rank = 1, .shape = { (int64_t)m->count }, .at = m->at, .nbytes = m->nbytes
	};
	return lb_array_in_file(&array, file->mapping, false, key, site);
}
