/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder's part of reports; see report_recorder.h. */
#include "trace/report_recorder.h"

#include <string.h>

#include "trace/json.h"
#include "trace/report_table.h"
#include "trace/space.h"

/* One thread's; the server knows no longer ones. What is cut was somebody else's. */
#define LINE_BYTES 256

static const char *find_reason(const struct space *space)
{
	return plane_find_text(space_find_plane(space, PLANE_ENVIRONMENT), "ptap_reason");
}

/* The next line of |*text| into |line|; 0 when there is none. */
static int next_line(const char **text, char line[LINE_BYTES])
{
	size_t n = strcspn(*text, "\n");
	size_t n_kept = n < LINE_BYTES ? n : LINE_BYTES - 1;

	if (!**text)
		return 0;
	memcpy(line, *text, n_kept);
	line[n_kept] = '\0';
	*text += n + ((*text)[n] == '\n');
	return 1;
}

static const char *find_windows(const struct plane *plane)
{
	const char *text = plane_find_text(plane, "ptap_recorder_windows");

	return text ? text : "";
}

void report_recorder_print_reason(FILE *out, const struct space *space)
{
	const char *reason = find_reason(space);

	if (!reason)
		return;
	fputs("reason: ", out);
	table_print_text(out, reason);
	fputc('\n', out);
}

void report_recorder_print_windows(FILE *out, const struct plane *plane)
{
	const char *text = find_windows(plane);
	char line[LINE_BYTES];

	while (next_line(&text, line)) {
		fputs("window: ", out);
		table_print_text(out, line);
		fputc('\n', out);
	}
}

void report_recorder_put_reason(struct json *j, const struct space *space)
{
	json_text(j, "reason", find_reason(space));
}

void report_recorder_put_windows(struct json *j, const struct plane *plane)
{
	const char *text = find_windows(plane);
	char line[LINE_BYTES];

	json_begin_list(j, "windows");
	while (next_line(&text, line))
		json_text(j, NULL, line);
	json_end_list(j);
}
