/* SPDX-License-Identifier: Apache-2.0 */
/* Labels; see perfetto_labels.h. */
#include "trace/codec/perfetto_labels.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/read/view.h"

/*
 * The bytes of a label, with the terminating one; a longer one ends with "…". The trace itself has
 * the names whole.
 */
#define MAX_NAME 104

/* "gpu7 train 4242", "gpu7 /device:GPU:0". */
static void format(char text[PERFETTO_LABEL_BYTES], const struct view *v, uint32_t origin)
{
	const struct view_process *p = &v->origins[origin];
	char host[MAX_NAME];
	char name[MAX_NAME];
	char pid[24] = "";

	if (p->is_real)
		snprintf(pid, sizeof pid, " %" PRId64, p->pid);
	snprintf(text, PERFETTO_LABEL_BYTES, "%s %s%s",
		utf8_fit(host, sizeof host, v->hosts[p->host].name),
		utf8_fit(name, sizeof name, p->name), pid);
}

static bool has_label(const struct perfetto_labels *l, const char *text)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], text) == 0)
			return true;
	return false;
}

static void add_origin(struct perfetto_labels *l, const struct view *v, uint32_t origin)
{
	char text[PERFETTO_LABEL_BYTES];

	if (l->n == PERFETTO_LABELS)
		return;
	format(text, v, origin);
	if (has_label(l, text))
		return;
	if (l->n == PERFETTO_LABELS - 1)
		snprintf(text, sizeof text, "and more");
	memcpy(l->v[l->n++], text, sizeof text);
}

void perfetto_labels_make(
	struct perfetto_labels *l, const struct view *v, uint32_t process, size_t *track)
{
	l->n = 0;
	if (view_is_grouped(v))
		for (; *track < v->n_tracks && v->tracks[*track].process == process; ++*track)
			add_origin(l, v, v->tracks[*track].origin);
	else if (view_names_hosts(v))
		utf8_fit(l->v[l->n++], PERFETTO_LABEL_BYTES,
			v->hosts[v->processes[process].host].name);
}
