/* SPDX-License-Identifier: Apache-2.0 */
/* The findings in columns; see doctor.h. */
#include <string.h>
#include <sys/utsname.h>

#include "base/line_break.h"
#include "client/doctor/check.h"
#include "client/doctor/doctor.h"
#include "client/doctor/patient.h"
#include "client/doctor/system.h"
#include "client/process/terminal.h"

#define BOLD "\033[1m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

#define WIDTH 80
#define MIN_WIDTH 40
#define NAME_COLUMNS 20
#define TEXT_COLUMN 27 /* of what was found, from 0 */

struct text {
	FILE *out;
	size_t width;
	bool has_color;
};

static void put_colored(const struct text *t, const char *color, const char *words)
{
	fprintf(t->out, "%s%s%s", t->has_color ? color : "", words, t->has_color ? PLAIN : "");
}

/* Lines that begin at |column|, in which the first one already is. */
static void put_wrapped(const struct text *t, const char *text, size_t column)
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

static void put_state(const struct text *t, const struct check *check, enum finding_state state)
{
	static const char *const words[] = {
		[FINDING_YES] = "yes", [FINDING_NO] = "no ", [FINDING_NONE] = "-  "};
	const char *color = state == FINDING_YES    ? GREEN
			    : state == FINDING_NONE ? ""
			    : check->is_needed	    ? RED
						    : YELLOW;

	fputs("  ", t->out);
	put_colored(t, color, words[state]);
}

/* Its command stands on a line of its own, whole, to be copied. */
static void put_remedy(const struct text *t, const struct finding *f)
{
	char reason[sizeof f->reason + 2];

	if (*f->command) {
		fprintf(t->out, "%*s", TEXT_COLUMN, "");
		put_colored(t, BOLD, "do: ");
		terminal_write(f->command, t->out);
		putc('\n', t->out);
	}
	if (*f->reason) {
		snprintf(reason, sizeof reason, "(%s)", f->reason);
		fprintf(t->out, "%*s", TEXT_COLUMN, "");
		put_wrapped(t, reason, TEXT_COLUMN);
	}
}

static void put_finding(const struct text *t, const struct check *check, const struct finding *f)
{
	put_state(t, check, f->state);
	fprintf(t->out, "  %-*s", NAME_COLUMNS, check->name);
	put_wrapped(t, f->text, TEXT_COLUMN);
	if (f->state == FINDING_NO)
		put_remedy(t, f);
}

static void put_head(const struct text *t, const struct system *sys)
{
	struct utsname name;

	uname(&name);
	if (sys->patient) {
		terminal_write(sys->patient->address.text, t->out);
		putc('\n', t->out);
		return;
	}
	fprintf(t->out, "proftap " PACKAGE_VERSION " on ");
	terminal_write(name.nodename, t->out);
	fprintf(t->out, ", %s %s, %s, as uid %u\n", name.sysname, name.release, name.machine,
		(unsigned)sys->uid);
}

static void put_end(const struct text *t, const struct doctor *d)
{
	size_t n = doctor_count(d, FINDING_NO);

	putc('\n', t->out);
	if (doctor_is_ready(d))
		put_colored(t, GREEN, "ready to record");
	else
		put_colored(t, RED, "not ready to record");
	if (n)
		fprintf(t->out, "; \"no\" to %zu of %zu", n, d->n);
	putc('\n', t->out);
}

void doctor_write_text(const struct doctor *d, FILE *out, size_t width, bool has_color)
{
	const struct text t = {out,
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
			put_colored(&t, BOLD, group);
			putc('\n', out);
		}
		put_finding(&t, &d->checks[i], &d->findings[i]);
	}
	put_end(&t, d);
}
