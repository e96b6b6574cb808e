/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a target's server, its process, and the permission to trace and sample it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "client/doctor/checks.h"
#include "client/doctor/doctor_target.h"
#include "client/doctor/finding.h"
#include "client/doctor/mappings.h"
#include "client/doctor/programs.h"
#include "client/doctor/system.h"
#include "client/process/exit.h"
#include "client/program/program.h"
#include "client/target/command_line.h"

#define MIB (1024 * 1024)

/* --- the server ---------------------------------------------------------------------------- */

static bool is_of_another_user(const struct system *sys)
{
	char text[128];
	unsigned uid;

	return sys->uid != 0 && doctor_target_read_status(sys, "Uid", text, sizeof text) == 0 &&
	       sscanf(text, "%u", &uid) == 1 && uid != sys->uid;
}

static bool is_stopped(const struct system *sys)
{
	char state[64];

	return doctor_target_read_status(sys, "State", state, sizeof state) == 0 &&
	       (*state == 'T' || *state == 't');
}

/* Explains why no server answered. This user cannot see the socket of another user's server. */
static void refuse_server(const struct system *sys, struct finding *f)
{
	const struct doctor_target *p = sys->target;

	if (!p->pid) {
		finding_no(f, "%s", p->why.text);
		finding_set_command(f, "proftap list");
	} else if (is_of_another_user(sys)) {
		finding_no(f, "pid %d: another user's process: its server cannot be seen from here",
			(int)p->pid);
		finding_set_command(f, "sudo proftap doctor %d", (int)p->pid);
	} else {
		bool is_known = !strstr(p->why.text, "proftap doctor");

		/*
		 * If the reason advises to run proftap doctor, which is running already,
		 * another text is written.
		 */
		if (is_known)
			finding_no(f, "%s", p->why.text);
		else
			finding_no(f, "pid %d: this process has no profiler server%s", (int)p->pid,
				is_stopped(sys) ? " that answers, and is stopped" : "");
		if (is_stopped(sys))
			finding_set_command(f, "kill -CONT %d", (int)p->pid);
		else
			finding_set_reason(f,
				"the program must call ptap_server_start(), again if its server was "
				"killed, or be started by proftap run; a stopped program answers "
				"when it is continued");
	}
}

void check_target_server(const struct system *sys, const struct check *self, struct finding *f)
{
	const struct doctor_target *p = sys->target;

	(void)self;
	if (p->is_stock) {
		finding_yes(f, "%s: %s profiler server%s%.64s", p->address.text,
			p->make[0] ? p->make : "a stock (JAX, TensorFlow)", p->pid ? " of " : "",
			p->pid ? p->status.name : "");
	} else if (p->code == EXIT_DONE && p->n_programs == 0) {
		finding_yes(f, "%s answers, and has no program of this user", p->address.text);
	} else if (p->code == EXIT_DONE && p->n_programs > 1) {
		finding_yes(f, "%s answers, with %zu programs", p->address.text, p->n_programs);
	} else if (p->code == EXIT_DONE) {
		finding_yes(f, "%s: %.64s, pid %d", p->address.text, p->status.name, p->status.pid);
	} else {
		refuse_server(sys, f);
	}
}

void check_target_state(const struct system *sys, const struct check *self, struct finding *f)
{
	const struct doctor_target *p = sys->target;

	(void)self;
	if (p->is_stock) {
		finding_none(f,
			"not known: such a server does not report its state; it refuses a capture "
			"while another runs");
	} else if (p->code != EXIT_DONE || p->n_programs != 1) {
		finding_none(f, "not known");
	} else if (p->status.is_recording) {
		finding_no(f, "a recording runs");
		finding_set_reason(f,
			"wait for its end, as proftap capture --wait does; proftap stop %s ends a "
			"session of proftap start",
			p->address.words);
	} else if (p->status.has_ended) {
		finding_no(f, "it has ended");
		finding_set_command(f, "proftap snapshot %s", p->address.words);
		finding_set_reason(f, "gets the content of its flight recorder");
	} else {
		finding_yes(f, "%s", status_name_state(&p->status));
	}
}

/* --- the process --------------------------------------------------------------------------- */

void check_target_process(const struct system *sys, const struct check *self, struct finding *f)
{
	char name[64];
	char state[64];

	(void)self;
	if (!doctor_target_is_there(sys, f))
		return;
	if (doctor_target_read_status(sys, "Name", name, sizeof name) ||
		doctor_target_read_status(sys, "State", state, sizeof state)) {
		finding_no(f, "pid %d: no such process", (int)sys->target->pid);
		finding_set_command(f, "proftap list");
	} else if (is_stopped(sys)) {
		finding_no(f, "%s is stopped", name);
		finding_set_command(f, "kill -CONT %d", (int)sys->target->pid);
	} else if (*state == 'Z' || *state == 'X') {
		finding_no(f, "%s has ended, and its parent has not reaped it", name);
		finding_set_reason(f, "only its exit status is left");
	} else {
		finding_yes(f, "%s, %s", name, state);
	}
}

