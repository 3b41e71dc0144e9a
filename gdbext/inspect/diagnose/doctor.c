/* What is wrong with the program: all rules, and what they have found. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/diagnose/diagnosis.h"
#include "inspect/diagnose/sarif.h"

enum { DEFAULT_SECONDS = 10 };

static bool run_doctor(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_diagnose what = { .only = lbx_args_option(args, "only"),
				     .tensors = args->n ? args->v[0] : NULL,
				     .without_tensors = true };
	struct lbx_diagnosis diagnosis = { 0 };
	struct lbx_out *out = context->out;
	int64_t seconds = DEFAULT_SECONDS;
	char tensors[LBX_LINE_MAX];

	if (what.tensors) {
		if (!lbx_word_unquote(what.tensors, tensors))
			return false;
		what.tensors = tensors;
	}
	if (what.only && !*what.only)
		return lbx_misuse("doctor: --only takes rules, as in L1,L2");
	if (!lbx_args_int(args, "seconds", 0, 1 << 20, &seconds))
		return false;
	what.seconds = (double)seconds;
	bool done = lbx_diagnose(context, &what, &diagnosis);
	if (done && lbx_args_option(args, "sarif")) {
		lbx_sarif(out, &diagnosis);
	} else if (done) {
		lbx_begin(out, NULL);
		lbx_diagnosis_tell(context, &diagnosis, lbx_args_option(args, "all"));
		lbx_end(out);
	}
	lbx_set_int(out, "tensor_count", (int64_t)diagnosis.n);
	context->has_found = lbx_diagnosis_worst(&diagnosis) > LBX_LOW;
	lbx_diagnosis_deinit(&diagnosis);
	return done && lb_ok();
}

const struct lbx_command lbx_command_doctor = {
	.name = "doctor",
	.arguments = "[T|GLOB]",
	.summary = "say what is wrong, how sure that is, and what to do",
	.help = "Checks each rule that it has on the program's tensors, what the runtime counts and\n"
		"records, and on values: graphs that grow, evaluations in loops, types, memory that\n"
		"is held, NaN; of a program of any kind the command `lazybones` also tells why it died. The worst comes first, with its evidence. A healthy program gets one line.\n"
		"What could not be checked is said. `explain` tells of a rule what it demands before it\n"
		"speaks, and the cure. GLOB: only tensors of such names, and no events.\n"
		"The command's exit status is 3 where something above low was found.\n"
		"`lazybones doctor -- PROGRAM [ARGUMENT]...` runs the program, looks at it now and then, and tells\n"
		"at its end or death; `lazybones doctor PID --every 10` looks each 10 seconds, until Ctrl-C, and\n"
		"tells what is new and what is gone.\n"
		"Example: doctor --only L1,L2",
	.max_args = 1,
	.needs = LBX_NEEDS_VALUES,
	.options = {
		{ "only", "RULES", "check these rules alone: L1,L2a,nonfinite" },
		{ "seconds", "N", "look at values for N seconds at most (default 10); 0: not at all" },
		{ "all", NULL, "tell findings of low severity in full, too" },
		{ "sarif", NULL, "write SARIF 2.1.0, for editors and CI" },
	},
	.run = run_doctor,
};
