/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The families of metrics; see metrics.h. The number of a label's values is limited by the table of
 * words that it comes from, or by METRICS_MAX_PROGRAMS and METRICS_MAX_THINGS.
 */
#include "daemon/host/web/metrics.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/programs/caller.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/exposition.h"

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
			errands_count_kind(&m->host->errands, (enum errand_kind)i));
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
	static const char *const states[] = {"idle", "recording", "recorder", "ended", "unknown"};

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

/* --- the machine, its GPUs and the programs, as they were in the last sample ----------------- */

#define RATIO(row, name, help)                        \
	row, 0.01,                                    \
	{                                             \
		name "_ratio", EXPOSITION_GAUGE, help \
	}
#define PLAIN(row, name, help)               \
	row, 1,                              \
	{                                    \
		name, EXPOSITION_GAUGE, help \
	}

/* One row of a group of daemon/host/machine/, as a family. */
static const struct {
	const char *group;
	const char *label; /* distinguishes the members of the group; NULL: it has one member */
	const char *row;
	double scale; /* from the row's unit to the unit of the family */
	struct exposition_family family;
} measured[] = {
	{"cpu", NULL,
		RATIO("busy", "proftap_machine_cpu_busy",
			"Share of the time in which processors were busy.")},
	{"cpu", NULL,
		RATIO("user", "proftap_machine_cpu_user",
			"Share of the time of all processors in programs.")},
	{"cpu", NULL,
		RATIO("system", "proftap_machine_cpu_system",
			"Share of the time of all processors in the kernel.")},
	{"cpu", NULL,
		RATIO("iowait", "proftap_machine_cpu_iowait",
			"Share of the time in which processors were idle while something waited for a disk.")},
	{"cpu", NULL,
		RATIO("steal", "proftap_machine_cpu_steal",
			"Share of the time that the host of this virtual machine took.")},
	{"core", "core",
		RATIO("busy", "proftap_machine_core_busy",
			"Share of the time in which each processor was busy.")},
	{"machine", NULL,
		PLAIN("context switches", "proftap_machine_context_switches_per_second",
			"Context switches on all processors.")},
	{"memory", NULL,
		PLAIN("used", "proftap_machine_memory_used_bytes",
			"Memory that is not available.")},
	{"memory", NULL,
		PLAIN("available", "proftap_machine_memory_available_bytes",
			"Memory that programs can have without swapping.")},
	{"memory", NULL, PLAIN("total", "proftap_machine_memory_total_bytes", "All memory.")},
	{"memory", NULL, PLAIN("swap used", "proftap_machine_swap_used_bytes", "Used swap.")},
	{"memory", NULL, PLAIN("swap total", "proftap_machine_swap_total_bytes", "All swap.")},
	{"pressure", "resource",
		RATIO("some", "proftap_machine_pressure_some",
			"Share of the time in which some task waited for the resource.")},
	{"pressure", "resource",
		RATIO("full", "proftap_machine_pressure_full",
			"Share of the time in which all tasks waited for the resource.")},
	{"disk", "device",
		PLAIN("read", "proftap_machine_disk_read_bytes_per_second",
			"Bytes read from the disk.")},
	{"disk", "device",
		PLAIN("written", "proftap_machine_disk_written_bytes_per_second",
			"Bytes written to the disk.")},
	{"disk", "device",
		RATIO("busy", "proftap_machine_disk_busy",
			"Share of the time in which the disk was busy.")},
	{"network", "device",
		PLAIN("received", "proftap_machine_network_received_bytes_per_second",
			"Bytes received by the interface.")},
	{"network", "device",
		PLAIN("sent", "proftap_machine_network_sent_bytes_per_second",
			"Bytes sent by the interface.")},
	{"gpu", "gpu",
		RATIO("busy", "proftap_gpu_busy", "Share of the time in which a kernel ran.")},
	{"gpu", "gpu",
		PLAIN("memory used", "proftap_gpu_memory_used_bytes", "Used memory of the GPU.")},
	{"gpu", "gpu",
		PLAIN("memory total", "proftap_gpu_memory_total_bytes", "All memory of the GPU.")},
	{"gpu", "gpu",
		RATIO("memory busy", "proftap_gpu_memory_busy",
			"Share of the time in which the memory of the GPU was accessed.")},
	{"gpu", "gpu", PLAIN("power", "proftap_gpu_power_watts", "Power that the GPU takes.")},
	{"gpu", "gpu",
		PLAIN("temperature", "proftap_gpu_temperature_celsius", "Temperature of the GPU.")},
	{"gpu", "gpu", "clock", 1e6,
		{"proftap_gpu_clock_hertz", EXPOSITION_GAUGE,
			"Clock of the processors of the GPU."}},
	{"npu", "npu",
		RATIO("busy", "proftap_npu_busy", "Share of the time in which the NPU was busy.")},
	{"npu", "npu",
		PLAIN("memory used", "proftap_npu_memory_used_bytes", "Used memory of the NPU.")},
	{"process", "pid",
		RATIO("cpu", "proftap_target_cpu",
			"Share of one processor that was used at least, by program with all its "
			"descendants; a child is read once a second or less often, and its use "
			"after the last reading counts only if its parent waits for it.")},
	{"process", "pid",
		PLAIN("rss", "proftap_target_resident_memory_bytes",
			"Resident memory, by program with all its descendants; shared pages count in each.")},
	{"process", "pid",
		PLAIN("threads", "proftap_target_threads",
			"Threads, by program with all its descendants.")},
	{"process", "pid",
		PLAIN("minor faults", "proftap_target_minor_faults_per_second",
			"Page faults without a disk, by program with all its descendants.")},
	{"process", "pid",
		PLAIN("major faults", "proftap_target_major_faults_per_second",
			"Page faults that read a disk, by program with all its descendants.")},
	{"process", "pid",
		PLAIN("context switches", "proftap_target_context_switches_per_second",
			"Context switches of all threads of the program itself, without its descendants.")},
};