/* The user ids are real, effective and saved. If they differ, only root may record the program. */
void check_target_user(const struct system *sys, const struct check *self, struct finding *f)
{
	char text[128];
	unsigned u[3] = {0, 0, 0};

	(void)self;
	if (!doctor_target_is_there(sys, f))
		return;
	if (doctor_target_read_status(sys, "Uid", text, sizeof text) ||
		sscanf(text, "%u %u %u", &u[0], &u[1], &u[2]) != 3) {
		finding_none(f, "not known");
	} else if (sys->uid == 0 || (sys->uid == u[0] && u[0] == u[1] && u[1] == u[2])) {
		finding_yes(f, "uid %u, and proftap runs as %u", u[1], sys->uid);
	} else {
		finding_no(f,
			"uid %u, and proftap runs as %u: only the program's user and root "
			"may record it",
			u[1], sys->uid);
		finding_set_command(f, "sudo proftap capture %d 1000", (int)sys->target->pid);
	}
}

/* Advises the user to run the program's command line again under proftap run. */
static void advise_run(const struct system *sys, struct finding *f)
{
	struct command_line c;
	struct program_file program;
	struct diag d = DIAG_INIT;
	char dir[FINDING_WORD_BYTES];

	if (command_line_read(sys->root, sys->target->pid, &c))
		finding_set_reason(f,
			"start it by proftap run and its command line, which the program has "
			"overwritten; or link it with -lproftap");
	else if (program_find(c.program, &program, &d))
		finding_set_reason(f, "link it with -lproftap; %.200s", d.text);
	else if (c.dir[0])
		finding_set_command(
			f, "cd %s && proftap run -p 0 -- %s", finding_quote(dir, c.dir), c.text);
	else
		finding_set_command(f, "proftap run -p 0 -- %s", c.text);
}

/* Reads the mappings. False: they are not known, and |f| says so. */
static bool read_mappings(
	const struct system *sys, struct proftap_mappings *mappings, struct finding *f)
{
	if (!doctor_target_is_there(sys, f))
		return false;
	mappings_read(sys, sys->target->pid, mappings);
	if (!mappings->is_known)
		finding_none(f, "its mappings may not be read");
	return mappings->is_known;
}

void check_target_library(const struct system *sys, const struct check *self, struct finding *f)
{
	struct proftap_mappings mappings;

	(void)self;
	if (!read_mappings(sys, &mappings, f))
		return;
	if (mappings.library[0]) {
		finding_yes(f, "%s", mappings.library);
	} else if (sys->target->is_stock) {
		finding_none(f, "it has none; its own server records it");
	} else {
		finding_no(f, "it has no libproftap in it");
		advise_run(sys, f);
	}
}

void check_target_rings(const struct system *sys, const struct check *self, struct finding *f)
{
	struct proftap_mappings mappings;

	(void)self;
	if (!read_mappings(sys, &mappings, f))
		return;
	if (!mappings.reserved_bytes)
		finding_none(f, "it shares no memory with a server");
	else
		finding_yes(f, "room for %" PRIu64 " MiB, %.1f MiB of it mapped",
			mappings.reserved_bytes / MIB, (double)mappings.open_bytes / MIB);
}

void check_target_namespaces(const struct system *sys, const struct check *self, struct finding *f)
{
	static const char *const kinds[] = {"pid", "mnt", "net", "user", "cgroup"};
	char others[64] = "";
	char inside[128] = "";
	const char *last;

	(void)self;
	if (!doctor_target_is_there(sys, f))
		return;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (doctor_target_has_other_namespace(sys, kinds[i]))
			snprintf(others + strlen(others), sizeof others - strlen(others), "%s%s",
				*others ? ", " : "", kinds[i]);
	if (!*others) {
		finding_yes(f, "the same as this process");
		return;
	}
	/* NSpid is "4242	7": the last pid is the innermost. */
	doctor_target_read_status(sys, "NSpid", inside, sizeof inside);
	last = strrchr(inside, '\t');
	finding_none(f, "its own: %s%s%s; its port may not be reached, its private socket may",
		others, last ? "; pid inside " : "", last ? last + 1 : "");
}

/* --- permissions --------------------------------------------------------------------------- */

void check_target_tracing(const struct system *sys, const struct check *self, struct finding *f)
{
	char tracer[32];
	int r;

	(void)self;
	if (!doctor_target_is_there(sys, f))
		return;
	if (doctor_target_read_status(sys, "TracerPid", tracer, sizeof tracer) == 0 &&
		strcmp(tracer, "0") != 0) {
		finding_no(f, "pid %s traces it already", tracer);
		finding_set_command(f, "kill %s", tracer);
		return;
	}
	r = sys->attempt(ATTEMPT_PTRACE_PID, sys->target->pid);
	if (r == 0) {
		finding_yes(f, "permitted");
		return;
	}
	finding_no(f, "refused: %s", errno_words(r));
	if (sys->uid == 0)
		finding_set_reason(f, "a security module, or a filter of system calls forbids it");
	else
		programs_set_setcap(sys, f, "cap_sys_ptrace");
}

void check_target_sampling(const struct system *sys, const struct check *self, struct finding *f)
{
	int r;

	(void)self;
	if (!doctor_target_is_there(sys, f))
		return;
	r = sys->attempt(ATTEMPT_PERF_PID, sys->target->pid);
	if (r == 0) {
		finding_yes(f, "permitted");
		return;
	}
	finding_no(f, "refused: %s", errno_words(r));
	finding_set_command(f, "proftap doctor");
	finding_set_reason(f, "explains why, and how to change that");
}
