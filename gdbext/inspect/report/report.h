/* All that a dead program's core tells at once: gathered here, shown as text, JSON or a page. */
#ifndef LBX_REPORT_H
#define LBX_REPORT_H

#include "inspect/diagnose/diagnosis.h"
#include "inspect/forensics/suspect.h"
#include "inspect/memory/memory.h"
#include "inspect/operand/frames.h"
#include "inspect/show/work.h"

enum { LBX_BAD_SHOWN = 5 /* of findings about values: then, how many more there are */ };

/* Sections that cannot always be made, as in a core that is cut. */
enum lbx_section {
	LBX_SECTION_THREADS,
	LBX_SECTION_FLIGHTS,
	LBX_SECTION_DIAGNOSIS,
	LBX_SECTION_MEMORY,
	LBX_SECTION_SUSPICIONS,
	LBX_SECTIONS
};

struct lbx_report {
	bool has_death;
	struct lbx_death death;
	char fault[1024];       /* what the fault's address has to do with tensors, or "" */
	int n_threads, total_threads;
	struct lbx_thread_view *threads; /* the dead one first */
	bool has_tensors;       /* of whatever provider; else there is nothing from `unreadable` on */
	bool has_runtime;       /* else there are no flights and no counters */
	char why[512];          /* why there is no runtime */
	char missing[LBX_SECTIONS][LBX_WHY_MAX]; /* why a section is missing, or not whole; or "" */
	struct lbx_root root;
	uint64_t by_state[LBX_STATES], unreadable;
	uint64_t bad_first, bad_last; /* addresses of such records; 0: not known */
	int n_flights;          /* threads that evaluate, by the table */
	struct lbx_thread *flights;
	struct lbx_works works; /* what threads do with tensors of other providers */
	struct lbx_diagnosis diagnosis; /* what the doctor says, and NaN and Inf */
	struct lbx_snapshot memory;
	enum lbx_by by;         /* LBX_BY_SITE; or LBX_BY_NAME, where nobody knows what made them */
	struct lbx_holding_groups groups;
	struct lbx_holding_groups usage; /* by what it is for; none where nobody tells */
	struct lbx_suspect suspect;
	struct lbx_findings suspicions;
};

/* "The table of tensors is damaged, or …: 14 records from 0x… to 0x…"; false: it is not. */
bool lbx_describe_damage(const struct lbx_report *report, char *ret, size_t size);
/* "5.3 MiB weights, 512 KiB state"; false: nobody tells what memory is for. */
bool lbx_describe_usage(const struct lbx_report *report, char *ret, size_t size);
/* What only the runtime would have told, and why it does not; to be said where has_runtime is false. */
void lbx_describe_unknown(const struct lbx_report *report, char *ret, size_t size);
bool lbx_report_collect(struct lbx_context *context, double seconds, struct lbx_report *ret);
void lbx_report_deinit(struct lbx_report *report);
void lbx_report_tell(struct lbx_context *context, const struct lbx_report *report);
/* One HTML page without references to anything outside. */
bool lbx_report_page(struct lbx_context *context, const struct lbx_report *report, struct lbx_out *page);

#endif
