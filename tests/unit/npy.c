#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *descr;
	lb_dtype dtype;
} descrs[] = {
	{ "|b1", LB_BOOL }, { "|u1", LB_U8 },  { "<u2", LB_U16 }, { "<u4", LB_U32 }, { "<u8", LB_U64 },
	{ "|i1", LB_I8 },   { "<i2", LB_I16 }, { "<i4", LB_I32 }, { "<i8", LB_I64 }, { "<f2", LB_F16 },
	{ "<f4", LB_F32 },  { "<f8", LB_F64 }, { "<c8", LB_C64 },
};

static bool parse_header(const char *header, struct npy *ret)
{
	const char *descr = strstr(header, "'descr': '");
	const char *shape = strstr(header, "'shape': (");
	if (!descr || !shape || !strstr(header, "'fortran_order': False"))
		return false;
	descr += strlen("'descr': '");
	bool known = false;
	for (size_t i = 0; i < sizeof descrs / sizeof *descrs && !known; i++) {
		known = strncmp(descr, descrs[i].descr, 3) == 0;
		ret->dtype = descrs[i].dtype;
	}
	ret->rank = 0;
	ret->size = 1;
	for (const char *p = shape + strlen("'shape': ("); *p && *p != ')';) {
		char *end;
		long long n = strtoll(p, &end, 10);
		if (end == p || n < 0 || ret->rank == LB_MAX_RANK)
			return false;
		ret->shape[ret->rank++] = n;
		ret->size *= n;
		for (p = end; *p == ',' || *p == ' '; p++)
			;
	}
	return known;
}

static bool read_from(FILE *file, struct npy *ret)
{
	unsigned char start[10];
	char header[4096];
	if (fread(start, 1, sizeof start, file) != sizeof start || memcmp(start, "\x93NUMPY\x01", 7) != 0)
		return false;
	size_t length = start[8] | (size_t)start[9] << 8;
	if (length >= sizeof header || fread(header, 1, length, file) != length)
		return false;
	header[length] = 0;
	if (!parse_header(header, ret))
		return false;
	ret->nbytes = (size_t)ret->size * (size_t)lb_dtype_bytes(ret->dtype);
	ret->data = malloc(ret->nbytes + 1);
	return ret->data && fread(ret->data, 1, ret->nbytes, file) == ret->nbytes;
}

bool npy_read(const char *path, bool bfloat16, struct npy *ret)
{
	memset(ret, 0, sizeof *ret);
	FILE *file = fopen(path, "rb");
	bool ok = file && read_from(file, ret);
	if (file)
		fclose(file);
	if (ok && bfloat16) {
		ok = ret->dtype == LB_U16;
		ret->dtype = LB_BF16;
	}
	if (!ok) {
		fprintf(stderr, "cannot read %s\n", path);
		npy_deinit(ret);
	}
	return ok;
}

void npy_deinit(struct npy *npy)
{
	free(npy->data);
	npy->data = NULL;
}
