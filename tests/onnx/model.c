#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "wire.h"

struct onnx_block {
	struct onnx_block *next;
	_Alignas(16) char bytes[];
};

void *onnx_alloc(struct onnx_arena *arena, size_t n)
{
	struct onnx_block *block = calloc(1, sizeof *block + n + 1);
	if (!block) {
		lb_fail("no memory for %zu bytes", n);
		return NULL;
	}
	block->next = arena->blocks;
	arena->blocks = block;
	return block->bytes;
}

void onnx_arena_deinit(struct onnx_arena *arena)
{
	for (struct onnx_block *block = arena->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	arena->blocks = NULL;
}

bool onnx_dtype(int64_t data_type, lb_dtype *ret, const char **name)
{
	static const struct {
		const char *name;
		int dtype;
	} types[] = {
		[1] = { "float32", LB_F32 },
		{ "uint8", LB_U8 },
		{ "int8", LB_I8 },
		{ "uint16", LB_U16 },
		{ "int16", LB_I16 },
		{ "int32", LB_I32 },
		{ "int64", LB_I64 },
		{ "string", -1 },
		{ "bool", LB_BOOL },
		{ "float16", LB_F16 },
		{ "float64", LB_F64 },
		{ "uint32", LB_U32 },
		{ "uint64", LB_U64 },
		{ "complex64", LB_C64 },
		{ "complex128", -1 },
		{ "bfloat16", LB_BF16 },
		{ "float8e4m3fn", -1 },
		{ "float8e4m3fnuz", -1 },
		{ "float8e5m2", -1 },
		{ "float8e5m2fnuz", -1 },
		{ "uint4", -1 },
		{ "int4", -1 },
		{ "float4e2m1", -1 },
		{ "float8e8m0", -1 },
		{ "uint2", -1 },
		{ "int2", -1 },
	};
	bool known = data_type > 0 && data_type < (int64_t)(sizeof types / sizeof *types);
	*name = known ? types[data_type].name : "unknown";
	if (!known || types[data_type].dtype < 0)
		return false;
	*ret = (lb_dtype)types[data_type].dtype;
	return true;
}

static const char *copy_text(struct onnx_arena *arena, const struct wire_field *field)
{
	char *text = onnx_alloc(arena, field->bytes.size);
	if (text && field->bytes.size)
		memcpy(text, field->bytes.data, field->bytes.size);
	return text;
}

/* ---- tensors ---- */

/* Narrows numbers, as float_data, int32_data and the others hold them, to elements. */
static void store(const uint64_t *values, int64_t n, lb_dtype dtype, char *to)
{
	size_t bytes = (size_t)lb_dtype_bytes(dtype);
	if (dtype == LB_C64) /* two numbers of 32 bits */
		bytes = 4;
	for (int64_t i = 0; i < n; i++)
		memcpy(to + (size_t)i * bytes, &values[i], bytes);
}

static bool sizes(struct npy *array)
{
	array->size = 1;
	for (int k = 0; k < array->rank; k++)
		if (array->shape[k] < 0 || !lb_mul(array->size, array->shape[k], &array->size))
			return lb_fail("tensor: axis %d has size %jd", k, (intmax_t)array->shape[k]);
	int64_t nbytes;
	if (!lb_mul(array->size, lb_dtype_bytes(array->dtype), &nbytes) || nbytes > 1 << 30)
		return lb_fail("tensor: %jd elements are too many", (intmax_t)array->size);
	array->nbytes = (size_t)nbytes;
	return true;
}

static bool elements(struct onnx_arena *arena, struct lb_cursor c, struct npy *array)
{
	int64_t most = array->size * (array->dtype == LB_C64 ? 2 : 1), n = 0;
	uint64_t *values = onnx_alloc(arena, (size_t)most * sizeof *values);
	array->data = onnx_alloc(arena, array->nbytes);
	if (!values || !array->data)
		return false;
	while (lb_cursor_left(&c)) {
		struct wire_field field;
		if (!wire_field(&c, &field))
			return false;
		int type = field.number == 4 ? WIRE_32 : field.number == 10 ? WIRE_64 : WIRE_VARINT;
		if (field.number == 9) { /* raw_data, little endian as we are */
			if (field.type != WIRE_BYTES || field.bytes.size != array->nbytes)
				return lb_fail("%s: raw_data has %ju bytes, expected %zu", c.path,
					       (uintmax_t)field.bytes.size, array->nbytes);
			if (array->nbytes)
				memcpy(array->data, field.bytes.data, array->nbytes);
			return true;
		}
		if (field.number == 4 || field.number == 5 || field.number == 7 || field.number == 10 ||
		    field.number == 11)
			if (!wire_numbers(&field, type, most, &n, values))
				return false;
	}
	if (n != most)
		return lb_fail("%s: the tensor has %jd values, expected %jd", c.path, (intmax_t)n, (intmax_t)most);
	store(values, n, array->dtype, array->data);
	return true;
}

static bool decode_tensor(struct onnx_arena *arena, const struct lb_cursor *from, struct onnx_tensor *ret)
{
	struct lb_cursor c = *from;
	struct wire_field field;
	uint64_t shape[LB_MAX_RANK];
	int64_t rank = 0, data_type = 0;
	*ret = (struct onnx_tensor){ .name = "" };
	while (lb_cursor_left(&c)) {
		if (!wire_field(&c, &field))
			return false;
		if (field.number == 1 && !wire_numbers(&field, WIRE_VARINT, LB_MAX_RANK, &rank, shape))
			return false;
		if (field.number == 2)
			data_type = (int64_t)field.value;
		if (field.number == 8 && !(ret->name = copy_text(arena, &field)))
			return false;
		if (field.number == 14 && field.value != 0)
			return lb_fail("%s: a tensor's data is in another file", c.path);
	}
	ret->array.rank = (int)rank;
	for (int64_t k = 0; k < rank; k++)
		ret->array.shape[k] = (int64_t)shape[k];
	const char *name;
	if (!onnx_dtype(data_type, &ret->array.dtype, &name)) {
		ret->unknown_dtype = name;
		return true;
	}
	return sizes(&ret->array) && elements(arena, *from, &ret->array);
}

/* ---- graphs ---- */

static bool decode_attribute(struct onnx_arena *arena, struct lb_cursor c, struct onnx_attribute *ret)
{
	struct wire_field field;
	uint64_t *ints = onnx_alloc(arena, ONNX_MOST_VALUES * sizeof *ints);
	uint64_t *floats = onnx_alloc(arena, ONNX_MOST_VALUES * sizeof *floats);
	*ret = (struct onnx_attribute){ .name = "", .text = "", .ints = (int64_t *)ints };
	if (!ints || !floats)
		return false;
	while (lb_cursor_left(&c)) {
		bool ok = wire_field(&c, &field);
		uint32_t bits = (uint32_t)field.value;
		switch (ok ? field.number : 0) {
		case 1: ok = (ret->name = copy_text(arena, &field)) != NULL; break;
		case 2: memcpy(&ret->f, &bits, sizeof bits); break;
		case 3: ret->i = (int64_t)field.value; break;
		case 4: ok = (ret->text = copy_text(arena, &field)) != NULL; break;
		case 5:
			ret->tensor = onnx_alloc(arena, sizeof *ret->tensor);
			ok = ret->tensor && decode_tensor(arena, &field.bytes, ret->tensor);
			break;
		case 6:
		case 11: ret->graph = true; break;
		case 7: ok = wire_numbers(&field, WIRE_32, ONNX_MOST_VALUES, &ret->n_floats, floats); break;
		case 8: ok = wire_numbers(&field, WIRE_VARINT, ONNX_MOST_VALUES, &ret->n_ints, ints); break;
		}
		if (!ok)
			return false;
	}
	ret->floats = (float *)floats;
	store(floats, ret->n_floats, LB_F32, (char *)floats);
	return true;
}

static bool decode_node(struct onnx_arena *arena, struct lb_cursor c, struct onnx_node *ret)
{
	struct wire_field field;
	ret->op = ret->domain = "";
	while (lb_cursor_left(&c)) {
		if (!wire_field(&c, &field))
			return false;
		if (ret->n_in == ONNX_MOST_VALUES || ret->n_out == ONNX_MOST_VALUES ||
		    ret->n_attributes == ONNX_MOST_VALUES)
			return lb_fail("%s: a node with too many inputs or attributes", c.path);
		const char **text = field.number == 1   ? &ret->in[ret->n_in++]
				    : field.number == 2 ? &ret->out[ret->n_out++]
				    : field.number == 4 ? &ret->op
				    : field.number == 7 ? &ret->domain
							: NULL;
		if (text && !(*text = copy_text(arena, &field)))
			return false;
		if (field.number == 5 && !decode_attribute(arena, field.bytes, &ret->attributes[ret->n_attributes++]))
			return false;
	}
	return true;
}

/* ValueInfoProto: a name, and a TypeProto whose only field says what kind it is. */
static bool decode_value(struct onnx_arena *arena, struct lb_cursor c, struct onnx_value *ret)
{
	struct wire_field field, type, part;
	ret->name = "";
	ret->kind = "unknown";
	while (lb_cursor_left(&c)) {
		if (!wire_field(&c, &field))
			return false;
		if (field.number == 1 && !(ret->name = copy_text(arena, &field)))
			return false;
		if (field.number != 2)
			continue;
		while (lb_cursor_left(&field.bytes)) {
			if (!wire_field(&field.bytes, &type))
				return false;
			ret->kind = type.number == 1   ? "tensor"
				    : type.number == 4 ? "sequence"
				    : type.number == 5 ? "map"
				    : type.number == 8 ? "sparse tensor"
				    : type.number == 9 ? "optional"
						       : "unknown";
			while (type.number == 1 && lb_cursor_left(&type.bytes)) {
				if (!wire_field(&type.bytes, &part))
					return false;
				if (part.number == 1)
					ret->data_type = (int64_t)part.value;
			}
		}
	}
	return true;
}

/* Appends a new, zeroed item to a list whose items hold their `next`. */
#define APPEND(arena, tail) \
	({ \
		__typeof__(*(tail)) item_ = onnx_alloc((arena), sizeof **(tail)); \
		*(tail) = item_; \
		if (item_) \
			(tail) = &item_->next; \
		item_; \
	})

static bool decode_graph(struct onnx_arena *arena, struct lb_cursor c, struct onnx_model *ret)
{
	struct onnx_node **nodes = &ret->nodes, *node;
	struct onnx_value **in = &ret->in, **out = &ret->out, *value;
	struct onnx_initial **initial = &ret->initial, *constant;
	struct wire_field field;
	while (lb_cursor_left(&c)) {
		bool ok = wire_field(&c, &field);
		switch (ok ? field.number : 0) {
		case 1:
			node = APPEND(arena, nodes);
			ok = node && decode_node(arena, field.bytes, node);
			break;
		case 5:
			constant = APPEND(arena, initial);
			ok = constant && decode_tensor(arena, &field.bytes, &constant->tensor);
			break;
		case 11:
			value = APPEND(arena, in);
			ok = value && decode_value(arena, field.bytes, value);
			break;
		case 12:
			value = APPEND(arena, out);
			ok = value && decode_value(arena, field.bytes, value);
			break;
		}
		if (!ok)
			return false;
	}
	return true;
}

/* OperatorSetIdProto: a domain, and a version of it; ONNX's own has no name. */
static bool decode_opset(struct lb_cursor c, struct onnx_model *ret)
{
	struct wire_field field;
	int64_t version = 0;
	bool own = true;
	while (lb_cursor_left(&c)) {
		if (!wire_field(&c, &field))
			return false;
		if (field.number == 1)
			own = field.bytes.size == 0;
		if (field.number == 2)
			version = (int64_t)field.value;
	}
	if (own)
		ret->opset = version;
	return true;
}

static bool read_file(struct onnx_arena *arena, const char *path, struct lb_cursor *ret)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return lb_fail("cannot open %s", path);
	long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
	char *bytes = size >= 0 ? onnx_alloc(arena, (size_t)size) : NULL;
	rewind(file);
	bool ok = bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size;
	fclose(file);
	if (!ok)
		return lb_fail("cannot read %s", path);
	*ret = (struct lb_cursor){ (uint8_t *)bytes, (uint64_t)size, 0, path };
	return true;
}

bool onnx_read_tensor(struct onnx_arena *arena, const char *path, struct onnx_tensor *ret)
{
	struct lb_cursor c;
	return read_file(arena, path, &c) && decode_tensor(arena, &c, ret);
}

bool onnx_read_model(struct onnx_arena *arena, const char *path, struct onnx_model *ret)
{
	struct lb_cursor c;
	struct wire_field field;
	*ret = (struct onnx_model){ 0 };
	if (!read_file(arena, path, &c))
		return false;
	while (lb_cursor_left(&c)) {
		if (!wire_field(&c, &field) || (field.number == 7 && !decode_graph(arena, field.bytes, ret)) ||
		    (field.number == 8 && !decode_opset(field.bytes, ret)))
			return false;
	}
	return true;
}
