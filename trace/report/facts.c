/* SPDX-License-Identifier: Apache-2.0 */
/* Reads facts from the stats of planes. */
#include "trace/report/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/model/space.h" /* PLANE_ENVIRONMENT */
#include "trace/read/archive.h"
#include "trace/read/view.h"

int facts_read(const struct view *view, struct facts *out)
{
	*out = (struct facts){.reason = NULL};
	for (size_t i = 0; i < view->n_archives; i++) {
		const struct archive *a = view->archives[i];

		if (names_add_all(&out->hostnames, &a->hostnames) ||
			names_add_all(&out->errors, &a->errors) ||
			names_add_all(&out->warnings, &a->warnings))
			return -ENOMEM;
		if (!out->reason)
			out->reason = archive_plane_copy_text(
				archive_find_plane(a, PLANE_ENVIRONMENT), "ptap_reason");
	}
	return 0;
}

void facts_deinit(struct facts *f)
{
	names_deinit(&f->hostnames);
	names_deinit(&f->errors);
	names_deinit(&f->warnings);
	free(f->reason);
	*f = (struct facts){.reason = NULL};
}

static bool get_count(const struct archive_stat *stat, uint64_t *count)
{
	*count = stat->value.u64;
	return stat->type == STAT_UINT64 || (stat->type == STAT_INT64 && stat->value.i64 >= 0);
}

bool facts_get_loss(const struct archive_plane *plane, size_t i, const char **name, uint64_t *count)
{
	const struct archive_stat *stat = &plane->own.v[i];

	*name = names_get(&plane->stat_names, stat->key);
	if (strcmp(*name, "dropped_traces") != 0 && strncmp(*name, "ptap_lost_", 10) != 0 &&
		strncmp(*name, "ptap_async_", 11) != 0)
		return false;
	return get_count(stat, count);
}

int64_t facts_get_pid(const struct archive_plane *plane)
{
	const struct archive_stat *stat = archive_plane_find(plane, "process_id");
	uint64_t pid;

	return stat && get_count(stat, &pid) && pid <= INT64_MAX ? (int64_t)pid : -1;
}

bool facts_next_window(const char **text, char line[FACTS_WINDOW_BYTES])
{
	size_t n = strcspn(*text, "\n");
	size_t n_kept = n < FACTS_WINDOW_BYTES ? n : FACTS_WINDOW_BYTES - 1;

	if (!**text)
		return false;
	memcpy(line, *text, n_kept);
	line[n_kept] = '\0';
	*text += n + ((*text)[n] == '\n');
	return true;
}

char *facts_copy_windows(const struct archive_plane *plane)
{
	char *text = archive_plane_copy_text(plane, "ptap_recorder_windows");

	return text ? text : strdup("");
}
