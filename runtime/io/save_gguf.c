/* Writes GGUF, version 3 (io/gguf.c says how it is laid out). */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "eval/eval.h"
#include "io/file.h"
#include "io/gguf.h"
#include "io/save.h"

static const char op[] = "save_gguf";
enum { VERSION = 3, MOST_AXES = 4 /* of ggml's tensors */ };

/* ---- what must hold ---- */

static bool value_type(enum lb_dtype dtype, uint32_t *ret)
{
	static const int types[LB_DTYPES] = {
		[LB_BOOL] = LB_VALUE_BOOL + 1, [LB_U8] = LB_VALUE_U8 + 1,   [LB_U16] = LB_VALUE_U16 + 1,
		[LB_U32] = LB_VALUE_U32 + 1,   [LB_U64] = LB_VALUE_U64 + 1, [LB_I8] = LB_VALUE_I8 + 1,
		[LB_I16] = LB_VALUE_I16 + 1,   [LB_I32] = LB_VALUE_I32 + 1, [LB_I64] = LB_VALUE_I64 + 1,
		[LB_F32] = LB_VALUE_F32 + 1,   [LB_F64] = LB_VALUE_F64 + 1,
	};

	*ret = (uint32_t)(types[dtype] - 1);
	return types[dtype] > 0;
}

static bool check_value(int i, const lb_gguf_value *v)
{
	uint32_t unused;

	if (!v->key || !lb_is_text((const uint8_t *)v->key, strlen(v->key)))
		return lb_fail("%s: metadata %d: the key is missing, or not UTF-8", op, i);
	if (strcmp(v->key, "general.alignment") == 0)
		return lb_fail("%s: metadata 'general.alignment' is %d here, and not written", op, LB_GGUF_ALIGNMENT);
	if ((v->text != NULL) + (v->texts != NULL) + (v->numbers != NULL) != 1)
		return lb_fail("%s: metadata '%.64s': one of text, texts and numbers is to be given", op, v->key);
	if (v->texts && v->n_texts < 0)
		return lb_fail("%s: metadata '%.64s': a list of %lld texts", op, v->key, (long long)v->n_texts);
	for (int64_t k = 0; v->texts && k < v->n_texts; k++)
		if (!v->texts[k])
			return lb_fail("%s: metadata '%.64s': text %lld is NULL", op, v->key, (long long)k);
	if (!v->numbers)
		return true;
	if (v->numbers->rank > 1)
		return lb_fail("%s: metadata '%.64s' has %d axes: a single value or a list can be saved", op, v->key,
			       v->numbers->rank);
	return value_type((enum lb_dtype)v->numbers->dtype, &unused) ||
	       lb_fail("%s: metadata '%.64s' is of %s, which GGUF has for no value", op, v->key,
		       lb_dtype_name((enum lb_dtype)v->numbers->dtype));
}

static int by_key(const void *a, const void *b)
{
	return strcmp(**(const char *const *const *)a, **(const char *const *const *)b);
}

static bool check_values(int n, const lb_gguf_value *values)
{
	lb_auto_free const char *const **sorted = malloc(((size_t)n + 1) * sizeof *sorted);

	if (!sorted)
		return lb_fail("%s: out of memory for %d metadata", op, n);
	for (int i = 0; i < n; i++) {
		if (!check_value(i, &values[i]))
			return false;
		sorted[i] = &values[i].key;
	}
	if (n)
		qsort(sorted, (size_t)n, sizeof *sorted, by_key);
	for (int i = 1; i < n; i++)
		if (strcmp(*sorted[i - 1], *sorted[i]) == 0)
			return lb_fail("%s: metadata '%.64s' is given twice", op, *sorted[i]);
	return true;
}

static bool check_tensors(int n, const char *const *names, lb_tensor *const *xs)
{
	uint32_t unused;

	for (int i = 0; i < n; i++) {
		if (xs[i]->rank > MOST_AXES)
			return lb_fail("%s: '%.64s' has %d axes: a tensor of GGUF has %d at most", op, names[i],
				       xs[i]->rank, MOST_AXES);
		if (!lb_gguf_type((enum lb_dtype)xs[i]->dtype, &unused))
			return lb_fail("%s: '%.64s' is of %s, which GGUF does not have: cast it (lb_astype)", op,
				       names[i], lb_dtype_name((enum lb_dtype)xs[i]->dtype));
	}
	return true;
}

