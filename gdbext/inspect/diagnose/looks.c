#include "inspect/diagnose/looks.h"

#include <stdlib.h>

enum { PROBES = 64 };

struct lbx_look_kind *lbx_look_kind(struct lbx_look_kind *kinds, uint64_t hash)
{
	for (int i = 0; i < PROBES; i++) {
		struct lbx_look_kind *kind = &kinds[(hash + (uint64_t)i) % LBX_LOOK_KINDS];
		if (!kind->hash || kind->hash == hash)
			return kind;
	}
	return NULL;
}

void lbx_looks_add(struct lbx_looks *looks, struct lbx_look_kind *kinds, int64_t now_ms)
{
	for (int i = 0; i < LBX_LOOK_KINDS; i++) {
		struct lbx_look_kind *now = &kinds[i];
		const struct lbx_look_kind *before =
		    now->hash && looks->kinds ? lbx_look_kind(looks->kinds, now->hash) : NULL;
		bool has_grown = before && before->hash && now->n > before->n;
		now->grown = has_grown ? before->grown + 1 : 0;
		now->n_then = has_grown ? before->n_then : now->n;
		now->bytes_then = has_grown ? before->bytes_then : now->bytes;
		now->ms_then = has_grown ? before->ms_then : now_ms;
	}
	free(looks->kinds);
	looks->kinds = kinds;
}

void lbx_looks_deinit(struct lbx_looks *looks)
{
	free(looks->kinds);
	*looks = (struct lbx_looks){ 0 };
}
