/* SPDX-License-Identifier: Apache-2.0 */
/* Findings; see finding.h. */
#include "client/doctor/finding.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "base/utf8.h"
#include "client/process/terminal.h"

/* Returns false if the text was cut. */
static bool put_text(char *to, size_t n, const char *format, va_list args)
{
	int length = vsnprintf(to, n, format, args);

	printable_clean(to);
	return length >= 0 && (size_t)length < n;
}

/* Writes the text. If it does not fit, cuts it between two characters and adds "…". */
static void put_marked(char *to, size_t n, const char *format, va_list args)
{
	if (!put_text(to, n, format, args))
		utf8_mark_cut(to, n);
}

static void begin_finding(
	struct finding *f, enum finding_state state, const char *format, va_list args)
{
	memset(f, 0, sizeof *f);
	f->state = state;
	put_marked(f->text, sizeof f->text, format, args);
}

void finding_yes(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	begin_finding(f, FINDING_YES, format, args);
	va_end(args);
}

void finding_no(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	begin_finding(f, FINDING_NO, format, args);
	va_end(args);
}

void finding_none(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	begin_finding(f, FINDING_NONE, format, args);
	va_end(args);
}

void finding_set_command(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!put_text(f->command, sizeof f->command, format, args)) {
		f->command[0] = '\0';
		finding_set_reason(f, "the command is too long to be shown");
	}
	va_end(args);
}

void finding_set_reason(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_marked(f->reason, sizeof f->reason, format, args);
	va_end(args);
}

const char *finding_quote(char out[FINDING_WORD_BYTES], const char *word)
{
	FILE *f = fmemopen(out, FINDING_WORD_BYTES, "w");

	out[0] = '\0';
	if (!f)
		return out;
	terminal_write_word(word, f);
	fclose(f);
	out[FINDING_WORD_BYTES - 1] = '\0';
	return out;
}

const char *finding_name_state(enum finding_state state)
{
	static const char *const names[] = {
		[FINDING_YES] = "yes",
		[FINDING_NO] = "no",
		[FINDING_NONE] = "none",
	};

	return names[state];
}
