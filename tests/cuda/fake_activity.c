/* SPDX-License-Identifier: Apache-2.0 */
/* The fake libcupti: the activity API, and its queries about contexts and devices. */
#include <stdatomic.h>
#include <string.h>

#include "tests/cuda/fake_inside.h"

#define CONCURRENT_KERNEL 10u
#define CONTEXT 9u
#define STREAM 37u

static _Atomic uint8_t is_enabled[N_KINDS];
static _Atomic uint64_t attributes[N_ATTRIBUTES];

#pragma GCC visibility push(default)
int cuptiGetVersion(uint32_t *version);
int cuptiGetResultString(int result, const char **text);
int cuptiGetCallbackName(uint32_t domain, uint32_t callback, const char **name);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityRegisterCallbacks(request_function request, complete_function complete);
int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value);
int cuptiActivityGetAttribute(uint32_t attribute, size_t *bytes, void *value);
int cuptiGetTimestamp(uint64_t *ns);
int cuptiSetThreadIdType(uint32_t type);
int cuptiGetDeviceId(void *context, uint32_t *device);
#ifndef FAKE_IS_OLD
int cuptiActivityEnableAndDump(uint32_t kind);
int cuptiActivityEnableAllSyncRecords(uint8_t enable);
int cuptiGetGraphExecId(void *executable, uint32_t *id);
int cuptiGetGraphNodeId(void *node, uint64_t *id);
#endif
#pragma GCC visibility pop

void activity_reset(void)
{
	activity_end();
	for (uint32_t i = 0; i < N_ATTRIBUTES; i++)
		attributes[i] = 0;
	attributes[2] = 250;
	attributes[15] = 1; /* the fake's own attribute; 1: every query is recorded, too */
}

void activity_end(void)
{
	for (uint32_t i = 0; i < N_KINDS; i++)
		is_enabled[i] = 0;
}

bool activity_is_enabled(uint32_t kind)
{
	return kind < N_KINDS && is_enabled[kind];
}

uint64_t activity_get_attribute(uint32_t attribute)
{
	return attributes[attribute];
}

/* Checks a call that needs the subscription and that a callback may not make. */
static int ask(const char *function)
{
	int result = asked(function);

	subscriber_check_right(function);
	if (inside_is_any())
		broken("%s in a callback", function);
	return result;
}

int cuptiGetVersion(uint32_t *version)
{
	*version = (uint32_t)knob(FAKE_VERSION);
	return asked(__func__);
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result == UNKNOWN ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR_OF_SOME_KIND";
	return OK;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t callback, const char **name)
{
	check_process(__func__);
	*name = program_name(domain, callback);
	return *name ? OK : INVALID_PARAMETER;
}

static int enable(uint32_t kind)
{
	if (!record_stride((uint32_t)knob(FAKE_VERSION), kind))
		return INVALID_KIND;
	is_enabled[kind] = 1;
	return OK;
}

int cuptiActivityEnable(uint32_t kind)
{
	int result = ask(__func__);

	return result ? result : enable(kind);
}

int cuptiActivityDisable(uint32_t kind)
{
	uint64_t version = knob(FAKE_VERSION);
	int result = ask(__func__);

	if (result)
		return result;
	if (kind == CONCURRENT_KERNEL && version >= 26 && version < 130001)
		broken("kernels are turned off, on which this version hangs");
	if (kind < N_KINDS)
		is_enabled[kind] = 0;
	return OK;
}

int cuptiActivityRegisterCallbacks(request_function request, complete_function complete)
{
	int result = ask(__func__);

	if (!result)
		buffers_register(request, complete);
	return result;
}

int cuptiActivityFlushAll(uint32_t flags)
{
	int result = ask(__func__);

	if (!result)
		buffers_flush((flags & 1) != 0);
	return result;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record)
{
	check_process(__func__);
	return record_next(buffer, valid_bytes, record);
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	int result = ask(__func__);

	(void)context;
	(void)stream;
	*n = result ? 0 : buffers_take_dropped();
	return result;
}

static size_t attribute_bytes(uint32_t attribute)
{
	return attribute == 5 ? 1 : sizeof(size_t);
}

int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value)
{
	int result = ask(__func__);
	uint64_t number = 0;

	if (result)
		return result;
	if (attribute >= N_ATTRIBUTES || *bytes != attribute_bytes(attribute))
		return INVALID_PARAMETER;
	memcpy(&number, value, *bytes);
	attributes[attribute] = number;
	return OK;
}

int cuptiActivityGetAttribute(uint32_t attribute, size_t *bytes, void *value)
{
	int result = ask(__func__);
	uint64_t number;

	if (result)
		return result;
	if (attribute >= N_ATTRIBUTES || *bytes != attribute_bytes(attribute))
		return INVALID_PARAMETER;
	number = attributes[attribute];
	memcpy(value, &number, *bytes);
	return OK;
}

int cuptiGetTimestamp(uint64_t *ns)
{
	*ns = now_ns();
	return asked(__func__);
}

int cuptiSetThreadIdType(uint32_t type)
{
	(void)type;
	return ask(__func__);
}

/* A context's handle is its number; the second one is on the second device. */
int cuptiGetDeviceId(void *context, uint32_t *device)
{
	*device = (uintptr_t)context == 2;
	return asked(__func__);
}

#ifndef FAKE_IS_OLD
/* There are two contexts, one on each device. The first one has a second stream. */
static void dump(uint32_t kind)
{
	static const struct fake_record records[] = {
		{.kind = CONTEXT, .context = 1, .device = 0},
		{.kind = CONTEXT, .context = 2, .device = 1},
		{.kind = STREAM, .context = 1, .stream = 7, .priority = 0, .flags = 3},
		{.kind = STREAM, .context = 1, .stream = 13, .priority = -2, .flags = 2},
		{.kind = STREAM, .context = 2, .stream = 7, .priority = 0, .flags = 3},
	};

	for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
		if (records[i].kind == kind)
			buffers_append(&records[i]);
}

int cuptiActivityEnableAndDump(uint32_t kind)
{
	int result = ask(__func__);

	if (!result)
		result = enable(kind);
	if (!result)
		dump(kind);
	return result;
}

int cuptiActivityEnableAllSyncRecords(uint8_t is_all)
{
	attributes[15] = is_all;
	return ask(__func__);
}

/* The handles of graphs and nodes are their numbers, too. */
int cuptiGetGraphExecId(void *executable, uint32_t *id)
{
	*id = (uint32_t)(uintptr_t)executable;
	return asked(__func__);
}

int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
	*id = (uintptr_t)node;
	return asked(__func__);
}
#endif
