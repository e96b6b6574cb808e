/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's own format: packets of protobuf, which ui.perfetto.dev and trace_processor read. The
 * file has, in this order: the clocks and facts about the recording, the tracks
 * (perfetto_tracks.c), the events of each track and the samples of each thread in a sequence of
 * its own (perfetto_events.c, perfetto_samples.c), and the losses, which also show that the file is
 * whole.
 *
 * Facts without a field of their own are trace attributes: Perfetto shows them on its information
 * page and, for SQL, in the table "metadata".
 */
#include "trace/codec/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "trace/codec/codec.h"
#include "trace/codec/perfetto_bundle.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_tracks.h"
#include "trace/codec/sink.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

#define DEFAULT_LEVEL 6

/* --- packets ------------------------------------------------------------------------------- */

int perfetto_fail_memory(struct perfetto *w)
{
	return diag_set(w->diag, -ENOMEM, "perfetto: out of memory");
}

uint8_t *perfetto_reserve(struct perfetto *w, size_t n)
{
	uint8_t *at = packets_reserve(&w->packets, n);

	if (!at)
		perfetto_fail_memory(w);
	return at;
}

int perfetto_put(struct perfetto *w, uint8_t *packet, uint8_t *at)
{
	packets_commit(&w->packets, packet_close(packet, at));
	return w->packets.n_bytes < BUNDLE_BYTES ? 0 : bundles_put(w->bundles, &w->packets);
}

/* Packets without the field belong to machine 0. */
uint8_t *perfetto_put_machine(const struct perfetto *w, uint8_t *at, uint32_t host)
{
	uint32_t machine = w->machines.of_hosts[host];

	return machine ? pb_put_uint(at, PACKET_MACHINE_ID, machine) : at;
}

uint64_t perfetto_time(struct perfetto *w, int64_t view_ns)
{
	int64_t ns = add_saturated(view_ns, w->shift_ns);

	if (ns >= 0 && ns <= PERFETTO_MAX_NS)
		return (uint64_t)ns;
	codec_lose(w->result, "times beyond 146 years", 1);
	return ns < 0 ? 0 : (uint64_t)PERFETTO_MAX_NS;
}

uint8_t *perfetto_put_clock(uint8_t *at, uint32_t id, uint64_t ns, bool is_incremental)
{
	uint8_t *clock = packet_open(at, SNAPSHOT_CLOCK);

	at = pb_put_uint(clock, CLOCK_ID, id);
	at = pb_put_uint(at, CLOCK_TIMESTAMP, ns);
	if (is_incremental)
		at = pb_put_uint(at, CLOCK_IS_INCREMENTAL, 1);
	return packet_close(clock, at);
}

#define FEW_BYTES 256 /* a packet without texts */

/* --- clocks -------------------------------------------------------------------------------- */

/* Returns the Unix time of the file's time 0, or 0 if it is not known. */
static int64_t find_file_epoch(const struct perfetto *w)
{
	int64_t epoch_ns = sub_saturated(w->view->epoch_ns, w->shift_ns);

	return w->view->epoch_ns > 0 && epoch_ns > 0 ? epoch_ns : 0;
}

/* The clock of the trace is no clock of a machine: it begins at 0 with the trace. */
static int put_clocks(struct perfetto *w, uint32_t host)
{
	uint8_t *packet = perfetto_reserve(w, FEW_BYTES);
	int64_t epoch_ns = find_file_epoch(w);
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

/* --- the identity of the trace ------------------------------------------------------------- */

/* FNV-1a */
static uint64_t hash_bytes(uint64_t sum, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ p[i]) * UINT64_C(0x100000001b3);
	return sum;
}

#define ENDS_BYTES 65536 /* bytes at each end of an archive that are hashed */

static uint64_t hash_archive(uint64_t sum, const struct view_host *host)
{
	const struct archive *s = host->archive;
	size_t n = s->n_bytes < ENDS_BYTES ? s->n_bytes : ENDS_BYTES;

	sum = hash_bytes(sum, &s->n_bytes, sizeof s->n_bytes);
	sum = hash_bytes(sum, &host->shift_ns, sizeof host->shift_ns);
	sum = hash_bytes(sum, s->data, n);
	return hash_bytes(sum, s->data + (s->n_bytes - n), n);
}

/* Perfetto's page recognizes a trace that it has opened before by the UUID. */
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

/* --- machines --------------------------------------------------------------------------------- */

/* Assigns a machine to each host of a view. */

struct pid_owner {
	int64_t pid;
	uint32_t host;
};

struct pid_owners {
	struct pid_owner *v; /* sorted by pid, then by host */
	size_t n;
	bool *clashes; /* by machine: one of its pids is also a pid of the current host */
};

