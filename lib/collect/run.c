/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that libproftap offers to a plug-in; see run.h and <proftap/collector.h>. */
#include "lib/collect/run.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "lib/collect/device_record.h"
#include "lib/collect/plugin.h"
#include "lib/record/device_call.h"
#include "lib/record/guest.h"
#include "lib/record/strings.h"
#include "lib/wire/arena.h"

/* bytes: the size of one warning, and the room that is kept for the last warning */
#define WARNING_BYTES 1100u
#define LAST_WARNING_BYTES 64u

/* Writes |text| at |at|, with a line end. */
static void put_warning(struct arena_collect *c, uint32_t at, const char *text, size_t n)
{
	memcpy(c->said + at, text, n);
	c->said[at + n] = '\n';
	/* Release: the server that sees the count sees the text. */
	atomic_store_explicit(&c->n_said, at + (uint32_t)n + 1, memory_order_release);
}

static size_t format_warning(char text[WARNING_BYTES], const char *who, const char *sentence)
{
	size_t n;

	snprintf(text, WARNING_BYTES, "%s%s%s", who ? who : "", who ? ": " : "", sentence);
	n = strlen(text);
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\n')
			text[i] = ' ';
	return n;
}

/* A poll may report the same warning ten times a second. */
static bool has_warning(const struct collect_warnings *s, const char *text, size_t n)
{
	const char *end;

	for (const char *at = s->to->said; at < s->to->said + s->end; at = end + 1) {
		end = memchr(at, '\n', (size_t)(s->to->said + s->end - at));
		if (!end)
			return false;
		if ((size_t)(end - at) == n && memcmp(at, text, n) == 0)
			return true;
	}
	return false;
}

void collect_warn(struct collect_warnings *s, const char *who, const char *sentence)
{
	char text[WARNING_BYTES];
	size_t n;

	if (!sentence[0])
		return;
	n = format_warning(text, who, sentence);
	if (has_warning(s, text, n))
		return;
	if (!s->n_left_out && s->end + n + 1 + LAST_WARNING_BYTES <= sizeof s->to->said) {
		put_warning(s->to, s->end, text, n);
		s->end += (uint32_t)n + 1;
		return;
	}
	n = (size_t)snprintf(
		text, LAST_WARNING_BYTES, "further messages left out: %u", ++s->n_left_out);
	put_warning(s->to, s->end, text, n);
}

/* bytes; the rest of the string table is for the names of the program's own annotations */
#define MAX_STRINGS_BYTES (ARENA_STRINGS_BYTES / 4 * 3)

static struct collect_run *run;
/* The arena of |run|, for other threads. It stays mapped for good. */
static struct arena *_Atomic arena_of_run;

void services_serve(struct collect_run *next)
{
	run = next;
	atomic_store(&arena_of_run, next ? next->arena : NULL);
}

/* --- on the collectors' thread ------------------------------------------------------------- */

static const char *service_get_option(const char *key)
{
	size_t n = strlen(key);

	if (!run)
		return NULL;
	for (const char *line = run->options; *line; line += strlen(line) + 1)
		if (strncmp(line, key, n) == 0 && line[n] == '=')
			return line + n + 1;
	return NULL;
}

static int service_emit(const struct ptap_device_record *record)
{
	struct device_entry entry;
	uint32_t n = device_record_read(record, &entry);

	if (!run)
		return -ECANCELED;
	if (!n)
		return -EINVAL;
	entry.collector = (uint8_t)run->collector;
	if (entry.kind == DEVICE_LOSS)
		run->lossy |= UINT32_C(1) << run->collector;
	/* Within one poll, the server may cut off a part of the recording, and then another one. */
	recall_repeat_if_asked(run->recall, &run->outlet);
	recall_note(run->recall, record->name, &entry, n);
	return outlet_put(&run->outlet, record->name, &entry, n);
}

/* Writes an entry whose head is followed by bytes of the XSpace instead of the other fields. */
static int emit_piece(const uint8_t *bytes, uint32_t n)
{
	uint8_t piece[RECORD_MAX_EXTRA * SLOT_BYTES];
	struct device_entry head = {
		.kind = DEVICE_XSPACE, .collector = (uint8_t)run->collector, .correlation = n};

	memcpy(piece, &head, offsetof(struct device_entry, start_ns));
	memcpy(piece + offsetof(struct device_entry, start_ns), bytes, n);
	return outlet_put(
		&run->outlet, 0, piece, (uint32_t)offsetof(struct device_entry, start_ns) + n);
}

static int service_emit_xspace(const void *bytes, size_t n)
{
	const uint8_t *at = bytes;
	int r = run ? 0 : -ECANCELED;

	while (n && !r) {
		uint32_t some = n < DEVICE_MAX_BLOB ? (uint32_t)n : DEVICE_MAX_BLOB;

		r = emit_piece(at, some);
		at += some;
		n -= some;
	}
	return r;
}

static void service_warn(const char *sentence)
{
	if (run)
		collect_warn(&run->warnings, run->plugin ? run->plugin->name : NULL, sentence);
}

/* --- on any thread ------------------------------------------------------------------------- */

/*
 * Returns 0 if the server was replaced meanwhile: the id then belongs to another text (see also
 * lib/record/strings.c).
 */
static uint32_t service_intern(const char *text)
{
	struct arena *arena = atomic_load(&guest_get()->arena);
	uint32_t id;

	if (!arena || atomic_load(&arena->strings_used) > MAX_STRINGS_BYTES)
		return 0;
	id = strings_append(arena, text);
	if (id == STRING_ID_LOST ||
		!atomic_compare_exchange_strong(&guest_get()->arena, &arena, arena))
		return 0;
	return id;
}

static uint64_t service_call_begin(uint32_t name, uint64_t correlation, uint16_t device,
	uint32_t context, unsigned flags, uint32_t graph)
{
	const struct device_call call = {
		.name = name,
		.graph = graph,
		.correlation = correlation,
		.where = launch_where(device, context, flags),
	};

	return device_call_begin(&call);
}

static int service_check_cancelled(void)
{
	struct arena *arena = atomic_load(&arena_of_run);

	return !arena || outlet_is_closed(arena);
}

const struct ptap_collector_services collector_services = {
	.size = sizeof collector_services,
	.get_option = service_get_option,
	.intern = service_intern,
	.emit = service_emit,
	.emit_xspace = service_emit_xspace,
	.warn = service_warn,
	.call_begin = service_call_begin,
	.call_end = device_call_end,
	.note_node = device_call_note_node,
	.monotonic_ns = monotonic_ns_by_call,
	.is_cancelled = service_check_cancelled,
};
