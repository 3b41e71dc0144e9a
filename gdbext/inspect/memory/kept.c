#include "inspect/memory/kept.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"

enum { FIRST_SLOTS = 64 };

/* Never more than half of them are taken. */
static char **slot_of(char **slots, size_t n_slots, const char *text)
{
	uint64_t hash = strlen(text);

	for (const char *at = text; *at; at++)
		hash = lb_mix(hash + (unsigned char)*at);
	size_t i = (size_t)lb_mix(hash) & (n_slots - 1);
	while (slots[i] && strcmp(slots[i], text) != 0)
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

static bool make_room(struct lbx_kept_texts *texts)
{
	size_t n_slots = texts->n_slots ? texts->n_slots * 2 : FIRST_SLOTS;
	char **slots;

	if (texts->n * 2 < texts->n_slots)
		return true;
	if (!(slots = calloc(n_slots, sizeof *slots)))
		return lb_fail("out of memory for %zu texts", texts->n);
	for (size_t i = 0; i < texts->n_slots; i++)
		if (texts->slots[i])
			*slot_of(slots, n_slots, texts->slots[i]) = texts->slots[i];
	free(texts->slots);
	texts->slots = slots;
	texts->n_slots = n_slots;
	return true;
}

const char *lbx_keep_text(struct lbx_kept_texts *texts, const char *text)
{
	if (!make_room(texts))
		return NULL;
	char **slot = slot_of(texts->slots, texts->n_slots, text);
	if (!*slot) {
		if (!(*slot = strdup(text))) {
			lb_fail("out of memory for %zu texts", texts->n);
			return NULL;
		}
		texts->n++;
	}
	return *slot;
}

void lbx_kept_texts_free(struct lbx_kept_texts *texts)
{
	for (size_t i = 0; i < texts->n_slots; i++)
		free(texts->slots[i]);
	free(texts->slots);
	*texts = (struct lbx_kept_texts){ .n = 0 };
}
