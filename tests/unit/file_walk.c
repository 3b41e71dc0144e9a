#include "file_walk.h"

#include <stdlib.h>
#include <string.h>

/* Touches all elements of x, and the bytes that they are made of. */
static bool read_all(lb_tensor *x, int64_t max_bytes)
{
	if (!x)
		return false;
	if (lb_nbytes(x) > max_bytes)
		return true;
	void *copy = malloc((size_t)lb_nbytes(x) + 1);
	bool ok = copy && lb_copy_out(x, copy, (size_t)lb_nbytes(x));
	free(copy);
	return ok;
}

static bool walk_tensors(lb_file *file, int64_t max_bytes)
{
	bool ok = true;
	for (int64_t i = 0; i < lb_file_count(file); i++)
		LB_SCOPE {
			const char *name = lb_file_name(file, i);
			ok &= read_all(lb_file_get_at(file, i), max_bytes);
			ok &= read_all(lb_file_get_raw(file, name), max_bytes);
			lb_quantized q;
			lb_quant how;
			ok &= lb_file_get_quantized(file, name, &q, &how);
			if (q.w)
				ok &= read_all(q.w, max_bytes) && read_all(q.scales, max_bytes);
			lb_tensor *x = lb_file_get(file, name);
			ok &= x && strncmp(lb_name(x), name, 255) == 0;
		}
	return ok;
}

static bool walk_strings(lb_file *file, const char *key)
{
	unsigned sum = 0;
	int64_t n = lb_file_metadata_length(file, key);
	for (int64_t i = 0; i < n && i < 10000; i++) {
		size_t length;
		const char *text = lb_file_metadata_string(file, key, i, &length);
		if (!text)
			return false;
		for (size_t k = 0; k < length; k++)
			sum += (unsigned char)text[k];
	}
	return sum < 0xffffffff;
}

static bool walk_metadata(lb_file *file, int64_t max_bytes)
{
	bool ok = true;
	for (int64_t i = 0; i < lb_file_metadata_count(file); i++)
		LB_SCOPE {
			const char *key = lb_file_metadata_key(file, i);
			bool was_ok = lb_ok();
			lb_tensor *numbers = lb_file_metadata_tensor(file, key);
			if (numbers) {
				ok &= read_all(numbers, max_bytes);
				continue;
			}
			if (was_ok)
				lb_clear_error(); /* it is text */
			ok &= walk_strings(file, key);
		}
	return ok;
}

bool file_walk(const void *bytes, size_t nbytes, int64_t max_bytes)
{
	lb_file *file = lb_open_bytes(bytes, nbytes, "file");
	if (!file)
		return false;
	bool ok = walk_tensors(file, max_bytes);
	ok &= walk_metadata(file, max_bytes);
	lb_file_close(file);
	return ok;
}