static int compare_owners(const void *a, const void *b)
{
	const struct pid_owner *x = a;
	const struct pid_owner *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->host > y->host) - (x->host < y->host);
}

static int list_owners(struct pid_owners *o, const struct view *v)
{
	o->v = calloc(v->n_processes + 1, sizeof *o->v);
	o->clashes = calloc(v->n_archives + 1, sizeof *o->clashes);
	if (!o->v || !o->clashes)
		return -ENOMEM;
	for (; o->n < v->n_processes; o->n++)
		o->v[o->n] = (struct pid_owner){v->processes[o->n].pid, v->processes[o->n].host};
	qsort(o->v, o->n, sizeof *o->v, compare_owners);
	return 0;
}

static void mark_clashes(
	const struct perfetto_machines *m, const struct pid_owners *o, uint32_t host)
{
	memset(o->clashes, 0, m->n * sizeof *o->clashes);
	for (size_t i = 0; i < o->n; i++) {
		if (o->v[i].host != host)
			continue;
		for (size_t j = i; j > 0 && o->v[j - 1].pid == o->v[i].pid; j--)
			if (o->v[j - 1].host < host)
				o->clashes[m->of_hosts[o->v[j - 1].host]] = true;
	}
}

static uint32_t find_namesake(const struct view *v, uint32_t host, uint32_t from)
{
	while (from < host && strcmp(v->hosts[from].name, v->hosts[host].name) != 0)
		from++;
	return from;
}

/*
 * Chooses the machine of an earlier host, or a new one. A view with a grouping has one machine,
 * because its pids are unique.
 */
static uint32_t choose_machine(const struct perfetto_machines *m, const struct view *v,
	const struct pid_owners *owners, uint32_t host)
{
	uint32_t i = find_namesake(v, host, 0);

	if (view_is_grouped(v))
		return 0;
	if (i < host)
		mark_clashes(m, owners, host);
	for (; i < host; i = find_namesake(v, host, i + 1))
		if (!owners->clashes[m->of_hosts[i]])
			return m->of_hosts[i];
	return m->n;
}

int perfetto_machines_init(struct perfetto_machines *m, const struct view *v)
{
	struct pid_owners owners = {NULL};
	int r = list_owners(&owners, v);

	m->n = 0;
	m->of_hosts = calloc(v->n_archives + 1, sizeof *m->of_hosts);
	if (!m->of_hosts)
		r = -ENOMEM;
	for (uint32_t i = 0; i < v->n_archives && r == 0; i++) {
		m->of_hosts[i] = choose_machine(m, v, &owners, i);
		m->n += m->of_hosts[i] == m->n;
	}
	free(owners.v);
	free(owners.clashes);
	return r;
}

void perfetto_machines_deinit(struct perfetto_machines *m)
{
	free(m->of_hosts);
}

