#include "mlx_image.h"

#include <string.h>

enum { WORD = 8, COUNTS = 0x10, ONE_EACH = 0x01, INSTANCE = 0x28, DICT_SUBCLASS = 1 << 29, DIRECT = 0x4 };
enum { F32 = 10, SHARED = 16 };

static void put(struct mlx_image *image, uint64_t address, uint64_t value)
{
	regions_put(&image->regions, address, value, WORD);
}

void mlx_image_set(struct mlx_image *image, uint64_t array, uint32_t field, uint64_t value, size_t width)
{
	regions_put(&image->regions, array + image->layout.size + field, value, width);
}

static uint64_t take(struct mlx_image *image, uint64_t bytes)
{
	uint64_t at = image->heap;

	image->heap += (bytes + 15) / 16 * 16;
	return at;
}

/* Behind the counts of who holds it, which is one. */
static uint64_t take_counted(struct mlx_image *image, const struct library_class *class, uint64_t bytes)
{
	uint64_t at = take(image, COUNTS + bytes);

	put(image, at, class->vtable);
	put(image, at + LBX_MLX_COUNTS, 1ULL << 32 | ONE_EACH);
	return at + COUNTS;
}

static void put_shared(struct mlx_image *image, uint64_t array, uint32_t field, uint64_t object)
{
	mlx_image_set(image, array, field, object, WORD);
	mlx_image_set(image, array, field + WORD, object - COUNTS, WORD);
}

/* ---- arrays ---- */

static void put_vector(struct mlx_image *image, uint64_t at, const int64_t *values, int n, size_t width)
{
	uint64_t begin = image->layout.is_small ? at + 0x20 : take(image, (uint64_t)n * width);
	uint64_t words = at + (image->layout.is_small ? LBX_MLX_SMALL_BEGIN : LBX_MLX_VECTOR_BEGIN);

	for (int i = 0; i < n; i++)
		regions_put(&image->regions, begin + (uint64_t)i * width, (uint64_t)values[i], width);
	put(image, words, begin);
	put(image, words + WORD, begin + (uint64_t)n * width);
	put(image, words + 2 * WORD, begin + (uint64_t)n * width);
}

/* A lazy one; float64 is counted as one of the numbers but in the oldest layout. */
static uint64_t add_array(struct mlx_image *image, unsigned number, unsigned width, int rank, const int64_t *sizes)
{
	uint64_t at = take_counted(image, &image->counted, image->layout.size + LBX_MLX_END);
	int64_t strides[8] = { 0 }, n = 1;

	for (int i = rank; i-- > 0; n *= sizes[i])
		strides[i] = n;
	put_vector(image, at, sizes, rank, sizeof(int32_t));
	put_vector(image, at + image->layout.strides, strides, rank, sizeof(int64_t));
	mlx_image_set(image, at, 0, (uint64_t)n, WORD);
	mlx_image_set(image, at, LBX_MLX_DTYPE, number | (uint64_t)width << 32, WORD);
	return at;
}

static uint64_t add_data(struct mlx_image *image, uint64_t bytes)
{
	uint64_t at = take_counted(image, &image->primitive, 0x30);

	put(image, at, image->data);
	put(image, image->data, bytes);
	image->data += (LBX_MLX_BUFFER_FRONT + bytes + 15) / 16 * 16;
	return at;
}

static void set_status(struct mlx_image *image, uint64_t array, unsigned status)
{
	mlx_image_set(image, array, LBX_MLX_STATUS, status + (status && image->layout.has_scheduled), 4);
}

/* It has its value: in some data, so many bytes from its beginning. */
static void give(struct mlx_image *image, uint64_t array, uint64_t data, uint64_t offset)
{
	uint64_t first = regions_get(&image->regions, data, WORD) + LBX_MLX_BUFFER_FRONT;

	put_shared(image, array, LBX_MLX_DATA, data);
	mlx_image_set(image, array, LBX_MLX_BEGIN, image->layout.is_offset ? offset : first + offset, WORD);
	set_status(image, array, 2);
}

static void wait_for(struct mlx_image *image, uint64_t array, uint64_t count, uint64_t wanted)
{
	uint64_t event = take_counted(image, &image->primitive, 0x40);

	put(image, event, count);
	put_shared(image, array, LBX_MLX_EVENT + LBX_MLX_EVENT_COUNTER, event);
	mlx_image_set(image, array, LBX_MLX_EVENT + LBX_MLX_EVENT_VALUE, wanted, WORD);
	set_status(image, array, 1);
}

static void put_arrays(struct mlx_image *image, uint64_t array, uint32_t field, const uint64_t *arrays, int n)
{
	uint64_t at = take(image, (uint64_t)n * SHARED);

	for (int i = 0; i < n; i++) {
		put(image, at + (uint64_t)i * SHARED, arrays[i]);
		put(image, at + (uint64_t)i * SHARED + WORD, arrays[i] - COUNTS);
	}
	for (uint32_t i = 0; i < 3; i++)
		mlx_image_set(image, array, field + i * WORD, at + (i ? (uint64_t)n * SHARED : 0), WORD);
}

