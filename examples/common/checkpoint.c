#include "common/checkpoint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"
#include "common/weights.h"

/* ---- the alphabet ---- */

void alphabet_init(struct alphabet *alphabet, const bool used[256])
{
	alphabet->n = 0;
	for (int byte = 0; byte < 256; byte++) {
		alphabet->tokens[byte] = (int16_t)(used[byte] ? alphabet->n : -1);
		if (used[byte])
			alphabet->bytes[alphabet->n++] = (unsigned char)byte;
	}
}

int32_t *alphabet_encode(const struct alphabet *alphabet, const char *text, size_t n)
{
	int32_t *tokens = malloc((n + 1) * sizeof(*tokens));

	if (!tokens)
		complain("no memory for a text of %zu bytes", n);
	for (size_t i = 0; tokens && i < n; i++) {
		unsigned char byte = (unsigned char)text[i];
		tokens[i] = alphabet->tokens[byte];
		if (tokens[i] >= 0)
			continue;
		complain(isprint(byte) ? "'%c' is not in the text that the model knows"
				       : "the byte %d is not in the text that the model knows",
			 byte);
		free(tokens);
		return NULL;
	}
	return tokens;
}

/* ---- the config as metadata ---- */

/* Where its whole numbers are, by the names of Hugging Face's config.json. */
static const struct field {
	const char *key;
	size_t at;
} fields[] = {
	{"hidden_size", offsetof(struct config, width)},
	{"num_hidden_layers", offsetof(struct config, layers)},
	{"num_attention_heads", offsetof(struct config, heads)},
	{"num_key_value_heads", offsetof(struct config, kv_heads)},
	{"head_dim", offsetof(struct config, head_size)},
	{"intermediate_size", offsetof(struct config, hidden)},
	{"max_position_embeddings", offsetof(struct config, context)},
};
enum { FIELDS = sizeof(fields) / sizeof(*fields), KEYS = FIELDS + 3, VALUE_MAX = 1024 };

struct metadata {
	const char *keys[KEYS], *values[KEYS];
	char texts[KEYS][VALUE_MAX];
};

static void describe(const struct config *config, const struct alphabet *alphabet,
		     struct metadata *ret)
{
	int i, at = 0;

	for (i = 0; i < FIELDS; i++) {
		ret->keys[i] = fields[i].key;
		snprintf(ret->texts[i], VALUE_MAX, "%lld",
			 (long long)*(const int64_t *)((const char *)config + fields[i].at));
	}
	ret->keys[i] = "rms_norm_eps";
	snprintf(ret->texts[i++], VALUE_MAX, "%.17g", config->epsilon);
	ret->keys[i] = "rope_theta";
	snprintf(ret->texts[i++], VALUE_MAX, "%.17g", config->rope.base);
	ret->keys[i] = "alphabet"; /* as numbers */
	for (int k = 0; k < alphabet->n; k++)
		at += snprintf(ret->texts[i] + at, (size_t)(VALUE_MAX - at), k ? " %d" : "%d",
			       alphabet->bytes[k]);
	for (i = 0; i < KEYS; i++)
		ret->values[i] = ret->texts[i];
}

static bool read_alphabet(const char *text, struct alphabet *ret)
{
	bool used[256] = {false};

	for (char *end; *text; text = end) {
		long byte = strtol(text, &end, 10);
		if (end == text || byte < 0 || byte > 255)
			return complain("the metadata 'alphabet' is not a list of bytes");
		used[byte] = true;
	}
	alphabet_init(ret, used);
	return true;
}

static const char *value_of(lb_file *file, const char *key)
{
	const char *value = lb_file_metadata(file, key);

	if (!value)
		complain("no metadata '%s': not a file that train has saved", key);
	return value;
}

static bool read_config(lb_file *file, struct config *ret, struct alphabet *alphabet)
{
	*ret = (struct config){.rope.scale = 1};
	for (int i = 0; i < FIELDS; i++) {
		const char *value = value_of(file, fields[i].key);
		if (!value)
			return false;
		*(int64_t *)((char *)ret + fields[i].at) = strtoll(value, NULL, 10);
	}
	const char *epsilon = value_of(file, "rms_norm_eps"),
		*base = epsilon ? value_of(file, "rope_theta") : NULL;
	const char *bytes = base ? value_of(file, "alphabet") : NULL;
	if (!bytes || !read_alphabet(bytes, alphabet))
		return false;
	ret->epsilon = strtod(epsilon, NULL);
	ret->rope.base = strtod(base, NULL);
	ret->vocabulary = alphabet->n;
	return config_check(ret);
}

/* ---- saving and loading ---- */

/* All weights with their names, for lb_save_safetensors_with(). */
struct list {
	int n, room;
	char (*texts)[160];
	const char **names;
	lb_tensor **weights;
};

static bool add(void *context, const struct place *place)
{
	struct list *list = context;
	lb_tensor *weight = place->linear ? place->linear->weight : *place->norm;

	if (!weight || list->n == list->room)
		return !weight;
	snprintf(list->texts[list->n], sizeof(*list->texts), "%s.weight", place->name);
	list->names[list->n] = list->texts[list->n];
	list->weights[list->n++] = weight;
	return true;
}

bool checkpoint_save(const char *path, struct model *model, const struct alphabet *alphabet)
{
	struct metadata *metadata = calloc(1, sizeof(*metadata));
	struct list list = {.room = (int)model->config.layers * 16 + 8};
	bool saved = false;

	list.texts = calloc((size_t)list.room, sizeof(*list.texts));
	list.names = calloc((size_t)list.room, sizeof(*list.names));
	list.weights = calloc((size_t)list.room, sizeof(*list.weights));
	if (!metadata || !list.texts || !list.names || !list.weights ||
	    !model_visit(model, add, &list)) {
		complain("no memory to save %d weights", list.room);
	} else {
		describe(&model->config, alphabet, metadata);
		saved = lb_save_safetensors_with(path, list.n, list.names, list.weights, KEYS,
						 metadata->keys,
						 metadata->values);
	}
	free(metadata);
	free(list.texts);
	free(list.names);
	free(list.weights);
	return saved;
}

bool checkpoint_load(const char *path, struct model *model, struct alphabet *alphabet)
{
	struct weights weights = {0};
	struct config config;

	*model = (struct model){0};
	bool ok = weights_open(&weights, path) && read_config(weights.files[0], &config,
							      alphabet) &&
		  model_init(model, &config) && weights_load(&weights, model);
	weights_close(&weights);
	return ok;
}
