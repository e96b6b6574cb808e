/* SPDX-License-Identifier: Apache-2.0 */
/* Running checks and reporting; see doctor.h. */
#include "client/doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/line_break.h"
#include "client/doctor/checks.h"
#include "client/doctor/doctor_target.h"
#include "client/doctor/system.h"
#include "client/process/terminal.h"
#include "trace/json.h"

int doctor_examine(struct doctor *d, const struct system *system)
{
	*d = (struct doctor){
		.system = system,
		.checks = system->target ? target_checks : checks,
		.n = system->target ? n_target_checks : n_checks,
	};
	d->findings = calloc(d->n, sizeof *d->findings);
	if (!d->findings)
		return -ENOMEM;
	for (size_t i = 0; i < d->n; i++)
		d->checks[i].run(system, &d->checks[i], &d->findings[i]);
	return 0;
}

void doctor_deinit(struct doctor *d)
{
	free(d->findings);
	d->findings = NULL;
}

bool doctor_is_ready(const struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->checks[i].is_needed && d->findings[i].state == FINDING_NO)
			return false;
	return true;
}

size_t doctor_count(const struct doctor *d, enum finding_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += d->findings[i].state == state;
	return n;
}

/* --- text ---------------------------------------------------------------------------------- */

#define WIDTH 80
#define MIN_WIDTH 40
#define NAME_COLUMNS 20
#define TEXT_COLUMN 27 /* the column of the finding, from 0 */

struct doctor_text {
	FILE *out;
	size_t width;
	bool has_color;
};

static void put_colored(const struct doctor_text *t, const char *color, const char *words)
{
	terminal_write_colored(t->has_color ? color : "", words, t->out);
}

/* Writes lines that begin at |column|; the output is at that column already. */
static void put_wrapped(const struct doctor_text *t, const char *text, size_t column)
{
	char line[sizeof((struct finding *)0)->text];

	while (*text) {
		size_t n = line_break_find(text, t->width - column);

		snprintf(line, sizeof line, "%.*s", (int)n, text);
		terminal_write(line, t->out);
		putc('\n', t->out);
		text += n + strspn(text + n, " ");
		if (*text)
			fprintf(t->out, "%*s", (int)column, "");
	}
}

static void put_state(
	const struct doctor_text *t, const struct check *check, enum finding_state state)
{
	static const char *const words[] = {
		[FINDING_YES] = "yes", [FINDING_NO] = "no ", [FINDING_NONE] = "-  "};
	const char *color = state == FINDING_YES    ? TERMINAL_GREEN
			    : state == FINDING_NONE ? ""
			    : check->is_needed	    ? TERMINAL_RED
						    : TERMINAL_YELLOW;

	fputs("  ", t->out);
	put_colored(t, color, words[state]);
}

/* The command is on a line of its own and not wrapped, so that it can be copied. */
static void put_remedy(const struct doctor_text *t, const struct finding *f)
{
	char reason[sizeof f->reason + 2];

	if (*f->command) {
		fprintf(t->out, "%*s", TEXT_COLUMN, "");
		put_colored(t, TERMINAL_BOLD, "do: ");
		terminal_write(f->command, t->out);
		putc('\n', t->out);
	}
	if (*f->reason) {
		snprintf(reason, sizeof reason, "(%s)", f->reason);
		fprintf(t->out, "%*s", TEXT_COLUMN, "");
		put_wrapped(t, reason, TEXT_COLUMN);
	}
}

static void put_finding(
	const struct doctor_text *t, const struct check *check, const struct finding *f)
{
	put_state(t, check, f->state);
	fprintf(t->out, "  %-*s", NAME_COLUMNS, check->name);
	put_wrapped(t, f->text, TEXT_COLUMN);
	if (f->state == FINDING_NO)
		put_remedy(t, f);
}

static void put_head(const struct doctor_text *t, const struct system *sys)
{
	struct utsname name;

	uname(&name);
	if (sys->target) {
		terminal_write(sys->target->address.text, t->out);
		putc('\n', t->out);
		return;
	}
	fprintf(t->out, "proftap " PACKAGE_VERSION " on ");
	terminal_write(name.nodename, t->out);
	fprintf(t->out, ", %s %s, %s, as uid %u\n", name.sysname, name.release, name.machine,
		(unsigned)sys->uid);
}

static void put_end(const struct doctor_text *t, const struct doctor *d)
{
	size_t n = doctor_count(d, FINDING_NO);

	putc('\n', t->out);
	if (doctor_is_ready(d))
		put_colored(t, TERMINAL_GREEN, "ready to record");
	else
		put_colored(t, TERMINAL_RED, "not ready to record");
	if (n)
		fprintf(t->out, "; \"no\" to %zu of %zu", n, d->n);
	putc('\n', t->out);
}

void doctor_write_text(const struct doctor *d, FILE *out, size_t width, bool has_color)
{
	const struct doctor_text t = {out,
		width == 0	    ? WIDTH
		: width < MIN_WIDTH ? MIN_WIDTH
				    : width,
		has_color};
	const char *group = "";

	put_head(&t, d->system);
	for (size_t i = 0; i < d->n; i++) {
		if (strcmp(group, d->checks[i].group) != 0) {
			group = d->checks[i].group;
			putc('\n', out);
			put_colored(&t, TERMINAL_BOLD, group);
			putc('\n', out);
		}
		put_finding(&t, &d->checks[i], &d->findings[i]);
	}
	put_end(&t, d);
}

/* --- JSON ---------------------------------------------------------------------------------- */

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static void write_check(struct json *j, const struct check *check, const struct finding *f)
{
	json_begin_object(j, NULL);
	json_text(j, "key", check->key);
	json_text(j, "group", check->group);
	json_text(j, "name", check->name);
	json_text(j, "state", finding_name_state(f->state));
	json_bool(j, "is_needed", check->is_needed);
	json_text(j, "text", f->text);
	json_text(j, "command", or_null(f->command));
	json_text(j, "reason", or_null(f->reason));
	json_end_object(j);
}

void doctor_write_json(const struct doctor *d, FILE *out)
{
	const struct doctor_target *target = d->system->target;
	struct utsname name;
	struct json j;

	uname(&name);
	json_begin(&j, out);
	json_text(&j, "version", PACKAGE_VERSION);
	json_text(&j, "hostname", name.nodename);
	json_text(&j, "kernel", name.release);
	json_text(&j, "processor", name.machine);
	json_uint(&j, "uid", d->system->uid);
	json_text(&j, "target", target ? target->address.text : NULL);
	json_bool(&j, "is_ready", doctor_is_ready(d));
	json_begin_list(&j, "checks");
	for (size_t i = 0; i < d->n; i++)
		write_check(&j, &d->checks[i], &d->findings[i]);
	json_end_list(&j);
	json_end(&j);
}
