/* An open file: its mapping, its directory of arrays, and what it says of itself. A format
 * fills these in; everything else is common. A new format is a file and a row in io/file.c. */
#ifndef LB_IO_FILE_H
#define LB_IO_FILE_H

#include <string.h>

#include "io/array.h"

/* An array with a name. */
struct lb_entry {
	char *name;
	struct lb_array array;
	char type[16];   /* as the file has it: "F8_E4M3" */
	bool unknown;    /* of a type without a dtype: `array` is bytes */
	/* of a member of an .npz; its array is known when it is asked for */
	uint16_t method;
	bool encrypted;
	uint32_t crc;
	uint64_t packed, unpacked;
};

/* GGUF's numbers of types. */
enum lb_value_type {
	LB_VALUE_U8,
	LB_VALUE_I8,
	LB_VALUE_U16,
	LB_VALUE_I16,
	LB_VALUE_U32,
	LB_VALUE_I32,
	LB_VALUE_F32,
	LB_VALUE_BOOL,
	LB_VALUE_STRING,
	LB_VALUE_ARRAY,
	LB_VALUE_U64,
	LB_VALUE_I64,
	LB_VALUE_F64,
	LB_VALUE_TYPES
};

struct lb_metadata {
	char *key;
	char *text;       /* of a single value */
	uint32_t type;    /* enum lb_value_type, of the elements */
	bool is_array;
	uint64_t count;
	uint64_t at, nbytes;     /* the elements in the file; 0 bytes: `text` is all */
	uint64_t next, next_at;  /* where string number `next` begins */
};

struct lb_file {
	struct lb_mapping *mapping;
	const struct lb_format *format;
	int64_t n, capacity;
	struct lb_entry *entries;
	int64_t *by_name; /* indices, sorted */
	int64_t n_metadata, metadata_capacity;
	struct lb_metadata *metadata;
	struct lb_npy_shape *shape; /* of an .npy with more axes than a tensor has, whose entry is a row; or NULL */
};

struct lb_format {
	const char *name; /* for lb_file_format() */
	bool (*recognise)(const struct lb_mapping *mapping);
	/* Reads the directory. */
	bool (*open)(struct lb_file *file);
	struct lb_tensor *(*get)(struct lb_file *file, const struct lb_entry *entry, bool raw, const void *site);
};

extern const struct lb_format lb_format_npy, lb_format_npz, lb_format_gguf, lb_format_safetensors;

/* ---- for formats (io/directory.c) ---- */

static inline bool lb_begins_with(const struct lb_mapping *mapping, const char *magic, size_t n)
{
	return mapping->size >= n && memcmp(mapping->data, magic, n) == 0;
}

/* A new entry, or NULL; takes over the name (and frees it when it fails). */
struct lb_entry *lb_file_add(struct lb_file *file, char *name);
struct lb_metadata *lb_file_add_metadata(struct lb_file *file, char *key);
/* The entry of that name, or NULL and an error. */
const struct lb_entry *lb_file_find(const struct lb_file *file, const char *name);
/* Fails if two arrays share bytes. */
bool lb_file_check_overlap(const struct lb_file *file);
const struct lb_metadata *lb_file_find_metadata(const struct lb_file *file, const char *key);

/* Sorts the entries by name; fails if two have one. */
bool lb_file_index_names(struct lb_file *file);
/* The entry as a tensor, whose elements are those of the file. */
struct lb_tensor *lb_file_get_in_place(struct lb_file *file, const struct lb_entry *entry, bool raw, const void *site);

#endif