/* True if |host| is the first host of its machine. */
static bool perfetto_machines_has_first(const struct perfetto_machines *m, uint32_t host)
{
	for (uint32_t i = 0; i < host; i++)
		if (m->of_hosts[i] == m->of_hosts[host])
			return false;
	return true;
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
	const char *text; /* NULL: the value is |number| */
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

/* The key is like "proftap.host.0.file". */
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

/* The keys are like "proftap.host.0.warning.1". */
static int put_host_texts(
	struct perfetto *w, uint32_t host, const char *what, const struct names *texts)
{
	char key[40];
	int r = 0;

	for (uint32_t i = 0; i < texts->n_texts && r == 0; i++) {
		snprintf(key, sizeof key, "%s.%u", what, i);
		r = put_host_text(w, host, key, texts->texts[i]);
	}
	return r;
}

static int put_host(struct perfetto *w, uint32_t host)
{
	const struct view_host *h = &w->view->hosts[host];
	int r = put_host_text(w, host, "name", h->name);

	if (r == 0)
		r = put_host_text(w, host, "file", h->stem);
	if (r == 0)
		r = put_host_number(w, host, "machine", w->machines.of_hosts[host]);
	if (r == 0)
		r = put_host_number(w, host, "dropped", (int64_t)h->n_dropped);
	if (r == 0)
		r = put_host_number(w, host, "epoch_ns", h->epoch_ns);
	if (r == 0)
		r = put_host_number(w, host, "clock_offset_ns", h->clock_offset_ns);
	if (r == 0)
		r = put_host_texts(w, host, "warning", &h->archive->warnings);
	return r ? r : put_host_texts(w, host, "error", &h->archive->errors);
}

/* Tells users of SQL that pids and tids are not the kernel's. */
static int put_grouping(struct perfetto *w)
{
	static const struct attribute a = {.key = "proftap.pids",
		.text = "made up, one for each group; tids are made up, too"};

	return view_is_grouped(w->view) ? put_attribute(w, &a) : 0;
}

static int put_notes(struct perfetto *w)
{
	const struct names *notes = &w->view->notes;
	int r = 0;

	for (uint32_t i = 0; i < notes->n_texts && r == 0; i++) {
		struct attribute a = {.text = notes->texts[i]};

		snprintf(a.key, sizeof a.key, "proftap.note.%u", i);
		r = put_attribute(w, &a);
	}
	return r;
}

static int perfetto_put_facts(struct perfetto *w)
{
	uint32_t n_hosts = (uint32_t)w->view->n_archives;
	int r = 0;

	for (uint32_t i = 0; i < n_hosts && r == 0; i++)
		if (perfetto_machines_has_first(&w->machines, i))
			r = put_clocks(w, i);
	if (r == 0)
		r = put_uuid(w);
	for (uint32_t i = 0; i < n_hosts && r == 0; i++)
		if (perfetto_machines_has_first(&w->machines, i))
			r = put_system(w, i);
	for (uint32_t i = 0; i < n_hosts && r == 0; i++)
		r = put_host(w, i);
	if (r == 0)
		r = put_grouping(w);
	return r ? r : put_notes(w);
}

/* --- losses -------------------------------------------------------------------------------- */

/* A recording counts as one buffer, through which all of its tracks went. */
static uint8_t *put_buffer(uint8_t *at, const struct view_host *host)
{
	uint8_t *buffer = packet_open(at, STATS_BUFFER);

	at = pb_put_uint(buffer, BUFFER_BYTES_WRITTEN, host->archive->n_bytes);
	if (host->n_dropped)
		at = pb_put_uint(at, BUFFER_PACKET_LOSS, host->n_dropped);
	return packet_close(buffer, at);
}

static uint8_t *put_writer(uint8_t *at, const struct view *v, const struct view_track *track)
{
	uint8_t *writer = packet_open(at, STATS_WRITER);

	at = pb_put_uint(writer, WRITER_SEQUENCE_ID, perfetto_sequence(v, track));
	at = pb_put_uint(at, WRITER_BUFFER, track->host);
	return packet_close(writer, at);
}

static int perfetto_put_losses(struct perfetto *w)
{
	const struct view *v = w->view;
	uint8_t *packet = perfetto_reserve(
		w, FEW_BYTES + 64 * (v->n_archives + v->n_tracks + v->n_samples + v->n_states));
	uint8_t *stats;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = stats = packet_open(packet, PACKET_TRACE_STATS);
	for (size_t i = 0; i < v->n_archives; i++)
		at = put_buffer(at, &v->hosts[i]);
	for (size_t i = 0; i < v->n_tracks; i++)
		at = put_writer(at, v, &v->tracks[i]);
	for (size_t i = 0; i < v->n_samples; i++)
		at = put_writer(at, v, &v->samples[i]);
	for (size_t i = 0; i < v->n_states; i++)
		at = put_writer(at, v, &v->states[i]);
	return perfetto_put(w, packet, packet_close(stats, at));
}

/* --- the file ------------------------------------------------------------------------------ */

static int perfetto_write_all(struct perfetto *w)
{
	int r = perfetto_put_facts(w);

	if (r == 0)
		r = perfetto_put_tracks(w);
	if (r == 0)
		r = perfetto_put_events(w);
	if (r == 0)
		r = perfetto_put_samples(w);
	if (r == 0)
		r = perfetto_put_states(w);
	if (r == 0)
		r = perfetto_put_losses(w);
	if (r == 0)
		r = bundles_put(w->bundles, &w->packets);
	return r ? r : bundles_finish(w->bundles);
}

static int write_perfetto(const struct view *v, const struct codec_options *options,
	struct sink *sink, struct codec_result *result, struct diag *d)
{
	struct perfetto w = {.view = v, .result = result, .diag = d};
	int level = options->level < 0 ? DEFAULT_LEVEL : options->level;
	int r;

	w.shift_ns = v->first_ns < 0 ? sub_saturated(0, v->first_ns) : 0;
	r = perfetto_machines_init(&w.machines, v);
	if (r == 0)
		r = bundles_start(sink, level, options->n_threads, d, &w.bundles);
	r = r ? perfetto_fail_memory(&w) : perfetto_write_all(&w);
	bundles_free(w.bundles);
	perfetto_machines_deinit(&w.machines);
	free(w.packets.data);
	return r;
}

static const char *const aliases[] = {"pftrace", NULL};

const struct codec codec_perfetto = {
	.name = "perfetto",
	.aliases = aliases,
	.suffix = ".pftrace",
	.help = "Perfetto's own format, for ui.perfetto.dev and trace_processor",
	.compresses = true,
	.write = write_perfetto,
};
