/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with NVTX annotations that knows nothing of proftap. It reads one command per line from
 * standard input, and answers each with a line. test_nvtx.py has the expected contents of its
 * trace.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/nvtx_client.h"

#define LIFE_S 300
#define MAX_THREADS 64

struct command {
	const char *name;
	void (*run)(char *arguments);
};

static nvtxEventAttributes_t named(const char *text)
{
	nvtxEventAttributes_t a;

	memset(&a, 0, sizeof a);
	a.version = 3;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = text;
	return a;
}

static nvtxEventAttributes_t registered(nvtxDomainHandle_t domain, const char *text)
{
	nvtxEventAttributes_t a = named(NULL);

	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringA(domain, text);
	return a;
}

static void push(nvtxDomainHandle_t domain, const char *text)
{
	nvtxEventAttributes_t a = named(text);

	nvtxDomainRangePushEx(domain, &a);
}

/* --- ranges of a thread -------------------------------------------------------------------- */

static void nest(char *arguments)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
	nvtxEventAttributes_t known = registered(domain, "known");

	(void)arguments;
	nvtxRangePushA("outer");
	push(domain, "copied");
	nvtxDomainRangePushEx(domain, &known);
	nvtxMarkA("mark");
	nvtxDomainRangePop(domain);
	nvtxDomainRangePop(domain);
	nvtxRangePop();
}

static void widen(char *arguments)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateW(L"w\u00efde");
	nvtxEventAttributes_t a = named(NULL);

	(void)arguments;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringW(domain, L"\u20ac");
	a.category = 5;
	nvtxDomainNameCategoryW(domain, 5, L"\U0001f600");
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
	nvtxRangePushW(L"\u03b1\u03b2");
	nvtxMarkW(L"\u03b3");
	nvtxRangePop();
	nvtxRangeEnd(nvtxRangeStartW(L"\u03b4"));
}

static void put_payload(nvtxEventAttributes_t *a, int type)
{
	a->payloadType = type;
	switch (type) {
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
		a->payload.ullValue = UINT64_MAX;
		break;
	case NVTX_PAYLOAD_TYPE_INT64:
		a->payload.llValue = INT64_MIN;
		break;
	case NVTX_PAYLOAD_TYPE_DOUBLE:
		a->payload.dValue = 0.1;
		break;
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
		a->payload.uiValue = UINT32_MAX;
		break;
	case NVTX_PAYLOAD_TYPE_INT32:
		a->payload.iValue = -7;
		break;
	default:
		a->payload.fValue = 0.5f;
		break;
	}
}

static void attribute(char *arguments)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
	nvtxEventAttributes_t a = registered(domain, "colored");

	(void)arguments;
	a.category = 3;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff76b900;
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
	nvtxDomainNameCategoryA(domain, 3, "input");
	a.color = 0x8076b900;
	nvtxDomainMarkEx(domain, &a);
	for (int type = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64; type <= NVTX_PAYLOAD_TYPE_FLOAT; type++) {
		char name[16];

		snprintf(name, sizeof name, "payload %d", type);
		a = named(name);
		put_payload(&a, type);
		nvtxRangePushEx(&a);
		nvtxRangePop();
	}
}

static void interleave(char *arguments)
{
	nvtxDomainHandle_t one = nvtxDomainCreateA("one");
	nvtxDomainHandle_t two = nvtxDomainCreateA("two");

	(void)arguments;
	push(one, "first");
	push(two, "second");
	nvtxDomainRangePop(one);
	nvtxDomainRangePop(two);
}

static void unbalance(char *arguments)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");

	(void)arguments;
	nvtxRangePop();
	nvtxDomainRangePop(domain);
	nvtxRangePushA("kept");
	nvtxDomainRangePop(domain);
	nvtxRangePushA("ended");
	nvtxRangePop();
	nvtxRangePop();
	nvtxRangePop();
}

static void leave_open(char *arguments)
{
	nvtxRangePushA(arguments);
}

static void close_one(char *arguments)
{
	(void)arguments;
	nvtxRangePop();
}

