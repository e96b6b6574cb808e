/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of devices; see device_lines.h. */
#include "daemon/pipeline/devices/device_lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "daemon/pipeline/devices/device_drawing.h"
#include "daemon/pipeline/devices/device_plane.h"
#include "daemon/pipeline/devices/device_words.h"
#include "trace/model/space.h"

/*
 * Ids from here on are for streams whose own number is taken or too large; XLA's pseudo-streams
 * have lower ones.
 */
#define ID_MOVED INT64_C(0x20000000)
#define MAX_OWN_ID (0x10000000u - DEVICE_PLANE_MAX_FIRST_ID)
/*
 * The bytes of a name that the program gave, with the terminating one; a longer name ends with "…".
 */
#define MAX_NAME 132

void device_lines_init(struct device_lines *lines)
{
	memset(lines, 0, sizeof *lines);
	keys_init(&lines->keys, sizeof(struct device_line_key));
}

void device_lines_deinit(struct device_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->v[i].events);
	free(lines->v);
	keys_deinit(&lines->keys);
	device_lines_init(lines);
}

struct device_line *device_lines_get(struct device_lines *lines, const struct device_line_key *key)
{
	uint32_t number = keys_intern(&lines->keys, key);

	if (number == KEYS_NONE)
		return NULL;
	if (number < lines->n)
		return &lines->v[number];
	if (grow(&lines->v, &lines->n_allocated, (size_t)number + 1))
		return NULL;
	/* Lines of earlier numbers may be missing if memory ran out. */
	memset(&lines->v[lines->n], 0, (number + 1 - lines->n) * sizeof *lines->v);
	lines->n = (size_t)number + 1;
	return &lines->v[number];
}

int device_line_add(struct device_line *line, const struct device_event *event)
{
	int r = grow(&line->events, &line->n_allocated, line->n_events + 1);

	if (!r)
		line->events[line->n_events++] = *event;
	return r;
}

/* --- ids and names --------------------------------------------------------------------------- */

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

/* A text that grows as long as there is room. */
struct label {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3))) static void label_append(
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

	label_append(label, "Stream #%" PRIu64, key->stream);
	for (int word = 0; word < N_DEVICE_WORDS; word++) {
		if (!(line->kinds & 1u << word))
			continue;
		label_append(label, "%s%s", before, device_word_get((enum device_word)word));
		before = ",";
	}
	if (line->kinds)
		label_append(label, ")");
}

/* Adds the stream's name in the program, and its process or context if the id is not its own. */
static void put_owner(struct label *label, const struct device_plane *p,
	const struct device_drawing *g, const struct device_line_key *key,
	const struct device_line *line)
{
	char text[DEVICE_TEXT_BYTES];
	char shown[MAX_NAME];

	if (line->name) {
		device_drawing_read_text(g, line->name, text);
		label_append(label, " %s", utf8_fit(shown, sizeof shown, text));
	}
	if (p->is_shared)
		label_append(label, " %s [%d]", g->scope->process_name, (int)g->scope->pid);
	else if (p->is_moved)
		label_append(label, " context %" PRIu32, key->context);
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
		label_append(&label, "CUPTI overhead");
		break;
	case DEVICE_LINE_SYNC:
		label_append(&label, "Synchronization");
		break;
	case DEVICE_LINE_MEMORY:
		label_append(&label, "Memory");
		break;
	case DEVICE_LINE_COUNTER:
		label_append(&label, LINE_COUNTERS);
		break;
	}
}
