/* SPDX-License-Identifier: Apache-2.0 */
/* The options of views, out of words; see open_view.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "client/view/open_view.h"

void view_settings_deinit(struct view_settings *s)
{
	free(s->shifts_ns);
	selection_deinit(&s->selection);
	*s = (struct view_settings)VIEW_SETTINGS_INIT;
}

/* --- how several are aligned --------------------------------------------------------------- */

static int add_shift(struct view_settings *s, size_t *n_allocated, const char *word, struct diag *d)
{
	int64_t shift_ns;
	int r = selection_parse_time("--align", word, &shift_ns, NULL);

	if (r)
		return diag_set(d, r,
			"--align: bad value \"%.64s\": must be epoch, start, or a time for each file, as in "
			"0,-5ms",
			word);
	if (grow(&s->shifts_ns, n_allocated, s->n_shifts + 1))
		return diag_set(d, -ENOMEM, "--align: out of memory");
	s->shifts_ns[s->n_shifts++] = shift_ns;
	return 0;
}

static int set_shifts(struct view_settings *s, const char *value, struct diag *d)
{
	_cleanup_free_ char *copy = strdup(value);
	size_t n_allocated = 0;
	char *rest = copy;
	char *word;
	int r = copy ? 0 : diag_set(d, -ENOMEM, "--align: out of memory");

	while (r == 0 && (word = strsep(&rest, ",")))
		r = add_shift(s, &n_allocated, word, d);
	return r;
}

int view_settings_set_align(void *settings, const char *value, struct diag *d)
{
	struct view_settings *s = settings;

	free(s->shifts_ns);
	s->shifts_ns = NULL;
	s->n_shifts = 0;
	s->align = VIEW_ALIGN_EPOCH;
	if (strcmp(value, "epoch") == 0)
		return 0;
	if (strcmp(value, "start") != 0)
		return set_shifts(s, value, d);
	s->align = VIEW_ALIGN_START;
	return 0;
}

/* --- what of it ---------------------------------------------------------------------------- */

static struct selection *selection_of(void *settings)
{
	return &((struct view_settings *)settings)->selection;
}

/* At one instant both can be: what is open then is left. */
static int check_range(const struct selection *s, struct diag *d)
{
	if (s->from_ns <= s->to_ns)
		return 0;
	return diag_set(d, -EINVAL, "--to: is earlier than --from");
}

int view_settings_set_from(void *settings, const char *value, struct diag *d)
{
	struct selection *s = selection_of(settings);
	int r = selection_parse_time("--from", value, &s->from_ns, d);

	return r ? r : check_range(s, d);
}

int view_settings_set_to(void *settings, const char *value, struct diag *d)
{
	struct selection *s = selection_of(settings);
	int r = selection_parse_time("--to", value, &s->to_ns, d);

	return r ? r : check_range(s, d);
}

int view_settings_set_min_duration(void *settings, const char *value, struct diag *d)
{
	struct selection *s = selection_of(settings);
	int r = selection_parse_time("--min_duration", value, &s->min_duration_ns, d);

	if (r == 0 && s->min_duration_ns < 0)
		return diag_set(d, -EINVAL,
			"--min_duration: bad value \"%.64s\": must not be negative", value);
	return r;
}

int view_settings_set_name(void *settings, const char *value, struct diag *d)
{
	return selection_set_name(selection_of(settings), "--name", value, d);
}

int view_settings_set_exclude(void *settings, const char *value, struct diag *d)
{
	return selection_set_exclude(selection_of(settings), "--exclude", value, d);
}

int view_settings_set_thread(void *settings, const char *value, struct diag *d)
{
	return selection_set_threads(selection_of(settings), "--thread", value, d);
}

int view_settings_set_pid(void *settings, const char *value, struct diag *d)
{
	return selection_set_pids(selection_of(settings), "--pid", value, d);
}

int view_settings_set_iterations(void *settings, const char *value, struct diag *d)
{
	return selection_set_iterations(selection_of(settings), "--iterations", value, d);
}

/* --- how it is drawn ----------------------------------------------------------------------- */

static struct grouping *grouping_of(void *settings)
{
	return &((struct view_settings *)settings)->grouping;
}

int view_settings_set_primary(void *settings, const char *value, struct diag *d)
{
	return grouping_list_parse(&grouping_of(settings)->primary, "--primary_group", value, d);
}

int view_settings_set_secondary(void *settings, const char *value, struct diag *d)
{
	return grouping_list_parse(
		&grouping_of(settings)->secondary, "--secondary_group", value, d);
}

int view_settings_set_system_primary(void *settings, const char *value, struct diag *d)
{
	return grouping_list_parse(
		&grouping_of(settings)->primary, "--system_trace_primary_group", value, d);
}

int view_settings_set_system_secondary(void *settings, const char *value, struct diag *d)
{
	return grouping_list_parse(
		&grouping_of(settings)->secondary, "--system_trace_secondary_group", value, d);
}
