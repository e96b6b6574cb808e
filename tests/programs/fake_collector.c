/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector of a fake device. It obeys a script, the file $FAKE_COLLECTOR, which it reads again
 * before each step. The lines are KEY [VALUE]:
 *
 * 	null, abi N, size N    what ptap_collector_get() answers
 * 	flags N                enum ptap_collector_flags
 * 	again [WHY]            probe fails with -EAGAIN
 * 	fail STEP [WHY]        that step fails
 * 	hang STEP              that step does not return while the script has this line
 * 	info N, streams N      number of devices, and of streams per device, reported at the start
 * 	uuids N                device I has the UUID of NVML's device N - 1 - I (tests/unit/fake_nvml.c)
 * 	no_anchor, clock_ns N  no anchor records; its clock is N ahead of CLOCK_MONOTONIC, where
 * 	                       N may change between start and stop
 * 	start N, poll N        number of kernels that are executed and emitted in that step
 * 	drain N                number of kernels executed between start and stop, emitted in drain
 * 	shapes N               the kernels of drain have only N different grids, in turn
 * 	late MS                polls emit the program's launches this long after their end
 * 	busy                   a flush emits nothing
 * 	rate N                 kernels per second, emitted by each poll and by drain
 * 	copies N, sets N, syncs N, overheads N, counters N, memory N     number of such records per poll
 * 	wrong N                number of pairs of invalid records that each poll tries to emit
 * 	lost N REASON [KIND]   a loss record at the end: enum ptap_device_loss, enum ptap_device_kind
 * 	lost_in FILE           only the copy of this library whose path contains FILE reports |lost|
 * 	dropped N              losses that only stats() reports
 * 	xspace FILE            a file whose bytes drain emits as an XSpace
 * 	names N                number of names of 1,000 bytes, interned once
 * 	warn TEXT              a warning with each poll
 *
 * Each step appends a line to $FAKE_COLLECTOR.log.
 */
#include "tests/programs/fake_collector.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <proftap/collector.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))
#define MAX_ACTIVITIES 65536u
#define MAX_LINE 512

struct activity {
	uint64_t correlation;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;
	uint64_t node;
	uint32_t name;
	uint32_t graph;
	unsigned stream;
};

static const struct ptap_collector_services *services;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t names_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct activity activities[MAX_ACTIVITIES]; /* mutex guards it and the next three */
static unsigned n_activities;
static uint64_t nodes[64];
static unsigned n_nodes;
static _Atomic int is_recording;
static _Atomic uint64_t next_correlation = 1;
static uint32_t kernel_name;
static uint64_t n_emitted;
static uint64_t n_refused;
static int64_t polled_ns;
static int64_t started_ns;
static int64_t stopped_ns;
static uint64_t clock_ns; /* the script's value at the start of the step */

/* --- the script ---------------------------------------------------------------------------- */

/*
 * Finds the line that begins with |key| and, if |word| is not NULL, continues with |word|. The rest
 * of the line is copied to |value|. Returns false if the script has no such line.
 */
static bool find(const char *key, const char *word, char value[MAX_LINE])
{
	const char *path = getenv("FAKE_COLLECTOR");
	FILE *f = path ? fopen(path, "re") : NULL;
	char line[MAX_LINE];
	char wanted[64];
	bool found = false;

	snprintf(wanted, sizeof wanted, word ? "%s %s" : "%s", key, word);
	while (f && !found && fgets(line, sizeof line, f)) {
		size_t n = strlen(wanted);

		line[strcspn(line, "\n")] = '\0';
		found = strncmp(line, wanted, n) == 0 && (line[n] == ' ' || !line[n]);
		if (found && value)
			snprintf(value, MAX_LINE, "%s", line + n + (line[n] == ' '));
	}
	if (f)
		fclose(f);
	return found;
}

static long number(const char *key)
{
	char value[MAX_LINE] = "0";

	find(key, NULL, value);
	return atol(value);
}

