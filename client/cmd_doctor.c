/* SPDX-License-Identifier: Apache-2.0 */
/* proftap doctor: checks what this machine or a target permits, and prints what would change it. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "client/command/command.h"
#include "client/doctor/doctor.h"
#include "client/doctor/doctor_target.h"
#include "client/doctor/system.h"
#include "client/process/exit.h"
#include "client/process/terminal.h"

struct doctor_settings {
	bool is_json;
};

static const struct argument_option options[] = {
	{"json", 0, ARGUMENT_FLAG, offsetof(struct doctor_settings, is_json), 0, 0, NULL, NULL,
		"print one JSON object on standard output instead of text"},
};

static int run_checks(const struct doctor_settings *s, const struct system *system)
{
	struct doctor doctor;
	int code = EXIT_FAILED;

	if (doctor_examine(&doctor, system)) {
		fprintf(stderr, "proftap doctor: out of memory\n");
	} else {
		if (s->is_json)
			doctor_write_json(&doctor, stdout);
		else
			doctor_write_text(&doctor, stdout, terminal_get_width(stdout),
				terminal_has_color(stdout));
		code = doctor_is_ready(&doctor) ? EXIT_DONE : EXIT_FAILED;
	}
	doctor_deinit(&doctor);
	return code;
}

/* If the target's server does not answer, the exit code is the same as a capture's. */
static int examine_target(const struct command *self, const struct doctor_settings *s,
	struct system *system, const char *text)
{
	struct doctor_target target;
	struct diag d = DIAG_INIT;
	int code;

	if (doctor_target_load(&target, text, &d))
		return command_fail_usage(self, &d);
	system->target = &target;
	code = run_checks(s, system);
	return code == EXIT_FAILED && target.code != EXIT_DONE ? target.code : code;
}

static int run_doctor(const struct command *self, int argc, char **argv)
{
	struct doctor_settings s = {false};
	struct system system;
	struct diag d = DIAG_INIT;
	int n_left;
	int r = command_parse(self, argc, argv, &s, &n_left, &d);

	if (r == COMMAND_HANDLED)
		return EXIT_DONE;
	if (r == 0 && n_left > 1)
		r = diag_set(&d, -EINVAL, "proftap doctor: one TARGET at a time, or none");
	if (r < 0)
		return command_fail_usage(self, &d);
	system_init(&system);
	return n_left ? examine_target(self, &s, &system, argv[0]) : run_checks(&s, &system);
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "[TARGET] [--json]",
	.summary = "check what can be recorded on this machine, or of a target, and how to permit "
		   "the rest",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.operands = ":targets",
	.run = run_doctor,
};
