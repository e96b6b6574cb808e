/* SPDX-License-Identifier: Apache-2.0 */
/* Plays the parts of libproftap and of the program; see host.h. */
#include "tests/cuda/host.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cuda/libraries.h"

struct host host;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *get_option(const char *key)
{
	size_t n = strlen(key);

	for (int i = 0; host.options[i]; i++)
		if (strncmp(host.options[i], key, n) == 0 && host.options[i][n] == '=')
			return host.options[i] + n + 1;
	return NULL;
}

static uint32_t intern(const char *text)
{
	uint32_t id = 0;

	pthread_mutex_lock(&lock);
	if (host.n_names < host.max_names) {
		id = ++host.n_names;
		host.names[id] = strndup(text, 1023);
	}
	pthread_mutex_unlock(&lock);
	return id;
}

static int emit(const struct ptap_device_record *record)
{
	ck_assert_uint_eq(record->size, sizeof *record);
	ck_assert_uint_gt(record->kind, 0);
	ck_assert_uint_lt(record->kind, PTAP_DEVICE_KINDS);
	if (host.emit_result)
		return host.emit_result;
	if (host.n_records == host.n_records_allocated) {
		host.n_records_allocated = host.n_records_allocated ? 2 * host.n_records : 1024;
		host.records =
			realloc(host.records, host.n_records_allocated * sizeof *host.records);
		ck_assert_ptr_nonnull(host.records);
	}
	host.records[host.n_records++] = *record;
	return 0;
}

static int emit_xspace(const void *bytes, size_t n)
{
	(void)bytes;
	(void)n;
	return -ENOTSUP;
}

static void warn(const char *sentence)
{
	size_t n = strlen(host.warnings);

	snprintf(host.warnings + n, sizeof host.warnings - n, "%s\n", sentence);
}

static uint64_t call_begin(uint32_t name, uint64_t correlation, uint16_t device, uint32_t context,
	unsigned flags, uint32_t graph)
{
	uint32_t i;

	pthread_mutex_lock(&lock);
	i = host.n_calls++;
	ck_assert_uint_lt(i, HOST_MAX_CALLS);
	host.calls[i] = (struct host_call){
		.name = name,
		.graph = graph,
		.correlation = correlation,
		.device = device,
		.context = context,
		.flags = flags,
		.thread = pthread_self(),
	};
	pthread_mutex_unlock(&lock);
	return i + 1;
}

static void call_end(uint64_t call)
{
	pthread_mutex_lock(&lock);
	if (call - 1 < host.n_calls && pthread_equal(host.calls[call - 1].thread, pthread_self()))
		host.calls[call - 1].n_ended++;
	else
		host.n_unknown_ends++;
	pthread_mutex_unlock(&lock);
}

static void note_node(uint64_t node, uint64_t original)
{
	pthread_mutex_lock(&lock);
	host.nodes[host.n_nodes++ % 64] = (struct host_node){node, original, pthread_self()};
	pthread_mutex_unlock(&lock);
}

static int64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int is_cancelled(void)
{
	return host.is_cancelled;
}

static const struct ptap_collector_services services = {
	.size = sizeof services,
	.get_option = get_option,
	.intern = intern,
	.emit = emit,
	.emit_xspace = emit_xspace,
	.warn = warn,
	.call_begin = call_begin,
	.call_end = call_end,
	.note_node = note_node,
	.monotonic_ns = monotonic_ns,
	.is_cancelled = is_cancelled,
};

static void load_driver(void)
{
	char path[512];
	void *driver = libraries_open(libraries_path(LIBRARIES_DRIVER, path));
	void *symbol = libraries_find(driver, FAKE_DRIVER_SYMBOL);

	memcpy(&host.set_driver, &symbol, sizeof symbol);
	symbol = libraries_find(driver, FAKE_DRIVER_SYNCHRONIZE_SYMBOL);
	memcpy(&host.at_synchronize, &symbol, sizeof symbol);
}

void host_set_up_bare(void)
{
	load_driver();
	host.collector = libraries_open_collector();
	unsetenv("PROFTAP_CUPTI");
	host.set_driver(FAKE_DRIVER_IS_INITIALIZED, 1);
	host.set_driver(FAKE_DRIVER_RESULT, 0);
	host.max_names = HOST_MAX_NAMES - 1;
	host_set_option("ptap_cuda_settle_ms=0");
}