static void compute(struct mlx_image *image, uint64_t array, const struct library_class *by, const uint64_t *inputs,
		    int n)
{
	uint64_t primitive = take_counted(image, &image->primitive, 0x20);

	put(image, primitive, by->vtable);
	put_shared(image, array, LBX_MLX_PRIMITIVE, primitive);
	put_arrays(image, array, LBX_MLX_INPUTS, inputs, n);
}

static void populate(struct mlx_image *image)
{
	static const int64_t two_three[] = { 2, 3 }, two[] = { 2, 2 }, four[] = { 4 }, none[] = { 0, 3 };
	unsigned has_f64 = !image->layout.has_scheduled;
	uint64_t *a = image->arrays, data = add_data(image, 24), other = add_data(image, 8), third = add_data(image, 8);
	uint64_t first = MLX_DATA + LBX_MLX_BUFFER_FRONT;
	const float values[] = { 0, 1, 2, 3, 4, 5 };

	regions_copy(&image->regions, first, values, sizeof values);
	regions_put(&image->regions, regions_get(&image->regions, other, WORD) + LBX_MLX_BUFFER_FRONT,
		    0x4080404040003f80, WORD); /* 1, 2, 3, 4 */
	a[MLX_MATRIX] = add_array(image, F32, 4, 2, two_three);
	give(image, a[MLX_MATRIX], data, 0);
	a[MLX_VIEW] = add_array(image, F32, 4, 2, two);
	put_vector(image, a[MLX_VIEW] + image->layout.strides, (const int64_t[]){ 1, 3 }, 2, sizeof(int64_t));
	give(image, a[MLX_VIEW], data, 4);
	a[MLX_HALF] = add_array(image, F32 + 1 + has_f64, 2, 1, four);
	give(image, a[MLX_HALF], other, 0);
	wait_for(image, a[MLX_HALF], 7, 7);
	a[MLX_UNDER_WAY] = add_array(image, F32, 4, 1, two);
	give(image, a[MLX_UNDER_WAY], third, 0);
	wait_for(image, a[MLX_UNDER_WAY], 6, 7);
	a[MLX_SOFTMAX] = add_array(image, F32, 4, 2, two_three);
	compute(image, a[MLX_SOFTMAX], &image->softmax, &a[MLX_MATRIX], 1);
	a[MLX_ADD] = add_array(image, F32, 4, 2, two_three);
	a[MLX_SIBLING] = add_array(image, F32, 4, 2, two_three);
	for (int i = MLX_ADD; i <= MLX_SIBLING; i++) {
		compute(image, a[i], &image->add, (const uint64_t[]){ a[MLX_SOFTMAX], a[MLX_MATRIX] }, 2);
		put_arrays(image, a[i], LBX_MLX_SIBLINGS, &a[i == MLX_ADD ? MLX_SIBLING : MLX_ADD], 1);
		mlx_image_set(image, a[i], LBX_MLX_POSITION, i == MLX_SIBLING, 4);
	}
	a[MLX_SCALAR] = add_array(image, F32 + 2 + has_f64, 8, 0, NULL);
	give(image, a[MLX_SCALAR], third, 0);
	a[MLX_EMPTY] = add_array(image, F32, 4, 2, none);
	image->freed = add_array(image, F32, 4, 2, two_three);
	regions_put(&image->regions, image->freed - COUNTS + LBX_MLX_COUNTS, 0, 4);
}

/* ---- Python ---- */

static uint64_t add_wrapper(struct python_image *py, uint64_t type, uint64_t array)
{
	uint64_t at = python_image_object(py, type, INSTANCE);

	regions_put(py->regions, at + 0x10, 0x18 | (uint64_t)DIRECT << 32, WORD);
	regions_put(py->regions, at + 0x18, array, WORD);
	regions_put(py->regions, at + 0x20, array - COUNTS, WORD);
	return at;
}

static uint64_t add_module(struct python_image *py, uint64_t type, const char *name, uint64_t value, const char *other,
			   uint64_t other_value)
{
	uint64_t dict = python_image_dict_of(py, (const char *const[]){ name, other },
					     (const uint64_t[]){ value, other_value }, other ? 2 : 1);

	regions_put(py->regions, dict + LBX_PY_TYPE, type, WORD);
	return dict;
}

/* Without the last of them its version is not known. */
static void export(struct mlx_image *image, const char *last)
{
	const char *const exported[] = { "_ZTISt16_Sp_counted_baseILN9__gnu_cxx12_Lock_policyE2EE", "_PyRuntime",
					 "Py_Version", "PyType_Type", last };
	const uint64_t at[] = { LIBRARY_DATA, MLX_PYTHON + PYTHON_RUNTIME, MLX_PYTHON + PYTHON_VERSION,
				MLX_PYTHON + PYTHON_TYPE_TYPE, LIBRARY_CODE };

	library_image_export(&image->library, exported, at, last ? 5 : 4);
}

