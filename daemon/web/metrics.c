/* SPDX-License-Identifier: Apache-2.0 */
/* Families of metrics; see metrics.h. No label has more values than there are programs that are told of, or words of a table. */
#include "daemon/web/metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "daemon/host/host_calls.h"
#include "daemon/host/programs.h"
#include "daemon/web/exposition.h"
#include "daemon/web/own_usage.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define S_PER_NS 1e-9

/* --- the daemon ---------------------------------------------------------------------------- */

static void write_build(const struct metrics *m, struct exposition *e)
{
	(void)m;
	exposition_info(e, (struct exposition_label[]){{"version", PACKAGE_VERSION}, {NULL, NULL}});
}

static const char *const kinds[ERRAND_KINDS] = {
	[ERRAND_FILES] = "files",
	[ERRAND_MONITOR] = "monitor",
	[ERRAND_RECORDING] = "recording",
	[ERRAND_PASSING] = "passing",
};

static void write_calls(const struct metrics *m, struct exposition *e)
{
	for (unsigned i = 0; i < ERRAND_KINDS; i++)
		exposition_count(e, (struct exposition_label[]){{"kind", kinds[i]}, {NULL, NULL}},
			errands_count_kind(&m->host->service.errands, (enum errand_kind)i));
}

static void write_samples(const struct metrics *m, struct exposition *e)
{
	exposition_count(e, (struct exposition_label[]){{"collector", "machine"}, {NULL, NULL}},
		m->sums.n_samples);
}

static void write_sample_seconds(const struct metrics *m, struct exposition *e)
{
	exposition_value(e, (struct exposition_label[]){{"collector", "machine"}, {NULL, NULL}},
		(double)m->sums.sample_ns * S_PER_NS);
}

/* --- captures ------------------------------------------------------------------------------ */

static void write_captures(const struct metrics *m, struct exposition *e)
{
	for (unsigned call = 0; call < N_LEDGER_CALLS; call++)
		for (unsigned result = 0; result < N_LEDGER_RESULTS; result++) {
			const struct exposition_label labels[] = {
				{"call", ledger_name_call((enum ledger_call)call)},
				{"result", ledger_name_result((enum ledger_result)result)},
				{NULL, NULL},
			};

			exposition_count(e, labels, m->sums.n[call][result]);
		}
}

static void write_trace_bytes(const struct metrics *m, struct exposition *e)
{
	exposition_count(e, NULL, m->sums.trace_bytes);
}

static void write_events(const struct metrics *m, struct exposition *e)
{
	exposition_count(e, NULL, m->sums.n_events);
}

static void write_dropped(const struct metrics *m, struct exposition *e)
{
	exposition_count(e, NULL, m->sums.n_dropped);
}

static void write_durations(const struct metrics *m, struct exposition *e)
{
	exposition_histogram(e, ledger_duration_bounds_ns, m->sums.duration.counts, LEDGER_BOUNDS,
		m->sums.duration.sum, S_PER_NS);
}

static void write_sizes(const struct metrics *m, struct exposition *e)
{
	exposition_histogram(e, ledger_size_bounds_bytes, m->sums.size.counts, LEDGER_BOUNDS,
		m->sums.size.sum, 1);
}

/* --- programs ------------------------------------------------------------------------------ */

static uint64_t count_in_state(const struct metrics *m, const char *state)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->n_programs; i++)
		n += strcmp(status_name_state(&m->programs[i].status), state) == 0;
	return n;
}

static void write_targets(const struct metrics *m, struct exposition *e)
{
	static const char *const states[] = {"idle", "recording", "recorder", "ended"};

	for (size_t i = 0; i < N(states); i++)
		exposition_count(e, (struct exposition_label[]){{"state", states[i]}, {NULL, NULL}},
			count_in_state(m, states[i]));
}

static void write_sessions(const struct metrics *m, struct exposition *e)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->n_programs; i++)
		n += (uint64_t)(m->programs[i].status.is_recording != 0);
	exposition_count(e, NULL, n);
}

/* One value for each program. */
static void write_programs(const struct metrics *m, struct exposition *e,
	uint64_t (*get)(const struct program_sums *sums))
{
	for (size_t i = 0; i < m->n_programs && i < METRICS_MAX_PROGRAMS; i++) {
		const struct program *p = &m->programs[i];
		char pid[16];
		const struct exposition_label labels[] = {
			{"pid", pid}, {"name", p->status.name}, {NULL, NULL}};

		snprintf(pid, sizeof pid, "%d", (int)p->pid);
		exposition_count(e, labels, get(&p->sums));
	}
}

static uint64_t get_captures(const struct program_sums *sums)
{
	return sums->n_captures;
}

static uint64_t get_events(const struct program_sums *sums)
{
	return sums->n_events;
}

static uint64_t get_dropped(const struct program_sums *sums)
{
	return sums->n_dropped;
}

static uint64_t get_bytes(const struct program_sums *sums)
{
	return sums->trace_bytes;
}

static void write_target_captures(const struct metrics *m, struct exposition *e)
{
	write_programs(m, e, get_captures);
}