/* ---- the file ---- */

static bool put_u32(struct lb_writer *w, uint32_t number)
{
	return lb_writer_put(w, &number, sizeof number);
}

static bool put_u64(struct lb_writer *w, uint64_t number)
{
	return lb_writer_put(w, &number, sizeof number);
}

static bool put_text(struct lb_writer *w, const char *text)
{
	return put_u64(w, strlen(text)) && lb_writer_put(w, text, strlen(text));
}

static bool put_value(struct lb_writer *w, const lb_gguf_value *v, const void *site)
{
	uint32_t type;

	if (!put_text(w, v->key))
		return false;
	if (v->text)
		return put_u32(w, LB_VALUE_STRING) && put_text(w, v->text);
	if (v->numbers) {
		bool is_list = v->numbers->rank == 1;
		return value_type((enum lb_dtype)v->numbers->dtype, &type) &&
		       (!is_list || put_u32(w, LB_VALUE_ARRAY)) && put_u32(w, type) &&
		       (!is_list || put_u64(w, (uint64_t)v->numbers->shape[0])) &&
		       lb_save_elements(w, v->numbers, site);
	}
	bool ok = put_u32(w, LB_VALUE_ARRAY) && put_u32(w, LB_VALUE_STRING) && put_u64(w, (uint64_t)v->n_texts);
	for (int64_t i = 0; ok && i < v->n_texts; i++)
		ok = put_text(w, v->texts[i]);
	return ok;
}

static uint64_t padded(uint64_t n)
{
	return (n + LB_GGUF_ALIGNMENT - 1) / LB_GGUF_ALIGNMENT * LB_GGUF_ALIGNMENT;
}

static bool pad(struct lb_writer *w)
{
	static const char zeros[LB_GGUF_ALIGNMENT];

	return lb_writer_put(w, zeros, (size_t)(padded(w->at) - w->at));
}

/* A single value is a list of one: ggml has no tensor without axes. */
static bool put_tensor(struct lb_writer *w, const char *name, const lb_tensor *x, uint64_t at)
{
	uint32_t type;
	bool ok = lb_gguf_type((enum lb_dtype)x->dtype, &type) && put_text(w, name) &&
		  put_u32(w, x->rank ? (uint32_t)x->rank : 1);

	for (int i = x->rank; ok && i-- > 0;)
		ok = put_u64(w, (uint64_t)x->shape[i]);
	return ok && (x->rank || put_u64(w, 1)) && put_u32(w, type) && put_u64(w, at);
}

static bool write_file(struct lb_writer *w, int n, const char *const *names, lb_tensor *const *xs, int n_values,
		       const lb_gguf_value *values, const void *site)
{
	uint64_t at = 0;
	bool ok = lb_writer_put(w, "GGUF", 4) && put_u32(w, VERSION) && put_u64(w, (uint64_t)n) &&
		  put_u64(w, (uint64_t)n_values);

	for (int i = 0; ok && i < n_values; i++)
		ok = put_value(w, &values[i], site);
	for (int i = 0; ok && i < n; i++) {
		ok = put_tensor(w, names[i], xs[i], at);
		at += padded((uint64_t)lb_nbytes(xs[i]));
	}
	ok = ok && pad(w);
	for (int i = 0; ok && i < n; i++)
		ok = lb_save_elements(w, xs[i], site) && pad(w);
	return ok;
}

bool lb_save_gguf(const char *path, int n, const char *const *names, lb_tensor *const *xs, int n_values,
		  const lb_gguf_value *values)
{
	struct lb_writer w;

	LB_ENTER();
	if (n_values < 0)
		return lb_fail("%s: a list of %d metadata", op, n_values);
	if (!LB_GIVEN_LIST(op, n_values, values) || !lb_save_prepare(op, path, n, names, xs, site) ||
	    !check_tensors(n, names, xs) || !check_values(n_values, values))
		return false;
	for (int i = 0; i < n_values; i++)
		if (values[i].numbers && !lb_evaluate(1, (lb_tensor *[]){ values[i].numbers }, site))
			return false;
	return lb_writer_begin(&w, path) && lb_writer_end(&w, write_file(&w, n, names, xs, n_values, values, site));
}
