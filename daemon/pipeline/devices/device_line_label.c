/* SPDX-License-Identifier: Apache-2.0 */
/* Ids and names of lines; see device_line_label.h. */
#include "daemon/pipeline/devices/device_line_label.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "daemon/pipeline/devices/device_drawing.h"
#include "daemon/pipeline/devices/device_lines.h"
#include "daemon/pipeline/devices/device_plane.h"
#include "daemon/pipeline/devices/device_scope.h"
#include "daemon/pipeline/devices/device_words.h"
#include "trace/model/space.h"

/* Ids from here on are for streams whose own number is taken; XLA's pseudo-streams are below. */
#define ID_MOVED INT64_C(0x20000000)
#define MAX_OWN_ID (0x10000000u - DEVICE_PLANE_MAX_FIRST_ID)
/*
 * The bytes of a name that the program gave, with the terminating one; a longer name ends with "…".
 */
#define MAX_NAME 132

static bool has_line(const struct plane *plane, int64_t id)
{
	for (size_t i = 0; i < plane->n_lines; i++)
		if (plane->lines[i].id == id)
			return true;
	return false;
}

/* Returns an id that no line has yet; lines are never removed. */
static int64_t choose_moved(const struct device_plane *p)
{
	return ID_MOVED + (int64_t)p->plane->n_lines;
}

static int64_t choose_stream(struct device_plane *p, const struct device_line_key *key)
{
	bool is_taken = p->is_shared || (p->has_streams && p->last_stream == key->stream);

	p->has_streams = true;
	p->last_stream = key->stream;
	p->is_moved = is_taken || key->stream >= MAX_OWN_ID;
	if (p->is_moved)
		return choose_moved(p);
	return p->first_id + (int64_t)key->stream;
}

/*
 * A type has the same id in all parts of a session; the line of another process gets the next free
 * one.
 */
static int64_t choose_beside(const struct device_plane *p, enum device_line_type type)
{
	int64_t id = type;

	while (has_line(p->plane, id))
		id += N_DEVICE_LINES_BESIDE;
	return id;
}

int64_t device_line_choose_id(struct device_plane *p, const struct device_line_key *key)
{
	switch ((enum device_line_type)key->type) {
	case DEVICE_LINE_STREAM:
		return choose_stream(p, key);
	case DEVICE_LINE_OVERHEAD:
	case DEVICE_LINE_SYNC:
	case DEVICE_LINE_MEMORY:
		return choose_beside(p, (enum device_line_type)key->type);
	case DEVICE_LINE_COUNTER:
		break;
	}
	return INT64_MAX - (int64_t)p->plane->n_lines;
}

/* A text to which is appended as long as there is room. */
struct label {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3))) static void append(
	struct label *label, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(label->at, label->left, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	n = (size_t)n < label->left ? n : (int)label->left - 1;
	label->at += n;
	label->left -= (size_t)n;
}

/* "Stream #7(Compute,MemcpyH2D)". XProf looks for "Compute" in it. */
static void put_stream(
	struct label *label, const struct device_line_key *key, const struct device_line *line)
{
	const char *before = "(";

	append(label, "Stream #%" PRIu64, key->stream);
	for (int word = 0; word < N_DEVICE_WORDS; word++) {
		if (!(line->kinds & 1u << word))
			continue;
		append(label, "%s%s", before, device_word_get((enum device_word)word));
		before = ",";
	}
	if (line->kinds)
		append(label, ")");
}

/* Adds the program's name for it, and what tells it from other lines if the id does not. */
static void put_owner(struct label *label, const struct device_plane *p,
	const struct device_drawing *g, const struct device_line_key *key,
	const struct device_line *line)
{
	char text[DEVICE_TEXT_BYTES];
	char shown[MAX_NAME];

	if (line->name) {
		device_drawing_read_text(g, line->name, text);
		append(label, " %s", utf8_fit(shown, sizeof shown, text));
	}
	if (p->is_shared)
		append(label, " %s [%d]", g->scope->process_name, (int)g->scope->pid);
	else if (p->is_moved)
		append(label, " context %" PRIu32, key->context);
}

void device_line_name(const struct device_plane *p, const struct device_drawing *g,
	const struct device_line_key *key, const struct device_line *line, char *text)
{
	struct label label = {text, DEVICE_LINE_NAME_BYTES};

	switch ((enum device_line_type)key->type) {
	case DEVICE_LINE_STREAM:
		put_stream(&label, key, line);
		put_owner(&label, p, g, key, line);
		break;
	case DEVICE_LINE_OVERHEAD:
		append(&label, "CUPTI overhead");
		break;
	case DEVICE_LINE_SYNC:
		append(&label, "Synchronization");
		break;
	case DEVICE_LINE_MEMORY:
		append(&label, "Memory");
		break;
	case DEVICE_LINE_COUNTER:
		append(&label, LINE_COUNTERS);
		break;
	}
}