void mlx_image_tell_version(struct mlx_image *image)
{
	static const char *const marks[MLX_ROWS] = {
		NULL, /* those tell it by a function */
		"_ZN3mlx4core7reshapeERKNS0_5arrayENS0_11SmallVectorIiLm10ESaIiEEESt7variantIJSt9monostateNS0_"
		"6StreamENS0_6DeviceEEE",
		"_ZN3mlx4core15export_functionERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKSt8functionIFSt"
		"6vectorINS0_5arrayESaISB_EERKSD_EESF_b",
		"_ZN3mlx4core4evalESt6vectorINS0_5arrayESaIS2_EE",
	};

	for (int i = 0; i < MLX_ROWS; i++)
		if (lbx_mlx_layout(i)->since == image->layout.since)
			export(image, marks[i]);
}

static void speak(struct mlx_image *image, unsigned minor)
{
	static const char *const modules[] = { "sys", "__main__", "mlx.core", "mlx.nn.layers.base" };
	static const char *const class[] = { "Module" }, *const array[] = { "array" }, *const lazy[] = { "lazy" };
	static const char *const globals[] = { "model", "state" }, *const locals[] = { "x" };
	struct python_image *py = &image->python;
	uint64_t wrappers[MLX_ARRAYS + 1];

	python_image_create(py, &image->regions, MLX_PYTHON, minor);
	export(image, NULL);
	uint64_t type = python_image_type(py, "array", 0, INSTANCE);
	uint64_t base = python_image_type(py, "Module", DICT_SUBCLASS, 0x30);
	uint64_t linear = python_image_type(py, "Linear", DICT_SUBCLASS, 0x30);
	regions_put(py->regions, linear + LBX_PY_TYPE_BASE, base, WORD);
	for (int i = 1; i <= MLX_ARRAYS; i++)
		wrappers[i] = add_wrapper(py, type, image->arrays[i]);
	uint64_t fc = add_module(py, linear, "weight", wrappers[MLX_MATRIX], NULL, 0);
	uint64_t layer = add_module(py, linear, "bias", wrappers[MLX_HALF], NULL, 0);
	uint64_t model = add_module(py, linear, "fc", fc, "layers", python_image_list(py, &layer, 1));
	uint64_t list = python_image_list(py, &wrappers[MLX_ADD], 1), sums = python_image_dict_of(py, lazy, &list, 1);
	uint64_t main = python_image_dict_of(py, globals, (const uint64_t[]){ model, sums }, 2);
	python_image_import(py, modules,
			    (const uint64_t[]){ python_image_dict_of(py, NULL, NULL, 0), main,
						python_image_dict_of(py, array, &type, 1),
						python_image_dict_of(py, class, &base, 1) },
			    4);
	python_image_call(py, "<module>", main, NULL, NULL, 0);
	python_image_call(py, "forward", main, locals, &wrappers[MLX_VIEW], 1);
}

/* ---- all of it ---- */

void mlx_image_create(struct mlx_image *image, int row, unsigned minor)
{
	const uint64_t functions[2] = { LIBRARY_CODE, LIBRARY_CODE };

	*image = (struct mlx_image){ .layout = *lbx_mlx_layout(row), .heap = MLX_HEAP, .data = MLX_DATA };
	library_image_create(&image->library, &image->regions, "/usr/lib/libmlx.so");
	regions_add(&image->regions, MLX_HEAP, MLX_HEAP_SIZE, 0);
	regions_add(&image->regions, MLX_DATA, MLX_DATA_SIZE, 0);
	struct library_class base =
	    library_image_class(&image->library, "St16_Sp_counted_baseILN9__gnu_cxx12_Lock_policyE2EE", NULL, 2,
				functions);
	image->counted = library_image_class(
	    &image->library,
	    "St23_Sp_counted_ptr_inplaceIN3mlx4core5array9ArrayDescESaIS3_ELN9__gnu_cxx12_Lock_policyE2EE", &base, 2,
	    functions);
	image->primitive = library_image_class(&image->library, "N3mlx4core9PrimitiveE", NULL, 2, functions);
	image->softmax = library_image_class(&image->library, "N3mlx4core7SoftmaxE", &image->primitive, 2, functions);
	image->add = library_image_class(&image->library, "N3mlx4core3AddE", &image->primitive, 2, functions);
	populate(image);
	speak(image, minor);
}

void mlx_image_destroy(struct mlx_image *image)
{
	regions_destroy(&image->regions);
}

void mlx_image_become(struct mlx_image *image, int array, const char *class, const void *fields, size_t size)
{
	static const uint64_t functions[2] = { LIBRARY_CODE, LIBRARY_CODE };
	struct library_class new = library_image_class(&image->library, class, &image->primitive, 2, functions);

	regions_put(&image->regions, MLX_PRIMITIVE, new.vtable, 8);
	regions_copy(&image->regions, MLX_PRIMITIVE + 0x14, fields, size);
	mlx_image_set(image, image->arrays[array], LBX_MLX_PRIMITIVE, MLX_PRIMITIVE, 8);
}
