#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/safetensors.h"

enum { ALIGNMENT = 64 };

static const struct {
	const char *name;
	enum lb_dtype dtype;
} types[] = {
	{ "BOOL", LB_BOOL }, { "U8", LB_U8 },   { "U16", LB_U16 }, { "U32", LB_U32 }, { "U64", LB_U64 },
	{ "I8", LB_I8 },     { "I16", LB_I16 }, { "I32", LB_I32 }, { "I64", LB_I64 }, { "F16", LB_F16 },
	{ "BF16", LB_BF16 }, { "F32", LB_F32 }, { "F64", LB_F64 }, { "C64", LB_C64 },
};

const char *lb_safetensors_type(enum lb_dtype dtype)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (types[i].dtype == dtype)
			return types[i].name;
	}
	return NULL;
}

bool lb_safetensors_dtype(const char *name, enum lb_dtype *ret)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strcmp(types[i].name, name) == 0) {
			*ret = types[i].dtype;
			return true;
		}
	}
	return false;
}

/* JSON's way to write a name. */
static void print_string(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else if (c < ' ')
			fprintf(to, "\\u%04x", c);
		else
			fputc(c, to);
	}
	fputc('"', to);
}

static void print_tensor(FILE *to, const struct lb_safetensors_entry *e)
{
	print_string(to, e->name);
	fprintf(to, ":{\"dtype\":\"%s\",\"shape\":[", lb_safetensors_type(e->dtype));
	for (int i = 0; i < e->rank; i++)
		fprintf(to, i ? ",%lld" : "%lld", (long long)e->shape[i]);
	fprintf(to, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)e->begin, (unsigned long long)e->end);
}

static void print_metadata(FILE *to, const struct lb_safetensors_metadata *m)
{
	fputs("\"__metadata__\":{", to);
	for (int i = 0; i < m->n; i++) {
		if (i)
			fputc(',', to);
		print_string(to, m->keys[i]);
		fputc(':', to);
		print_string(to, m->values[i]);
	}
	fputc('}', to);
}

char *lb_safetensors_header(int n, const struct lb_safetensors_entry *entries, const struct lb_safetensors_metadata *m,
			    size_t *ret)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, ret);
	if (!to)
		return NULL;
	fputc('{', to);
	if (m->n)
		print_metadata(to, m);
	for (int i = 0; i < n; i++) {
		if (i || m->n)
			fputc(',', to);
		print_tensor(to, &entries[i]);
	}
	fputc('}', to);
	fflush(to);
	while ((8 + *ret) % ALIGNMENT) {
		fputc(' ', to);
		if (fflush(to) != 0)
			break;
	}
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}
