/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts; see perfetto_facts.h. Whatever is not an event and has no field of its own is a trace attribute: Perfetto shows these on
 * its page of information, and SQL has them in the table "metadata".
 */
#include "trace/codec/perfetto_facts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_tracks.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

#define FEW_BYTES 256 /* a packet without texts */

/* --- clocks -------------------------------------------------------------------------------- */

/* Unix time of the file's 0; 0: not known. */
static int64_t find_epoch(const struct perfetto *w)
{
	int64_t epoch_ns = sub_saturated(w->view->epoch_ns, w->shift_ns);

	return w->view->epoch_ns > 0 && epoch_ns > 0 ? epoch_ns : 0;
}

/* The clock of the trace is nobody's: it begins with it. */
static int put_clocks(struct perfetto *w, uint32_t host)
{
	uint8_t *packet = perfetto_reserve(w, FEW_BYTES);
	int64_t epoch_ns = find_epoch(w);
	uint8_t *snapshot;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = perfetto_put_machine(w, packet, host);
	snapshot = packet_open(at, PACKET_CLOCK_SNAPSHOT);
	at = perfetto_put_clock(snapshot, CLOCK_TRACE_ID, 0, false);
	if (epoch_ns)
		at = perfetto_put_clock(at, CLOCK_REALTIME_ID, (uint64_t)epoch_ns, false);
	at = pb_put_uint(at, SNAPSHOT_PRIMARY, CLOCK_TRACE_ID);
	return perfetto_put(w, packet, packet_close(snapshot, at));
}

/* --- which trace it is --------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t hash(uint64_t sum, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ p[i]) * UINT64_C(0x100000001b3);
	return sum;
}

#define ENDS_BYTES 65536

static uint64_t hash_archive(uint64_t sum, const struct view_host *host)
{
	const struct archive *s = host->archive;
	size_t n = s->n_bytes < ENDS_BYTES ? s->n_bytes : ENDS_BYTES;

	sum = hash(sum, &s->n_bytes, sizeof s->n_bytes);
	sum = hash(sum, &host->shift_ns, sizeof host->shift_ns);
	sum = hash(sum, s->data, n);
	return hash(sum, s->data + (s->n_bytes - n), n);
}

/* By it the page knows a trace that it has opened before. */
static int put_uuid(struct perfetto *w)
{
	uint8_t *packet = perfetto_reserve(w, FEW_BYTES);
	uint64_t sum[2] = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x9e3779b97f4a7c15)};
	uint8_t *uuid;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * w->view->n_archives; i++)
		sum[i & 1] = hash_archive(sum[i & 1], &w->view->hosts[i / 2]);
	packet = packet_open(packet, TRACE_PACKET);
	uuid = packet_open(packet, PACKET_TRACE_UUID);
	at = pb_put_uint(uuid, UUID_MSB, sum[0]);
	at = pb_put_uint(at, UUID_LSB, sum[1]);
	return perfetto_put(w, packet, packet_close(uuid, at));
}

/* --- the hosts ----------------------------------------------------------------------------- */

static int put_system(struct perfetto *w, uint32_t host)
{
	static const char version[] = "proftap " PACKAGE_VERSION;
	const char *name = w->view->hosts[host].name;
	size_t n = strlen(name);
	uint8_t *packet = perfetto_reserve(w, FEW_BYTES + PACKET_TEXT_BYTES(n));
	uint8_t *system;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = perfetto_put_machine(w, packet, host);
	system = packet_open(at, PACKET_SYSTEM_INFO);
	at = packet_text(system, SYSTEM_VERSION, version, strlen(version));
	at = packet_text(at, SYSTEM_MACHINE_NAME, name, n);
	return perfetto_put(w, packet, packet_close(system, at));
}

struct attribute {
	char key[64];
	const char *text; /* NULL: a number */
	int64_t number;
};

static int put_attribute(struct perfetto *w, const struct attribute *a)
{
	size_t n = a->text ? strlen(a->text) : 0;
	uint8_t *packet = perfetto_reserve(w, FEW_BYTES + PACKET_TEXT_BYTES(n));
	uint8_t *attributes;
	uint8_t *one;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	attributes = packet_open(packet, PACKET_TRACE_ATTRIBUTES);
	one = packet_open(attributes, ATTRIBUTES_ATTRIBUTE);
	at = packet_text(one, ATTRIBUTE_KEY, a->key, strlen(a->key));
	if (a->text)
		at = packet_text(at, ATTRIBUTE_STRING, a->text, n);
	else
		at = pb_put_uint(at, ATTRIBUTE_LONG, (uint64_t)a->number);
	at = packet_close(one, at);
	return perfetto_put(w, packet, packet_close(attributes, at));
}

