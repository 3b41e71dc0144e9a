#include "inspect/diagnose/sarif.h"

#include "inspect/answer.h"
#include "inspect/diagnose/rule.h"

static json_t *rules(const struct lbx_diagnosis *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->n_checked; i++) {
		const struct lbx_rule *r = d->checked[i];
		json_array_append_new(list, json_pack("{s:s,s:s,s:{s:s},s:{s:s},s:{s:s}}", "id", r->id, "name", r->name,
						      "shortDescription", "text", r->title, "fullDescription", "text",
						      r->meaning, "help", "text", r->cure));
	}
	return list;
}

static json_t *location(const struct lbx_diagnosed *f)
{
	return json_pack("{s:{s:{s:o},s:{s:i}}}", "physicalLocation", "artifactLocation", "uri",
			 lbx_json_string(f->line.file), "region", "startLine", f->line.line > 0 ? f->line.line : 1);
}

static json_t *results(const struct lbx_diagnosis *d)
{
	static const char *const levels[] = { [LBX_LOW] = "note", [LBX_MEDIUM] = "warning", [LBX_HIGH] = "error" };
	json_t *list = json_array();

	for (size_t i = 0; i < d->n; i++) {
		const struct lbx_diagnosed *f = &d->list[i];
		char text[sizeof f->title + sizeof f->evidence + sizeof f->advice + 8] = "";
		LBX_SAY(text, "%s. %s %s", f->title, f->evidence, f->advice);
		json_t *o =
		    json_pack("{s:s,s:s,s:{s:o},s:{s:f}}", "ruleId", f->rule->id, "level", levels[f->severity],
			      "message", "text", lbx_json_string(text), "properties", "confidence", f->confidence);
		json_object_set_new(o, "locations", f->line.file[0] ? json_pack("[o]", location(f)) : json_array());
		json_array_append_new(list, o);
	}
	return list;
}

void lbx_sarif(struct lbx_out *out, const struct lbx_diagnosis *d)
{
	lbx_json_write(out, json_pack("{s:s,s:s,s:[{s:{s:{s:s,s:s,s:o}},s:o}]}", "$schema",
				      "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
				      "tool", "driver", "name", "lazybones", "version", LB_VERSION, "rules", rules(d),
				      "results", results(d)));
}
