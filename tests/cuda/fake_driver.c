/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda.so.1 with a few devices and those functions that a collector calls. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/fake.h"

#define NOT_INITIALIZED 3
#define INVALID_VALUE 1
#define INVALID_DEVICE 101

static _Atomic int knobs[FAKE_DRIVER_KNOBS] = {
	[FAKE_DRIVER_VERSION] = 13000,
	[FAKE_DRIVER_DEVICES] = 2,
};
static bool (*_Atomic is_forbidden)(void);
static _Atomic pid_t owner; /* the process that called cuInit() */

/* The build hides all symbols that are not marked as visible. */
#pragma GCC visibility push(default)
void fake_driver_set(enum fake_driver_knob knob, int value);
void fake_driver_guard_by(bool (*guard)(void));
bool fake_driver_is_initialized(void);
int cuInit(unsigned int flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *n);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int n, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetUuid_v2(unsigned char uuid[16], int device);
int cuDevicePrimaryCtxGetState(int device, unsigned int *flags, int *is_active);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxSynchronize(void);
void fake_driver_at_synchronize(void (*act)(uint32_t context));
void fake_driver_set_context(uint32_t context, bool is_alive);
#pragma GCC visibility pop

static void (*_Atomic at_synchronize)(uint32_t context);
static _Thread_local void *current;
static _Atomic int n_retained;

#define FIRST_OWN 3u
#define N_CONTEXTS 64u
static _Atomic int is_alive[N_CONTEXTS];
static _Atomic int n_users[N_CONTEXTS]; /* numbers of threads that wait */

/* Attributes with cuda.h's numbers; roughly those of an H100. */
static const struct {
	int attribute;
	int value;
} attributes[] = {
	{1, 1024}, /* threads a block */
	{8, 49152}, /* shared memory a block */
	{10, 32}, /* threads a warp */
	{12, 65536}, /* registers a block */
	{13, 1980000}, /* clock, kHz */
	{16, 132}, /* multiprocessors */
	{36, 2619000}, /* memory's clock, kHz */
	{37, 5120}, /* bits of its bus */
	{39, 2048}, /* threads a multiprocessor */
	{75, 9}, {76, 0}, {81, 233472}, /* shared memory a multiprocessor */
	{82, 65536}, /* registers a multiprocessor */
	{97, 232448}, /* shared memory a block, if it asks for more */
	{106, 32}, /* blocks a multiprocessor */
	{111, 1024}, /* shared memory that is reserved */
};

void fake_driver_set(enum fake_driver_knob knob, int value)
{
	knobs[knob] = value;
	if (knob == FAKE_DRIVER_IS_INITIALIZED)
		owner = getpid();
}

void fake_driver_guard_by(bool (*guard)(void))
{
	is_forbidden = guard;
}

/* A forked child must initialise the driver again. */
bool fake_driver_is_initialized(void)
{
	return knobs[FAKE_DRIVER_IS_INITIALIZED] && owner == getpid();
}

/* With the real driver, a call of CUDA from a callback sometimes hangs. */
static int enter(const char *function)
{
	bool (*guard)(void) = is_forbidden;

	if (guard && guard()) {
		fprintf(stderr, "fake libcuda: %s in a callback of CUPTI\n", function);
		abort();
	}
	return fake_driver_is_initialized() ? 0 : NOT_INITIALIZED;
}

int cuInit(unsigned int flags)
{
	(void)flags;
	fake_driver_set(FAKE_DRIVER_IS_INITIALIZED, 1);
	return enter(__func__);
}

int cuDriverGetVersion(int *version)
{
	*version = knobs[FAKE_DRIVER_VERSION];
	return 0;
}

int cuDeviceGetCount(int *n)
{
	int r = enter(__func__);

	*n = knobs[FAKE_DRIVER_DEVICES];
	return knobs[FAKE_DRIVER_RESULT] ? knobs[FAKE_DRIVER_RESULT] : r;
}

int cuDeviceGet(int *device, int ordinal)
{
	int r = enter(__func__);

	if (!r && (ordinal < 0 || ordinal >= knobs[FAKE_DRIVER_DEVICES]))
		return INVALID_DEVICE;
	*device = ordinal;
	return r;
}

int cuDeviceGetName(char *name, int n, int device)
{
	snprintf(name, (size_t)n, "NVIDIA Fake %c", 'A' + device);
	return enter(__func__);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	*bytes = (size_t)(80 + device) << 30;
	return enter(__func__);
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	int r = enter(__func__);

	(void)device;
	for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
		if (attributes[i].attribute == attribute) {
			*value = attributes[i].value;
			return r;
		}
	return INVALID_VALUE;
}

int cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
	memset(uuid, 0xa0 + device, 16);
	return enter(__func__);
}

/* Only the first device's primary context is active. */
int cuDevicePrimaryCtxGetState(int device, unsigned int *flags, int *is_active)
{
	*flags = 0;
	*is_active = device == 0;
	return enter(__func__);
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	*context = (void *)(uintptr_t)(device + 1);
	n_retained++;
	return enter(__func__);
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	(void)device;
	n_retained--;
	return enter(__func__);
}

static void broken(const char *what, uintptr_t context)
{
	fprintf(stderr, "fake libcuda: %s %ju\n", what, (uintmax_t)context);
	abort();
}

/*
 * The program uses the first device. The second one has a context only while somebody retains it.
 */
static bool is_there(uintptr_t context)
{
	if (context < FIRST_OWN)
		return context == 1 || n_retained > 0;
	return context < N_CONTEXTS && is_alive[context];
}

static void check_alive(uintptr_t context)
{
	if (!context || !is_there(context))
		broken("no context", context);
}

void fake_driver_set_context(uint32_t context, bool alive)
{
	is_alive[context] = alive;
	if (!alive && n_users[context])
		broken("somebody waits for the context that is destroyed,", context);
}

int cuCtxPushCurrent_v2(void *context)
{
	check_alive((uintptr_t)context);
	current = context;
	return enter(__func__);
}

int cuCtxPopCurrent_v2(void **context)
{
	*context = current;
	current = NULL;
	return enter(__func__);
}

void fake_driver_at_synchronize(void (*act)(uint32_t context))
{
	at_synchronize = act;
}

int cuCtxSynchronize(void)
{
	void (*act)(uint32_t context) = at_synchronize;
	uintptr_t context = (uintptr_t)current;

	check_alive(context);
	n_users[context]++;
	if (act)
		act((uint32_t)context);
	n_users[context]--;
	return enter(__func__);
}