/* "proftap.host.0.file" */
static int put_host_text(struct perfetto *w, uint32_t host, const char *what, const char *text)
{
	struct attribute a = {.text = text};

	snprintf(a.key, sizeof a.key, "proftap.host.%u.%s", host, what);
	return put_attribute(w, &a);
}

static int put_host_number(struct perfetto *w, uint32_t host, const char *what, int64_t number)
{
	struct attribute a = {.number = number};

	snprintf(a.key, sizeof a.key, "proftap.host.%u.%s", host, what);
	return number ? put_attribute(w, &a) : 0;
}

/* "proftap.host.0.warning.1" */
static int put_host_texts(
	struct perfetto *w, uint32_t host, const char *what, const struct names *texts)
{
	char key[40];
	int rc = 0;

	for (uint32_t i = 0; i < texts->n_texts && rc == 0; i++) {
		snprintf(key, sizeof key, "%s.%u", what, i);
		rc = put_host_text(w, host, key, texts->texts[i]);
	}
	return rc;
}

static int put_host(struct perfetto *w, uint32_t host)
{
	const struct view_host *h = &w->view->hosts[host];
	int rc = put_host_text(w, host, "name", h->name);

	if (rc == 0)
		rc = put_host_text(w, host, "file", h->stem);
	if (rc == 0)
		rc = put_host_number(w, host, "machine", w->machines.of_hosts[host]);
	if (rc == 0)
		rc = put_host_number(w, host, "dropped", (int64_t)h->n_dropped);
	if (rc == 0)
		rc = put_host_number(w, host, "epoch_ns", h->epoch_ns);
	if (rc == 0)
		rc = put_host_number(w, host, "clock_offset_ns", h->clock_offset_ns);
	if (rc == 0)
		rc = put_host_texts(w, host, "warning", &h->archive->warnings);
	return rc ? rc : put_host_texts(w, host, "error", &h->archive->errors);
}

/* Who asks by SQL is not to take them for the kernel's. */
static int put_grouping(struct perfetto *w)
{
	static const struct attribute a = {
		.key = "proftap.pids", .text = "those of groups, made up; and so are tids"};

	return view_is_grouped(w->view) ? put_attribute(w, &a) : 0;
}

static int put_notes(struct perfetto *w)
{
	const struct names *notes = &w->view->notes;
	int rc = 0;

	for (uint32_t i = 0; i < notes->n_texts && rc == 0; i++) {
		struct attribute a = {.text = notes->texts[i]};

		snprintf(a.key, sizeof a.key, "proftap.note.%u", i);
		rc = put_attribute(w, &a);
	}
	return rc;
}

int perfetto_put_facts(struct perfetto *w)
{
	uint32_t n_hosts = (uint32_t)w->view->n_archives;
	int rc = 0;

	for (uint32_t i = 0; i < n_hosts && rc == 0; i++)
		if (perfetto_machines_has_first(&w->machines, i))
			rc = put_clocks(w, i);
	if (rc == 0)
		rc = put_uuid(w);
	for (uint32_t i = 0; i < n_hosts && rc == 0; i++)
		if (perfetto_machines_has_first(&w->machines, i))
			rc = put_system(w, i);
	for (uint32_t i = 0; i < n_hosts && rc == 0; i++)
		rc = put_host(w, i);
	if (rc == 0)
		rc = put_grouping(w);
	return rc ? rc : put_notes(w);
}

/* --- losses -------------------------------------------------------------------------------- */

/* A recording is one buffer that all of its tracks went through. */
static uint8_t *put_buffer(uint8_t *at, const struct view_host *host)
{
	uint8_t *buffer = packet_open(at, STATS_BUFFER);

	at = pb_put_uint(buffer, BUFFER_BYTES_WRITTEN, host->archive->n_bytes);
	if (host->n_dropped)
		at = pb_put_uint(at, BUFFER_PACKET_LOSS, host->n_dropped);
	return packet_close(buffer, at);
}

static uint8_t *put_writer(uint8_t *at, const struct view *v, size_t track)
{
	uint8_t *writer = packet_open(at, STATS_WRITER);

	at = pb_put_uint(writer, WRITER_SEQUENCE_ID, perfetto_sequence(track));
	at = pb_put_uint(at, WRITER_BUFFER, v->tracks[track].host);
	return packet_close(writer, at);
}

int perfetto_put_losses(struct perfetto *w)
{
	const struct view *v = w->view;
	uint8_t *packet = perfetto_reserve(w, FEW_BYTES + 64 * (v->n_archives + v->n_tracks));
	uint8_t *stats;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = stats = packet_open(packet, PACKET_TRACE_STATS);
	for (size_t i = 0; i < v->n_archives; i++)
		at = put_buffer(at, &v->hosts[i]);
	for (size_t i = 0; i < v->n_tracks; i++)
		at = put_writer(at, v, i);
	return perfetto_put(w, packet, packet_close(stats, at));
}