/* Emits spans of proftap's own around and inside a range, if its library is loaded. */
static void mix(char *arguments)
{
	void (*begin)(const char *) = NULL;
	void (*end)(void) = NULL;

	(void)arguments;
	*(void **)&begin = dlsym(RTLD_DEFAULT, "ptap_begin_dyn");
	*(void **)&end = dlsym(RTLD_DEFAULT, "ptap_end");
	if (!begin || !end)
		return;
	begin("span outside");
	nvtxRangePushA("range");
	begin("span inside");
	end();
	nvtxRangePop();
	end();
}

/*
 * Waits until a capture records. Only this command and mix use libproftap directly, which NVTX has
 * loaded into the program.
 */
static void await(char *arguments)
{
	int (*enabled)(int) = NULL;

	(void)arguments;
	*(void **)&enabled = dlsym(RTLD_DEFAULT, "ptap_enabled");
	while (enabled && !enabled(1))
		usleep(1000);
}

/* --- ranges that any thread ends ----------------------------------------------------------- */

static nvtxRangeId_t kept_ids[2];

static void *end_them(void *unused)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");

	(void)unused;
	nvtxDomainRangeEnd(domain, kept_ids[0]);
	nvtxRangeEnd(kept_ids[1]);
	return NULL;
}

static void start_and_end(char *arguments)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
	nvtxEventAttributes_t a = registered(domain, "request");
	pthread_t thread;

	(void)arguments;
	a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	a.payload.llValue = 42;
	kept_ids[0] = nvtxDomainRangeStartEx(domain, &a);
	kept_ids[1] = nvtxRangeStartA("other");
	if (pthread_create(&thread, NULL, end_them, NULL) == 0)
		pthread_join(thread, NULL);
	/* No range has these ids. */
	nvtxRangeEnd(0);
	nvtxRangeEnd(UINT64_C(0x123456789abcdef));
	nvtxRangeEnd(UINT64_C(1) << 60);
	nvtxRangeEnd(kept_ids[0] ^ 8);
}

static void start_one(char *arguments)
{
	kept_ids[0] = nvtxRangeStartA(arguments);
}

static void end_one(char *arguments)
{
	(void)arguments;
	nvtxRangeEnd(kept_ids[0]);
}

/*
 * Counts ids of N ranges that equal the one before, or are 0. They must differ although nothing is
 * recorded.
 */
static void compare_ids(char *arguments)
{
	int n = atoi(arguments);
	nvtxRangeId_t last = 0;
	int n_same = 0;

	for (int i = 0; i < n; i++) {
		nvtxRangeId_t id = nvtxRangeStartA("id");

		n_same += id == last || id == 0;
		last = id;
	}
	printf("%d ", n_same);
}

/* --- many ---------------------------------------------------------------------------------- */

struct worker {
	pthread_t thread;
	int number;
	int n_rounds;
};

static void *work(void *context)
{
	struct worker *w = context;
	nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
	nvtxEventAttributes_t a = registered(domain, "work");
	char name[32];

	snprintf(name, sizeof name, "worker %d", w->number);
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), name);
	a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	for (int i = 0; i < w->n_rounds; i++) {
		a.payload.iValue = i;
		nvtxDomainRangePushEx(domain, &a);
		nvtxRangePushA("inner");
		nvtxRangePop();
		nvtxDomainRangePop(domain);
	}
	return NULL;
}

/* THREADS ROUNDS */
static void crowd(char *arguments)
{
	struct worker workers[MAX_THREADS];
	int n = 0;
	int n_rounds = 0;

	sscanf(arguments, "%d %d", &n, &n_rounds);
	n = n < MAX_THREADS ? n : MAX_THREADS;
	for (int i = 0; i < n; i++) {
		workers[i].number = i;
		workers[i].n_rounds = n_rounds;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			abort();
	}
	for (int i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
}

static pthread_barrier_t named_barrier;
static uint32_t named_tid;

static void *be_named(void *unused)
{
	named_tid = (uint32_t)syscall(SYS_gettid);
	pthread_barrier_wait(&named_barrier);
	pthread_barrier_wait(&named_barrier);
	nvtxRangePushA("of a named one");
	nvtxRangePop();
	return unused;
}

/* NAME: a thread is named by another thread. */
static void name_other(char *arguments)
{
	wchar_t name[32];
	pthread_t thread;

	swprintf(name, sizeof name / sizeof name[0], L"%hs", arguments);
	pthread_barrier_init(&named_barrier, NULL, 2);
	if (pthread_create(&thread, NULL, be_named, NULL))
		abort();
	pthread_barrier_wait(&named_barrier);
	nvtxNameOsThreadW(named_tid, name);
	pthread_barrier_wait(&named_barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&named_barrier);
}

/* A profiler for Python registers the same name at each call, as here. */
static void register_again(char *arguments)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
	nvtxStringHandle_t first = nvtxDomainRegisterStringA(domain, "again");
	int n_other = 0;

	for (int i = 0; i < atoi(arguments); i++)
		n_other += nvtxDomainRegisterStringA(domain, "again") != first;
	nvtxDomainDestroy(domain);
	printf("%d %d ", n_other, nvtxDomainCreateA("lib") != domain);
}