static void note(const char *what)
{
	char path[MAX_LINE];
	FILE *f;

	snprintf(path, sizeof path, "%s.log", getenv("FAKE_COLLECTOR"));
	f = fopen(path, "ae");
	if (!f)
		return;
	fprintf(f, "%d %s\n", (int)getpid(), what);
	fclose(f);
}

/* Begins a step: writes its name to the log, then hangs or fails if the script says so. */
static int step(const char *name, char *why)
{
	char value[MAX_LINE];

	note(name);
	clock_ns = (uint64_t)number("clock_ns");
	while (find("hang", name, NULL))
		usleep(2000);
	if (!find("fail", name, value))
		return 0;
	snprintf(why, PTAP_COLLECTOR_WHY_BYTES, "%s", value);
	return -EIO;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Interns each name once: the id is valid for the life of the process. */
static uint32_t intern(const char *text)
{
	static struct {
		char text[64];
		uint32_t id;
	} known[256];
	static unsigned n;
	unsigned i = 0;

	pthread_mutex_lock(&names_mutex);
	while (i < n && strcmp(known[i].text, text))
		i++;
	if (i == n && n < sizeof known / sizeof *known) {
		snprintf(known[i].text, sizeof known[i].text, "%s", text);
		known[n++].id = services->intern(text);
	}
	pthread_mutex_unlock(&names_mutex);
	return i < n ? known[i].id : 0;
}

/* --- records ------------------------------------------------------------------------------- */

static uint64_t now(void)
{
	return (uint64_t)services->monotonic_ns();
}

static struct ptap_device_record make(enum ptap_device_kind kind)
{
	uint64_t at = now() + clock_ns;

	return (struct ptap_device_record){
		.size = sizeof(struct ptap_device_record),
		.kind = (uint8_t)kind,
		.context = 1,
		.stream = 7,
		.start_ns = at,
		.end_ns = at + 1000,
	};
}

static void emit(const struct ptap_device_record *record)
{
	if (services->emit(record))
		n_refused++;
	else
		n_emitted++;
}

static void emit_anchor(void)
{
	struct ptap_device_record anchor = make(PTAP_DEVICE_ANCHOR);

	if (find("no_anchor", NULL, NULL))
		return;
	anchor.end_ns = now();
	anchor.start_ns = anchor.end_ns + clock_ns;
	emit(&anchor);
}

static void set_uuid(uint8_t uuid[16], long device)
{
	static const uint8_t rest[12] = {
		0x11, 0x11, 0x22, 0x22, 0x33, 0x33, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44};

	uuid[3] = (uint8_t)device;
	memcpy(uuid + 4, rest, sizeof rest);
}

static void emit_info(void)
{
	for (long i = 0; i < number("info"); i++) {
		struct ptap_device_record info = make(PTAP_DEVICE_INFO);

		info.name = intern("Fake GPU");
		info.device = (uint16_t)i;
		info.of.info.core_count = 4;
		info.of.info.memory_bytes = UINT64_C(1) << 30;
		if (number("uuids") > i)
			set_uuid(info.of.info.uuid, number("uuids") - 1 - i);
		emit(&info);
		for (long k = 0; k < number("streams"); k++) {
			struct ptap_device_record stream = make(PTAP_DEVICE_STREAM);

			stream.device = (uint16_t)i;
			stream.stream = (uint64_t)k + 1;
			stream.name = intern("a stream");
			emit(&stream);
		}
	}
}

static void emit_kernels(long n)
{
	for (long i = 0; i < n && !services->is_cancelled(); i++) {
		struct ptap_device_record kernel = make(PTAP_DEVICE_KERNEL);

		kernel.name = kernel_name;
		kernel.of.kernel.grid[0] = (uint32_t)i;
		kernel.of.kernel.block[0] = 32;
		emit(&kernel);
	}
}

/* Emits |n| kernels that were executed between start and stop. */
static void emit_old_kernels(long n)
{
	struct ptap_device_record kernel = make(PTAP_DEVICE_KERNEL);
	double step_ns = (double)(stopped_ns - started_ns) / (double)(n + 1);
	long n_shapes = number("shapes") ? number("shapes") : n;

	kernel.name = kernel_name;
	kernel.of.kernel.block[0] = 32;
	for (long i = 0; i < n && !services->is_cancelled(); i++) {
		kernel.of.kernel.grid[0] = (uint32_t)(i % n_shapes);
		kernel.start_ns =
			(uint64_t)(started_ns + (int64_t)(step_ns * (double)(i + 1))) + clock_ns;
		kernel.end_ns = kernel.start_ns + (uint64_t)(step_ns / 2);
		emit(&kernel);
	}
}

static void emit_some(const char *key, enum ptap_device_kind kind)
{
	for (long i = 0; i < number(key); i++) {
		struct ptap_device_record record = make(kind);

		record.name = intern(key);
		if (kind == PTAP_DEVICE_COUNTER)
			record.of.counter = (double)i;
		if (kind == PTAP_DEVICE_COPY)
			record.of.copy.direction = PTAP_COPY_H2D;
		emit(&record);
	}
}

static void intern_many(long n)
{
	char text[1001];
	char said[64];
	long n_known = 0;

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	for (long i = 0; i < n; i++) {
		snprintf(text, 24, "%ld", i);
		text[strlen(text)] = '_';
		n_known += services->intern(text) != 0;
	}
	snprintf(said, sizeof said, "names %ld of %ld", n_known, n);
	note(said);
}

/* Emits a record of an unknown kind, and one that is too short. */
static void try_wrong(void)
{
	for (long i = 0; i < number("wrong"); i++) {
		struct ptap_device_record record = make((enum ptap_device_kind)200);

		emit(&record);
		record = make(PTAP_DEVICE_KERNEL);
		record.size = 8;
		emit(&record);
	}
}

static void emit_activity(const struct activity *a)
{
	struct ptap_device_record kernel = make(PTAP_DEVICE_KERNEL);

	kernel.name = a->name;
	kernel.stream = a->stream;
	kernel.correlation = a->correlation;
	kernel.start_ns = a->start_ns + clock_ns;
	kernel.end_ns = a->end_ns + clock_ns;
	kernel.of.kernel.graph = a->graph;
	kernel.of.kernel.graph_node = a->node;
	kernel.of.kernel.block[0] = 32;
	kernel.of.kernel.grid[0] = 1;
	emit(&kernel);
}

/*
 * Emits the program's launches from |late_ms| ago or earlier; if |late_ms| is negative, also those
 * that end so much later.
 */
static void emit_activities(long late_ms)
{
	static struct activity taken[MAX_ACTIVITIES];
	/* Negative if the machine was booted less than |late_ms| ago. */
	int64_t until = (int64_t)now() - (int64_t)late_ms * 1000000;
	unsigned n = 0;

	pthread_mutex_lock(&mutex);
	while (n < n_activities && (int64_t)activities[n].end_ns <= until)
		n++;
	memcpy(taken, activities, n * sizeof *taken);
	n_activities -= n;
	memmove(activities, activities + n, n_activities * sizeof *activities);
	pthread_mutex_unlock(&mutex);
	for (unsigned i = 0; i < n; i++)
		emit_activity(&taken[i]);
}

/* Emits kernels at the script's rate, spread over the time since the last poll. */
static void emit_at_rate(void)
{
	int64_t at = services->monotonic_ns();
	long n = (long)((double)number("rate") * (double)(at - polled_ns) / 1e9);

	for (long i = 0; i < n && !services->is_cancelled(); i++) {
		struct ptap_device_record kernel = make(PTAP_DEVICE_KERNEL);

		kernel.name = kernel_name;
		kernel.of.kernel.grid[0] = (uint32_t)i;
		kernel.of.kernel.block[0] = 32;
		kernel.start_ns -=
			(uint64_t)((double)(at - polled_ns) * (double)(n - i) / (double)n);
		kernel.end_ns = kernel.start_ns + 1000;
		emit(&kernel);
	}
	polled_ns = at;
}

static void emit_xspace(void)
{
	static uint8_t bytes[1 << 20];
	char path[MAX_LINE];
	FILE *f = find("xspace", NULL, path) ? fopen(path, "re") : NULL;

	if (!f)
		return;
	services->emit_xspace(bytes, fread(bytes, 1, sizeof bytes, f));
	fclose(f);
}

static bool is_copy_of(const char *file)
{
	Dl_info info;

	return dladdr(&services, &info) && strstr(info.dli_fname, file);
}

static void emit_loss(void)
{
	struct ptap_device_record loss = make(PTAP_DEVICE_LOSS);
	char value[MAX_LINE] = "";

	if (find("lost_in", NULL, value) && !is_copy_of(value))
		return;
	find("lost", NULL, value);
	if (sscanf(value, "%" SCNu64 " %u %u", &loss.of.loss.n, &loss.of.loss.reason,
		    &loss.of.loss.kind) >= 2)
		emit(&loss);
}

/* --- the collector ------------------------------------------------------------------------- */

static int probe_it(const struct ptap_collector_services *s, char *why)
{
	char value[MAX_LINE];

	services = s;
	if (!find("again", NULL, value))
		return step("probe", why);
	snprintf(why, PTAP_COLLECTOR_WHY_BYTES, "%s", value);
	note("probe again");
	return -EAGAIN;
}

static void note_option(const char *key)
{
	const char *value = services->get_option(key);
	char text[256];

	snprintf(text, sizeof text, "option %s=%s", key, value ? value : "(none)");
	note(text);
}

static int open_it(const struct ptap_collector_services *s, void **state, char *why)
{
	static int it;
	int r;

	services = s;
	r = step("open", why);
	if (r)
		return r;
	note_option("device_tracer_level");
	note_option("gpu_max_callback_api_events");
	note_option("gpu_enable_nvtx_tracking");
	note_option("gpu_pm_sample_counters");
	note_option("fake_option");
	kernel_name = intern("fake_kernel");
	*state = &it;
	return 0;
}

static int arm_it(void *state, char *why)
{
	(void)state;
	return step("arm", why);
}

static int start_it(void *state, char *why)
{
	int r = step("start", why);

	(void)state;
	if (r)
		return r;
	emit_anchor();
	emit_info();
	emit_kernels(number("start"));
	if (number("names"))
		intern_many(number("names"));
	polled_ns = started_ns = services->monotonic_ns();
	atomic_store(&is_recording, 1);
	return 0;
}

static int poll_it(void *state, char *why)
{
	char value[MAX_LINE];
	int r = step("poll", why);

	(void)state;
	if (r)
		return r;
	if (find("warn", NULL, value))
		services->warn(value);
	emit_activities(number("late"));
	emit_at_rate();
	emit_kernels(number("poll"));
	emit_some("copies", PTAP_DEVICE_COPY);
	emit_some("sets", PTAP_DEVICE_SET);
	emit_some("syncs", PTAP_DEVICE_SYNC);
	emit_some("overheads", PTAP_DEVICE_OVERHEAD);
	emit_some("counters", PTAP_DEVICE_COUNTER);
	emit_some("memory", PTAP_DEVICE_MEMORY);
	try_wrong();
	return 0;
}

static int flush_it(void *state, char *why)
{
	int r = step("flush", why);

	(void)state;
	if (!r && !find("busy", NULL, NULL))
		emit_activities(0);
	return r;
}

static int stop_it(void *state, int64_t deadline_ns, char *why)
{
	char text[64];

	(void)state;
	atomic_store(&is_recording, 0);
	stopped_ns = services->monotonic_ns();
	snprintf(text, sizeof text, "deadline in %lld ms",
		(long long)(deadline_ns - services->monotonic_ns()) / 1000000);
	note(text);
	return step("stop", why);
}

static int drain_it(void *state, char *why)
{
	int r = step("drain", why);

	(void)state;
	if (r)
		return r;
	emit_activities(-10000);
	emit_at_rate();
	emit_old_kernels(number("drain"));
	emit_xspace();
	emit_loss();
	emit_anchor();
	return 0;
}

static void stats_it(void *state, struct ptap_collector_stats *stats)
{
	(void)state;
	note("stats");
	stats->n_records = n_emitted;
	stats->n_dropped = (uint64_t)number("dropped");
}

static void close_it(void *state)
{
	char why[PTAP_COLLECTOR_WHY_BYTES];
	char text[96];

	(void)state;
	snprintf(text, sizeof text, "emitted %llu refused %llu", (unsigned long long)n_emitted,
		(unsigned long long)n_refused);
	note(text);
	step("close", why);
	n_emitted = n_refused = 0;
}

static struct ptap_collector collector = {
	.abi = PTAP_COLLECTOR_ABI,
	.flags = PTAP_COLLECTOR_LATE_ATTACH | PTAP_COLLECTOR_COUNTERS,
	.size = sizeof collector,
	.name = "fake",
	.probe = probe_it,
	.open = open_it,
	.arm = arm_it,
	.start = start_it,
	.poll = poll_it,
	.stop = stop_it,
	.drain = drain_it,
	.stats = stats_it,
	.close = close_it,
	.flush = flush_it,
};

VISIBLE const struct ptap_collector *ptap_collector_get(uint32_t abi)
{
	char value[MAX_LINE];

	(void)abi;
	if (find("null", NULL, NULL))
		return NULL;
	if (find("abi", NULL, value))
		collector.abi = (uint32_t)atol(value);
	if (find("size", NULL, value))
		collector.size = (size_t)atol(value);
	if (find("flags", NULL, value))
		collector.flags = (uint32_t)atol(value);
	if (find("name", NULL, value))
		collector.name = strdup(value);
	return &collector;
}

/* --- the device ---------------------------------------------------------------------------- */

static void add(const struct activity *a)
{
	pthread_mutex_lock(&mutex);
	if (n_activities < MAX_ACTIVITIES)
		activities[n_activities++] = *a;
	pthread_mutex_unlock(&mutex);
}

VISIBLE uint64_t fake_launch(const char *kernel, unsigned stream, uint64_t duration_ns)
{
	struct activity a = {.stream = stream};
	uint64_t call;

	if (!atomic_load(&is_recording))
		return 0;
	a.correlation = atomic_fetch_add(&next_correlation, 1);
	a.name = intern(*kernel ? kernel : "fake_loop");
	call = services->call_begin(intern("fakeLaunch"), a.correlation, 0, 1, 0, 0);
	a.start_ns = now();
	a.end_ns = a.start_ns + duration_ns;
	add(&a);
	services->call_end(call);
	return a.correlation;
}

VISIBLE void fake_make_node(uint64_t node, uint64_t original)
{
	if (!atomic_load(&is_recording))
		return;
	services->note_node(node, original);
	pthread_mutex_lock(&mutex);
	if (n_nodes < sizeof nodes / sizeof *nodes)
		nodes[n_nodes++] = node;
	pthread_mutex_unlock(&mutex);
}

VISIBLE uint64_t fake_launch_graph(unsigned graph, unsigned stream, uint64_t duration_ns)
{
	struct activity a = {.stream = stream, .graph = graph};
	uint64_t call;

	if (!atomic_load(&is_recording))
		return 0;
	a.correlation = atomic_fetch_add(&next_correlation, 1);
	a.name = kernel_name;
	call = services->call_begin(
		intern("fakeLaunchGraph"), a.correlation, 0, 1, PTAP_CALL_IS_GRAPH_LAUNCH, graph);
	a.start_ns = now();
	for (unsigned i = 0; i < n_nodes; i++) {
		a.node = nodes[i];
		a.end_ns = a.start_ns + duration_ns;
		add(&a);
		a.start_ns = a.end_ns;
	}
	services->call_end(call);
	return a.correlation;
}