struct measuring {
	const struct metrics *m;
	struct exposition *e;
};

/* Returns the value of the row |name| in the last sample; NAN: there is none. */
static double get_measured(const struct history *h, const struct subject *s, const char *name)
{
	for (unsigned row = 0; row < s->n_rows && s->last == h->n - 1; row++)
		if (strcmp(s->group->rows[row].name, name) == 0)
			return subject_get(s, row, h->n - 1);
	return NAN;
}

static void write_thing(
	struct exposition *e, const struct subject *s, const char *label, double value)
{
	char pid[16];
	struct exposition_label labels[] = {{label, s->name}, {NULL, NULL}, {NULL, NULL}};

	if (s->group == &machine_process_group) {
		snprintf(pid, sizeof pid, "%d", (int)s->pid);
		labels[0].value = pid;
		labels[1] = (struct exposition_label){"name", s->name};
	} else if (s->detail[0]) {
		labels[1] = (struct exposition_label){"model", s->detail};
	}
	exposition_value(e, label ? labels : NULL, value);
}

/*
 * Writes one metric family, or nothing if it has no value, such as a GPU's on a machine without
 * one.
 */
static void write_measured_row(const struct history *h, const struct measuring *to, size_t i)
{
	bool is_process = strcmp(measured[i].group, machine_process_group.name) == 0;
	size_t n = 0;

	for (size_t j = 0; j < h->n_subjects; j++) {
		const struct subject *s = h->v[j];
		double value;

		if (strcmp(s->group->name, measured[i].group) != 0 ||
			(is_process && !caller_may_ask(to->m->caller, s->uid)))
			continue;
		value = get_measured(h, s, measured[i].row);
		if (isnan(value) || n >= (is_process ? METRICS_MAX_PROGRAMS : METRICS_MAX_THINGS))
			continue;
		if (!n++)
			exposition_open(to->e, &measured[i].family);
		write_thing(to->e, s, measured[i].label, value * measured[i].scale);
	}
}

static int write_measured(const struct history *h, void *context)
{
	for (size_t i = 0; i < N(measured) && h->n; i++)
		write_measured_row(h, context, i);
	return 0;
}

/* --- counters and steps of flight recorders -------------------------------------------------- */

static double get_value(const struct recorded_value *v)
{
	return v->value;
}

static double get_step_s(const struct recorded_value *v)
{
	return v->step_s;
}

static void write_recorded_list(struct exposition *e, const struct exposition_family *family,
	const struct recorded_list *list, const char *label,
	double (*get)(const struct recorded_value *v))
{
	for (size_t i = 0; i < list->n; i++) {
		char pid[16];
		const struct exposition_label labels[] = {{"pid", pid},
			{"name", list->v[i].process}, {label, list->v[i].name}, {NULL, NULL}};

		if (i == 0)
			exposition_open(e, family);
		snprintf(pid, sizeof pid, "%d", (int)list->v[i].pid);
		exposition_value(e, labels, get(&list->v[i]));
	}
}