/* N: registers N different strings, and uses each hundredth in a span. */
static void register_many(char *arguments)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");

	for (int i = 0; i < atoi(arguments); i++) {
		char text[200];
		nvtxEventAttributes_t a;

		snprintf(text, sizeof text, "string %d %0120d", i, i);
		a = registered(domain, text);
		if (i % 100)
			continue;
		nvtxDomainRangePushEx(domain, &a);
		nvtxDomainRangePop(domain);
	}
}

/* N: starts and ends N async ranges with different names. */
static void start_many(char *arguments)
{
	for (int i = 0; i < atoi(arguments); i++) {
		char text[400];

		snprintf(text, sizeof text, "text %d %0380d", i, i);
		nvtxRangeEnd(nvtxRangeStartA(text));
	}
}

/* --- payloads ------------------------------------------------------------------------------ */

struct inner {
	int8_t small;
	double big;
};

struct message {
	uint16_t port;
	float load;
	char host[8];
	int state;
	struct inner inner;
	nvtxStringHandle_t string;
	const char *text;
	int32_t numbers[3];
};

#define SCHEMA_NEEDED                                                                   \
	(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | \
		NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES)

static uint64_t register_schema(nvtxDomainHandle_t domain, uint64_t type, size_t size,
	const nvtxPayloadSchemaEntry_t *entries, size_t n)
{
	nvtxPayloadSchemaAttr_t a;

	memset(&a, 0, sizeof a);
	a.fieldMask = SCHEMA_NEEDED;
	if (size)
		a.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
	a.type = type;
	a.payloadStaticSize = size;
	a.entries = entries;
	a.numEntries = n;
	return nvtxPayloadSchemaRegister(domain, &a);
}

static uint64_t register_states(nvtxDomainHandle_t domain)
{
	static const nvtxPayloadEnum_t states[] = {{"idle", 0, 0}, {"busy", 1, 0}};
	nvtxPayloadEnumAttr_t a;

	memset(&a, 0, sizeof a);
	a.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
		      NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
	a.entries = states;
	a.numEntries = 2;
	a.sizeOfEnum = sizeof(int);
	return nvtxPayloadEnumRegister(domain, &a);
}

static uint64_t register_message(nvtxDomainHandle_t domain)
{
	const nvtxPayloadSchemaEntry_t inner[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT8, "small", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "big", NULL, 0, 0, NULL, NULL},
	};
	const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "port", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "load", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "host", NULL, 8, 0, NULL, NULL},
		{0, register_states(domain), "state", NULL, 0, 0, NULL, NULL},
		{0,
			register_schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
				sizeof(struct inner), inner, 2),
			"inner", NULL, 0, 0, NULL, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
			NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "string", NULL, 0, 0,
			NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 0, 0, NULL, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT, "numbers",
			NULL, 3, 0, NULL, NULL},
	};

	return register_schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(struct message),
		entries, sizeof entries / sizeof entries[0]);
}

static uint64_t register_list(nvtxDomainHandle_t domain)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "n", NULL, 0, 0, NULL, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "list",
			NULL, 0, 0, NULL, NULL},
	};

	return register_schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, 0, entries, 2);
}

static uint64_t register_union(nvtxDomainHandle_t domain)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "a", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "b", NULL, 0, 0, NULL, NULL},
	};

	return register_schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_UNION, 4, entries, 2);
}

