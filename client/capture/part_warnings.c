/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings; see part_warnings.h. */
#include "client/capture/part_warnings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "client/answer/summary.h"
#include "client/capture/capture.h"
#include "client/capture/part.h"
#include "trace/model/space.h"

/* Less is what measuring and waking up take. */
#define LATE_NS NS_PER_MS
/* A recording is never shorter than asked for by itself; times are rounded. */
#define EARLY_MS 2

static void warn(struct names *warnings, const char *text)
{
	names_intern(warnings, text, strlen(text));
}

/* Of the window's begin behind the agreed instant. */
static int64_t find_moved_ns(const struct part *p, const struct summary *s)
{
	return s->start_unix_ns - (int64_t)p->options.start_timestamp_ns;
}

bool part_find_late(const struct part *p, const struct summary *s, int64_t *late_ns)
{
	*late_ns = s->knows_late ? s->late_ns : find_moved_ns(p, s);
	return p->start_unix_ns && s->start_unix_ns &&
	       (s->knows_late || (p->clock.is_known && !p->clock.is_bracket));
}

/* What is missing in the window a server says itself. */
static void warn_of_lateness(const struct part *p, const struct summary *s, struct names *warnings)
{
	int64_t late_ns;
	char text[128];

	if (!part_find_late(p, s, &late_ns) || late_ns <= LATE_NS ||
		late_ns - find_moved_ns(p, s) > LATE_NS)
		return;
	snprintf(text, sizeof text,
		"began %.1f ms after the agreed instant: the target was not ready; a longer "
		"--delay helps",
		(double)late_ns / 1e6);
	warn(warnings, text);
}

static void warn_of_stock_session(const struct part *p, struct names *warnings)
{
	warn(warnings,
		"this server begins anew with each snapshot: what happens while it makes one "
		"is lost");
	if (p->options.session_id[0])
		warn(warnings,
			"this server has no names for sessions: it was asked for the one that "
			"runs");
}

/*
 * A server that does not know Capture is of another make. A server that writes the trace by itself
 * was not asked for Capture.
 */
static bool is_of_another_make(const struct part *p)
{
	struct clock_offset said;

	if (p->capture->server_writes)
		return !clock_offset_find_name(p->recording.link.channel, &said);
	return !p->request.calls && !p->recording.is_stream;
}

void part_warnings_add_of_options(const struct part *p, struct names *warnings)
{
	struct diag d = DIAG_INIT;

	if (profile_options_note_ours(&p->options, &d) == OPTION_NOTED && is_of_another_make(p))
		warn(warnings, d.text);
}

static bool says_why(const struct names *warnings)
{
	for (uint32_t i = 0; i < warnings->n_texts; i++)
		if (strstr(warnings->texts[i], " ms into the recording"))
			return true;
	return false;
}

/* Whoever runs it waits for all of it, and would not see that others were allowed to end it. */
static void warn_of_others(const struct part *p, const struct summary *s, struct names *warnings)
{
	char text[160];

	if (s->is_interrupted || !p->recording.is_stream || p->request.calls ||
		p->capture->has_program || !s->space || s->duration_ms + EARLY_MS >= s->asked_ms ||
		says_why(&s->space->warnings))
		return;
	snprintf(text, sizeof text,
		"ended after %" PRId64 " of %" PRId64
		" ms by somebody else: proftap stop, or Terminate of another client",
		s->duration_ms, s->asked_ms);
	warn(warnings, text);
}

/* What befell the file on its way. */
static void warn_of_file(const struct part *p, struct names *warnings)
{
	if (p->answer.is_empty_trace)
		warn(warnings, "the server says that the trace is empty, which it is not");
	if (p->remark.text[0])
		warn(warnings, p->remark.text);
	if (p->place_remark.text[0])
		warn(warnings, p->place_remark.text);
	if (p->name_remark.text[0])
		warn(warnings, p->name_remark.text);
	if (!p->answer.outline.space)
		warn(warnings, "the trace is too large to be summarised here: out of memory");
}

void part_warnings_add(const struct part *p, const struct summary *s, struct names *warnings)
{
	if (s->is_interrupted)
		warn(warnings, "interrupted: the recording was ended early");
	if (p->request.calls && p->request.calls->is_of_session && !p->recording.is_stream)
		warn_of_stock_session(p, warnings);
	part_warnings_add_of_options(p, warnings);
	warn_of_file(p, warnings);
	warn_of_lateness(p, s, warnings);
	warn_of_others(p, s, warnings);
}