/* Leaves out families without a value, as when the setting recorder_metrics lists no program. */
static void write_recorded(const struct recorded_values *r, struct exposition *e)
{
	static const struct exposition_family counter = {"proftap_target_recorded_value",
		EXPOSITION_GAUGE,
		"Newest value of each counter of a program in the program's own unit, from its flight recorder."};
	static const struct exposition_family number = {"proftap_target_last_step_number",
		EXPOSITION_GAUGE,
		"Number of the last step that has ended, from the program's flight recorder."};
	static const struct exposition_family seconds = {"proftap_target_last_step_seconds",
		EXPOSITION_GAUGE,
		"Duration of the last step that has ended, from the program's flight recorder."};

	write_recorded_list(e, &counter, &r->counters, "counter", get_value);
	write_recorded_list(e, &number, &r->steps, "step", get_value);
	write_recorded_list(e, &seconds, &r->steps, "step", get_step_s);
}

/* --- the table ----------------------------------------------------------------------------- */

static const struct {
	struct exposition_family family;
	void (*write)(const struct metrics *m, struct exposition *e);
} rows[] = {
	{{"proftap_build", EXPOSITION_INFO, "The daemon's version."}, write_build},
	{{"proftap_captures", EXPOSITION_COUNTER,
		 "Recordings of programs that clients requested from this daemon, by client and "
		 "result."},
		write_captures},
	{{"proftap_capture_duration_seconds", EXPOSITION_HISTOGRAM,
		 "Time from the request to the end of its answer, of captures with a trace."},
		write_durations},
	{{"proftap_capture_size_bytes", EXPOSITION_HISTOGRAM,
		 "Size of the traces, without what the daemon itself added."},
		write_sizes},
	{{"proftap_trace_bytes", EXPOSITION_COUNTER, "Bytes of all traces."}, write_trace_bytes},
	{{"proftap_trace_events", EXPOSITION_COUNTER, "Spans, counters and others in all traces."},
		write_events},
	{{"proftap_trace_dropped_events", EXPOSITION_COUNTER,
		 "Events that were lost, for whatever reason."},
		write_dropped},
	{{"proftap_targets", EXPOSITION_GAUGE,
		 "Programs that announced themselves and that the scraping user may see."},
		write_targets},
	{{"proftap_sessions", EXPOSITION_GAUGE,
		 "Programs that somebody records now, through this daemon or not."},
		write_sessions},
	{{"proftap_target_captures", EXPOSITION_COUNTER, "Recordings with a trace, by program."},
		write_target_captures},
	{{"proftap_target_trace_bytes", EXPOSITION_COUNTER, "Bytes of the traces of each program."},
		write_target_bytes},
	{{"proftap_target_events", EXPOSITION_COUNTER,
		 "Spans, counters and others in the traces of each program."},
		write_target_events},
	{{"proftap_target_dropped_events", EXPOSITION_COUNTER,
		 "Events of each program that were lost."},
		write_target_dropped},
	{{"proftap_calls", EXPOSITION_GAUGE, "gRPC calls that are being answered."}, write_calls},
	{{"proftap_collector_samples", EXPOSITION_COUNTER,
		 "Samples that were taken of what the machine uses."},
		write_samples},
	{{"proftap_collector_cpu_seconds", EXPOSITION_COUNTER,
		 "Processor time that the samples took."},
		write_sample_seconds},
	{{"proftap_http_connections", EXPOSITION_GAUGE, "HTTP connections that are open."},
		write_connections},
	{{"proftap_http_requests", EXPOSITION_COUNTER, "HTTP requests, whatever became of them."},
		write_requests},
	{{"proftap_http_hangups", EXPOSITION_COUNTER,
		 "HTTP connections that were turned away, took too long, or made room for others."},
		write_hung_up},
	{{"proftap_conversions", EXPOSITION_COUNTER,
		 "Answers that proftap makes, such as reports: made, or kept from before."},
		write_conversions},
	{{"proftap_kept_conversions_bytes", EXPOSITION_GAUGE,
		 "Bytes of answers that are kept for those who ask again."},
		write_kept},
};

void metrics_write(const struct metrics *m, struct exposition *e)
{
	for (size_t i = 0; i < N(rows); i++) {
		exposition_open(e, &rows[i].family);
		rows[i].write(m, e);
	}
	if (m->host->machine)
		machine_read(m->host->machine, write_measured, &(struct measuring){m, e});
	write_recorded(&m->recorded, e);
	own_usage_write(e);
}