static void push_payload(
	nvtxDomainHandle_t domain, const char *name, uint64_t schema, const void *bytes, size_t n)
{
	nvtxPayloadData_t data;
	nvtxEventAttributes_t a = named(name);

	data.schemaId = schema;
	data.size = n;
	data.payload = bytes;
	a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	a.reserved0 = 1;
	a.payload.ullValue = (uint64_t)(uintptr_t)&data;
	nvtxDomainRangePushEx(domain, &a);
	nvtxDomainRangePop(domain);
}

static void pay(char *arguments)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
	struct message m;
	uint64_t schema = register_message(domain);
	nvtxPayloadData_t data;
	struct {
		uint64_t n;
		double list[3];
	} list = {3, {1, 2.5, -3}};
	double plain = 2.5;

	(void)arguments;
	memset(&m, 0, sizeof m);
	m.port = 9021;
	m.load = 0.25f;
	memcpy(m.host, "machine0", 8);
	m.state = 1;
	m.inner.small = -1;
	m.inner.big = 1e9;
	m.string = nvtxDomainRegisterStringA(domain, "by payload");
	m.text = "there";
	m.numbers[0] = 1;
	m.numbers[2] = -3;
	data.schemaId = schema;
	data.size = sizeof m;
	data.payload = &m;
	nvtxRangePushPayload(domain, &data, 1);
	nvtxMarkPayload(domain, &data, 1);
	m.port = 9022;
	nvtxRangePopPayload(domain, &data, 1);
	push_payload(domain, "list", register_list(domain), &list, sizeof list);
	push_payload(domain, "union", register_union(domain), &plain, 4);
	push_payload(domain, "raw", NVTX_TYPE_PAYLOAD_SCHEMA_RAW, &list, sizeof list);
	push_payload(domain, "plain", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, &plain, sizeof plain);
	push_payload(domain, "unknown", UINT64_C(1) << 40, &plain, sizeof plain);
	/* The payload is shorter than its schema: the fields within it are read. */
	push_payload(domain, "short", schema, &m, offsetof(struct message, host));
}

/* --- processes ----------------------------------------------------------------------------- */

static void fork_one(char *arguments)
{
	int status = -1;
	pid_t pid;

	(void)arguments;
	nvtxRangePushA("parent");
	pid = fork();
	if (pid == 0) {
		nvtxDomainHandle_t domain = nvtxDomainCreateA("child's");

		push(domain, "child");
		nvtxDomainRangePop(domain);
		nvtxRangePop();
		nvtxRangeEnd(nvtxRangeStartA("child too"));
		_exit(3);
	}
	waitpid(pid, &status, 0);
	nvtxRangePop();
	printf("%d ", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void end_within(char *arguments)
{
	nvtxRangePushA("last");
	nvtxRangeStartA("last request");
	printf("ending\n");
	fflush(stdout);
	if (strcmp(arguments, "kill") == 0)
		raise(SIGKILL);
	_exit(5);
}

static void ask_tsl(char *arguments)
{
	(void)arguments;
	printf("%d %d ", nvtxDomainCreateA("TSL") != NULL, nvtxDomainIsEnabled(NULL));
}

/* --- commands ------------------------------------------------------------------------------ */

static const struct command commands[] = {
	{"attribute", attribute},
	{"await", await},
	{"close", close_one},
	{"crowd", crowd},
	{"end", end_one},
	{"end_within", end_within},
	{"fork", fork_one},
	{"ids", compare_ids},
	{"interleave", interleave},
	{"mix", mix},
	{"name_other", name_other},
	{"nest", nest},
	{"open", leave_open},
	{"pay", pay},
	{"register_again", register_again},
	{"register_many", register_many},
	{"start", start_one},
	{"start_and_end", start_and_end},
	{"start_many", start_many},
	{"tsl", ask_tsl},
	{"unbalance", unbalance},
	{"widen", widen},
};

static void obey(char *line)
{
	size_t n = strcspn(line, " ");
	char *arguments = line + n + (line[n] == ' ');

	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		if (strlen(commands[i].name) == n && strncmp(commands[i].name, line, n) == 0) {
			commands[i].run(arguments);
			printf("done\n");
			return;
		}
	}
	printf("unknown: %s\n", line);
}

int main(void)
{
	char line[256];

	alarm(LIFE_S);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	return 0;
}