static void write_target_events(const struct metrics *m, struct exposition *e)
{
	write_programs(m, e, get_events);
}

static void write_target_dropped(const struct metrics *m, struct exposition *e)
{
	write_programs(m, e, get_dropped);
}

static void write_target_bytes(const struct metrics *m, struct exposition *e)
{
	write_programs(m, e, get_bytes);
}

/* --- HTTP ---------------------------------------------------------------------------------- */

static void write_connections(const struct metrics *m, struct exposition *e)
{
	exposition_count(e, NULL, m->http.n_connections);
}

static void write_requests(const struct metrics *m, struct exposition *e)
{
	exposition_count(e, NULL, m->http.n_requests);
}

static void write_hung_up(const struct metrics *m, struct exposition *e)
{
	const struct {
		const char *reason;
		uint64_t n;
	} rows[] = {
		{"late", m->http.n_late},
		{"pushed_out", m->http.n_pushed_out},
		{"refused", m->http.n_refused},
	};

	for (size_t i = 0; i < N(rows); i++)
		exposition_count(e,
			(struct exposition_label[]){{"reason", rows[i].reason}, {NULL, NULL}},
			rows[i].n);
}

static void write_conversions(const struct metrics *m, struct exposition *e)
{
	exposition_count(e, (struct exposition_label[]){{"source", "made"}, {NULL, NULL}},
		m->conversions.n_made);
	exposition_count(e, (struct exposition_label[]){{"source", "kept"}, {NULL, NULL}},
		m->conversions.n_found);
}

static void write_kept(const struct metrics *m, struct exposition *e)
{
	exposition_count(e, NULL, m->conversions.n_bytes);
}

/* --- the table ----------------------------------------------------------------------------- */

static const struct {
	struct exposition_family family;
	void (*write)(const struct metrics *m, struct exposition *e);
} rows[] = {
	{{"proftap_build", EXPOSITION_INFO, NULL, "The daemon's version."}, write_build},
	{{"proftap_captures", EXPOSITION_COUNTER, NULL,
		 "Recordings of a program that were asked of this daemon, by what asked and what became "
		 "of them."},
		write_captures},
	{{"proftap_capture_duration_seconds", EXPOSITION_HISTOGRAM, "seconds",
		 "From the request to the end of its answer, of those with a trace."},
		write_durations},
	{{"proftap_capture_size_bytes", EXPOSITION_HISTOGRAM, "bytes",
		 "Of the traces, without what the daemon itself added."},
		write_sizes},
	{{"proftap_trace_bytes", EXPOSITION_COUNTER, "bytes", "Of all traces."}, write_trace_bytes},
	{{"proftap_trace_events", EXPOSITION_COUNTER, NULL,
		 "Spans, counters and others in all traces."},
		write_events},
	{{"proftap_trace_dropped_events", EXPOSITION_COUNTER, NULL,
		 "What was lost of them, for whatever reason."},
		write_dropped},
	{{"proftap_targets", EXPOSITION_GAUGE, NULL,
		 "Programs that announced themselves, of those whom the asker may see."},
		write_targets},
	{{"proftap_sessions", EXPOSITION_GAUGE, NULL,
		 "Of these, those that somebody records now, through this daemon or not."},
		write_sessions},
	{{"proftap_target_captures", EXPOSITION_COUNTER, NULL,
		 "Recordings with a trace, by program."},
		write_target_captures},
	{{"proftap_target_trace_bytes", EXPOSITION_COUNTER, "bytes", "Of its traces."},
		write_target_bytes},
	{{"proftap_target_events", EXPOSITION_COUNTER, NULL, "Spans, counters and others in them."},
		write_target_events},
	{{"proftap_target_dropped_events", EXPOSITION_COUNTER, NULL, "What was lost of them."},
		write_target_dropped},
	{{"proftap_calls", EXPOSITION_GAUGE, NULL, "gRPC calls that are being answered."},
		write_calls},
	{{"proftap_collector_samples", EXPOSITION_COUNTER, NULL,
		 "Samples of what the machine uses."},
		write_samples},
	{{"proftap_collector_cpu_seconds", EXPOSITION_COUNTER, "seconds",
		 "Processor time that they took."},
		write_sample_seconds},
	{{"proftap_http_connections", EXPOSITION_GAUGE, NULL, "That are open."}, write_connections},
	{{"proftap_http_requests", EXPOSITION_COUNTER, NULL, "Whatever became of them."},
		write_requests},
	{{"proftap_http_hangups", EXPOSITION_COUNTER, NULL,
		 "Connections that were turned away, took too long, or made room for others."},
		write_hung_up},
	{{"proftap_conversions", EXPOSITION_COUNTER, NULL,
		 "Answers that proftap makes, such as reports: made, or kept from before."},
		write_conversions},
	{{"proftap_kept_conversions_bytes", EXPOSITION_GAUGE, "bytes",
		 "Of what is kept for who asks again."},
		write_kept},
};

void metrics_write(const struct metrics *m, struct exposition *e)
{
	for (size_t i = 0; i < N(rows); i++) {
		exposition_open(e, &rows[i].family);
		rows[i].write(m, e);
	}
	own_usage_write(e);
}