static void set_up_with(const char *cupti)
{
	char path[512];

	host_set_up_bare();
	host.fake = libraries_get_fake(libraries_open(libraries_path(cupti, path)));
	host.fake->reset();
	setenv("PROFTAP_CUPTI", path, 1);
}

void host_set_up(void)
{
	set_up_with(LIBRARIES_CUPTI);
}

void host_set_up_old(void)
{
	set_up_with(LIBRARIES_OLD_CUPTI);
	host.fake->set(FAKE_VERSION, 18);
}

void host_forget(void)
{
	host.n_records = 0;
	host.n_calls = 0;
	host.n_nodes = 0;
	host.warnings[0] = '\0';
	host.why[0] = '\0';
}

void host_tear_down(void)
{
	if (host.fake)
		host.fake->reset();
	for (uint32_t i = 1; i <= host.n_names; i++)
		free(host.names[i]);
	free(host.records);
	memset(&host, 0, sizeof host);
}

void host_set_option(const char *key_value)
{
	size_t n = strcspn(key_value, "=") + 1;
	int i = 0;

	while (host.options[i] && strncmp(host.options[i], key_value, n) != 0)
		i++;
	ck_assert_int_lt(i, 15);
	host.options[i] = key_value;
}

void host_check_child(void (*be)(void))
{
	int status;
	pid_t child = fork();

	if (!child)
		be();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

void host_be_forked(void)
{
	host.fake->reset();
	host.set_driver(FAKE_DRIVER_IS_INITIALIZED, 1);
	host_forget();
}

int host_probe(void)
{
	return host.collector->probe(&services, host.why);
}

int host_open(void)
{
	return host.collector->open(&services, &host.state, host.why);
}

int host_arm(void)
{
	return host.collector->arm(host.state, host.why);
}

int host_start(void)
{
	return host.collector->start(host.state, host.why);
}

int host_poll(void)
{
	return host.collector->poll(host.state, host.why);
}

int host_flush(void)
{
	return host.collector->flush(host.state, host.why);
}

int host_stop_within(int ms)
{
	return host.collector->stop(host.state, monotonic_ns() + ms * INT64_C(1000000), host.why);
}

int host_stop(void)
{
	return host_stop_within(1500);
}

int host_drain(void)
{
	return host.collector->drain(host.state, host.why);
}

void host_close(void)
{
	host.collector->close(host.state);
}

static void check_step(const char *step, int result)
{
	ck_assert_msg(result == 0, "%s: %d: %s", step, result, host.why);
}

void host_begin(void)
{
	check_step("probe", host_probe());
	check_step("open", host_open());
	check_step("arm", host_arm());
	check_step("start", host_start());
}

void host_end(void)
{
	check_step("stop", host_stop());
	check_step("drain", host_drain());
	host.stats.size = sizeof host.stats;
	host.collector->stats(host.state, &host.stats);
	host_close();
}

const char *host_name(uint32_t id)
{
	return id && id <= host.n_names ? host.names[id] : "";
}

size_t host_count(enum ptap_device_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < host.n_records; i++)
		n += host.records[i].kind == kind;
	return n;
}

const struct ptap_device_record *host_get(enum ptap_device_kind kind, size_t which)
{
	for (size_t i = 0; i < host.n_records; i++)
		if (host.records[i].kind == kind && !which--)
			return &host.records[i];
	ck_abort_msg("there are fewer records of kind %d", (int)kind);
}

const struct ptap_device_record *host_find_name(enum ptap_device_kind kind, const char *name)
{
	for (size_t i = 0; i < host.n_records; i++)
		if (host.records[i].kind == kind &&
			strcmp(host_name(host.records[i].name), name) == 0)
			return &host.records[i];
	return NULL;
}

void host_check_why(const char *words)
{
	ck_assert_msg(strstr(host.why, words) != NULL, "\"%s\" is not in: %s", words, host.why);
}

uint64_t host_lost(enum ptap_device_loss reason)
{
	uint64_t n = 0;

	for (size_t i = 0; i < host.n_records; i++)
		if (host.records[i].kind == PTAP_DEVICE_LOSS &&
			host.records[i].of.loss.reason == reason)
			n += host.records[i].of.loss.n;
	return n;
}

struct fake_record host_kernel(const char *name)
{
	return (struct fake_record){
		.kind = 10,
		.name = name,
		.context = 1,
		.stream = 7,
		.grid = {128, 2, 1},
		.block = {256, 1, 1},
		.registers = 40,
		.static_shared = 1024,
		.dynamic_shared = 2048,
	};
}
