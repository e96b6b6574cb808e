/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's own format: packets of protobuf, which ui.perfetto.dev and trace_processor read. In the file's order: the clocks
 * and what is known of the recording (perfetto_facts.c), the tracks (perfetto_tracks.c), the events of each track in a sequence
 * of its own (perfetto_events.c), and what was lost, which also says that the file is whole.
 *
 * Samples of the processor would be a sequence each, too, with PerfSample and interned callstacks.
 */
#include "trace/codec/perfetto.h"

#include <errno.h>
#include <stdlib.h>

#include "base/diag.h"
#include "trace/codec/formats.h"
#include "trace/codec/perfetto_bundle.h"
#include "trace/codec/perfetto_events.h"
#include "trace/codec/perfetto_facts.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_tracks.h"
#include "trace/codec/sink.h"
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

/* 0 is the one that a trace is of if it does not say. */
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

/* --- the whole ----------------------------------------------------------------------------- */

static int write_all(struct perfetto *w)
{
	int rc = perfetto_put_facts(w);

	if (rc == 0)
		rc = perfetto_put_tracks(w);
	if (rc == 0)
		rc = perfetto_put_events(w);
	if (rc == 0)
		rc = perfetto_put_losses(w);
	if (rc == 0)
		rc = bundles_put(w->bundles, &w->packets);
	return rc ? rc : bundles_finish(w->bundles);
}

static int write_perfetto(const struct view *v, const struct codec_options *options,
	struct sink *sink, struct codec_result *result, struct diag *d)
{
	struct perfetto w = {.view = v, .result = result, .diag = d};
	int level = options->level < 0 ? DEFAULT_LEVEL : options->level;
	int rc;

	w.shift_ns = v->first_ns < 0 ? sub_saturated(0, v->first_ns) : 0;
	rc = perfetto_machines_init(&w.machines, v);
	if (rc == 0)
		rc = bundles_start(sink, level, options->n_threads, d, &w.bundles);
	rc = rc ? perfetto_fail_memory(&w) : write_all(&w);
	bundles_free(w.bundles);
	perfetto_machines_deinit(&w.machines);
	free(w.packets.data);
	return rc;
}

static const char *const aliases[] = {"pftrace", NULL};

const struct codec codec_perfetto = {
	.name = "perfetto",
	.aliases = aliases,
	.suffix = ".pftrace",
	.help = "for ui.perfetto.dev and trace_processor",
	.compresses = true,
	.write = write_perfetto,
};
