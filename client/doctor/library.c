/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks libraries; see library.h. The libraries' functions are declared here, not by headers;
 * the libraries have had them for years.
 */
#include "client/doctor/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "client/doctor/attempt.h"

/* Exit statuses of the child. */
#define NOT_FOUND 2
#define REFUSED 3

/* ISO C does not convert the pointer that dlsym() returns, so its bytes are copied. */
static bool find_function(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		printf("it has no %s", name);
	memcpy(function, &symbol, sizeof symbol);
	return symbol != NULL;
}

/* |function| returns the version's text. */
static int ask_version(void *library, const char *function)
{
	const char *(*get_version)(void);

	if (!find_function(library, function, &get_version))
		return REFUSED;
	printf("%s", get_version());
	return 0;
}

static int ask_proftap(void *library)
{
	return ask_version(library, "ptap_version");
}

static int ask_microhttpd(void *library)
{
	return ask_version(library, "MHD_get_version");
}

static int ask_sqlite(void *library)
{
	return ask_version(library, "sqlite3_libversion");
}

/* The function's argument is not used. */
static int ask_dw(void *library)
{
	const char *(*get_version)(void *session);

	if (!find_function(library, "dwfl_version", &get_version))
		return REFUSED;
	printf("%s", get_version(NULL));
	return 0;
}

/* The call needs no device and starts nothing. */
static int ask_cuda(void *library)
{
	int (*get_version)(int *version);
	int version;
	int r;

	if (!find_function(library, "cuDriverGetVersion", &get_version))
		return REFUSED;
	r = get_version(&version);
	if (r)
		printf("cuDriverGetVersion: error %d", r);
	else
		printf("%d.%d", version / 1000, version % 1000 / 10);
	return r ? REFUSED : 0;
}

/* Before CUDA 12, CUPTI's version was a small number, unlike CUDA's. */
static int ask_cupti(void *library)
{
	int (*get_version)(uint32_t * version);
	uint32_t version;
	int r;

	if (!find_function(library, "cuptiGetVersion", &get_version))
		return REFUSED;
	r = get_version(&version);
	if (r)
		printf("cuptiGetVersion: error %d", r);
	else if (version < 10000)
		printf("API %u", version);
	else
		printf("%u.%u.%u", version / 10000, version / 100 % 100, version % 100);
	return r ? REFUSED : 0;
}

/* Initialises NVML. Returns 0 or REFUSED. */
static int start_nvml(void *library)
{
	int (*init)(void);
	const char *(*describe)(int error);
	int r;

	if (!find_function(library, "nvmlInit_v2", &init) ||
		!find_function(library, "nvmlErrorString", &describe))
		return REFUSED;
	r = init();
	if (r)
		printf("%s", describe(r));
	return r ? REFUSED : 0;
}

static int count_devices(void *library, unsigned *n)
{
	int (*get_count)(unsigned *n);
	int r;

	if (!find_function(library, "nvmlDeviceGetCount_v2", &get_count))
		return REFUSED;
	r = get_count(n);
	if (r)
		printf("nvmlDeviceGetCount_v2: error %d", r);
	return r ? REFUSED : 0;
}

static int ask_nvml(void *library)
{
	int (*get_driver)(char *text, unsigned n_bytes);
	char driver[96] = "";
	unsigned n;

	if (start_nvml(library) || count_devices(library, &n) ||
		!find_function(library, "nvmlSystemGetDriverVersion", &get_driver))
		return REFUSED;
	if (get_driver(driver, sizeof driver))
		snprintf(driver, sizeof driver, "driver unknown");
	printf("%s, %u GPU%s", driver, n, n == 1 ? "" : "s");
	return 0;
}

/* A mode that a device does not have, or does not report, counts as off. */
static int ask_nvml_modes(void *library)
{
	int (*get_device)(unsigned index, void **device);
	int (*get_persistence)(void *device, int *mode);
	int (*get_mig)(void *device, unsigned *mode, unsigned *pending);
	unsigned n, n_persistent = 0, n_mig = 0;

	if (start_nvml(library) || count_devices(library, &n) ||
		!find_function(library, "nvmlDeviceGetHandleByIndex_v2", &get_device) ||
		!find_function(library, "nvmlDeviceGetPersistenceMode", &get_persistence) ||
		!find_function(library, "nvmlDeviceGetMigMode", &get_mig))
		return REFUSED;
	for (unsigned i = 0; i < n; i++) {
		int persistence = 0;
		unsigned mig = 0, pending;
		void *device;

		if (get_device(i, &device))
			continue;
		n_persistent += get_persistence(device, &persistence) == 0 && persistence;
		n_mig += get_mig(device, &mig, &pending) == 0 && mig;
	}
	printf("%u %u %u", n, n_persistent, n_mig);
	return 0;
}

static int (*const questions[])(void *library) = {
	[LIBRARY_PROFTAP] = ask_proftap,
	[LIBRARY_MICROHTTPD] = ask_microhttpd,
	[LIBRARY_SQLITE] = ask_sqlite,
	[LIBRARY_DW] = ask_dw,
	[LIBRARY_CUDA] = ask_cuda,
	[LIBRARY_CUPTI] = ask_cupti,
	[LIBRARY_NVML] = ask_nvml,
	[LIBRARY_NVML_MODES] = ask_nvml_modes,
};

static int open_and_ask(const void *what)
{
	const struct library_question *question = what;
	void *library = dlopen(question->path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		printf("%s", dlerror());
		return NOT_FOUND;
	}
	return questions[question->which](library);
}

int library_ask(const struct library_question *question, char *out, size_t n)
{
	int r = child_work_run(open_and_ask, question, CHILD_WORK_MS, out, n);

	if (r == NOT_FOUND)
		return -ENOENT;
	return r > 0 ? -EIO : r;
}
