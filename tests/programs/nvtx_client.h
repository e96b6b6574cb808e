/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX for a program, like NVIDIA's headers, which are not needed. The calls have the same names as
 * in these headers. They go through tables of function pointers, which the first call
 * fills by the library that NVTX_INJECTION64_PATH names; they stay empty if that is not set. `make
 * interop` builds the same program with the real headers (NVTX_HEADERS), and its trace must be the
 * same.
 */
#ifndef TESTS_PROGRAMS_NVTX_CLIENT_H
#define TESTS_PROGRAMS_NVTX_CLIENT_H

#ifdef NVTX_HEADERS

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

#include "lib/inject/nvtx/abi.h"
#include "lib/inject/nvtx/payload_abi.h"

typedef void *nvtxDomainHandle_t;
typedef void *nvtxStringHandle_t;
typedef uint64_t nvtxRangeId_t;

/* The types and constants of the real headers that the program uses. */
typedef struct {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType;
	int32_t reserved0;
	union {
		uint64_t ullValue;
		int64_t llValue;
		double dValue;
		uint32_t uiValue;
		int32_t iValue;
		float fValue;
	} payload;
	int32_t messageType;
	union {
		const char *ascii;
		const wchar_t *unicode;
		nvtxStringHandle_t registered;
	} message;
} nvtxEventAttributes_t;

typedef struct {
	uint64_t schemaId;
	size_t size;
	const void *payload;
} nvtxPayloadData_t;

typedef struct {
	uint64_t flags;
	uint64_t type;
	const char *name;
	const char *description;
	uint64_t arrayOrUnionDetail;
	uint64_t offset;
	const void *semantics;
	const void *reserved;
} nvtxPayloadSchemaEntry_t;

typedef struct {
	uint64_t fieldMask;
	const char *name;
	uint64_t type;
	uint64_t flags;
	const nvtxPayloadSchemaEntry_t *entries;
	size_t numEntries;
	size_t payloadStaticSize;
	size_t packAlign;
	uint64_t schemaId;
	void *extension;
} nvtxPayloadSchemaAttr_t;

typedef struct {
	const char *name;
	uint64_t value;
	int8_t isFlag;
} nvtxPayloadEnum_t;

typedef struct {
	uint64_t fieldMask;
	const char *name;
	const nvtxPayloadEnum_t *entries;
	size_t numEntries;
	size_t sizeOfEnum;
	uint64_t schemaId;
	void *extension;
} nvtxPayloadEnumAttr_t;

#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_TYPE_ASCII 1
#define NVTX_MESSAGE_TYPE_UNICODE 2
#define NVTX_MESSAGE_TYPE_REGISTERED 3
#define NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 1
#define NVTX_PAYLOAD_TYPE_INT64 2
#define NVTX_PAYLOAD_TYPE_DOUBLE 3
#define NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 4
#define NVTX_PAYLOAD_TYPE_INT32 5
#define NVTX_PAYLOAD_TYPE_FLOAT 6
#define NVTX_PAYLOAD_TYPE_EXT ((int32_t)0xdfbd0009)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE (1 << 2)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES (1 << 4)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES (1 << 5)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE (1 << 6)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID (1 << 8)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES (1 << 2)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES (1 << 3)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE (1 << 4)
#define NVTX_PAYLOAD_SCHEMA_TYPE_STATIC 1
#define NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC 2
#define NVTX_PAYLOAD_SCHEMA_TYPE_UNION 3
#define NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE (1 << 4)
#define NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX (3 << 4)
#define NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE (1 << 10)
#define NVTX_PAYLOAD_ENTRY_TYPE_INT 5
#define NVTX_PAYLOAD_ENTRY_TYPE_INT8 11
#define NVTX_PAYLOAD_ENTRY_TYPE_UINT16 14
#define NVTX_PAYLOAD_ENTRY_TYPE_UINT64 18
#define NVTX_PAYLOAD_ENTRY_TYPE_FLOAT 19
#define NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE 20
#define NVTX_PAYLOAD_ENTRY_TYPE_CSTRING 75
#define NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE 80
#define NVTX_TYPE_PAYLOAD_SCHEMA_RAW 1023

/* --- loading ------------------------------------------------------------------------------- */

#define CLIENT_CORE_SLOTS 16
#define CLIENT_PAYLOAD_SLOTS 63

static nvtx_function *client_core[CLIENT_CORE_SLOTS];
static nvtx_function *client_core2[CLIENT_CORE_SLOTS];
/* Addresses of functions, from slot 0 on; 0: empty. */
static intptr_t client_payload[CLIENT_PAYLOAD_SLOTS];
static uint32_t client_tool_version;

static int client_get_module(int module, nvtx_function ****slots, unsigned *n)
{
	static nvtx_function **core[CLIENT_CORE_SLOTS + 1];
	static nvtx_function **core2[CLIENT_CORE_SLOTS + 1];

	for (int i = 1; i < CLIENT_CORE_SLOTS; i++) {
		core[i] = &client_core[i];
		core2[i] = &client_core2[i];
	}
	*n = CLIENT_CORE_SLOTS;
	*slots = module == 1 ? core : module == 5 ? core2 : NULL;
	return *slots != NULL;
}

static void client_set_version(uint32_t version)
{
	client_tool_version = version;
}

static const void *client_get_table(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = {sizeof callbacks, client_get_module};
	static const struct nvtx_version version = {sizeof version, 3, 0, client_set_version};

	return id == 1 ? (const void *)&callbacks : id == 3 ? &version : NULL;
}

static void client_load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(nvtx_get_table *) = NULL;
	int (*extend)(struct nvtx_extension *) = NULL;
	struct nvtx_segment segment = {0, CLIENT_PAYLOAD_SLOTS, client_payload};
	struct nvtx_extension extension = {3, sizeof extension, 2, 0x0104, 1, &segment, NULL, NULL};

	if (library) {
		*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
		*(void **)&extend = dlsym(library, "InitializeInjectionNvtxExtension");
	}
	if (!initialize || !initialize(client_get_table)) {
		if (library)
			dlclose(library);
		return;
	}
	if (extend)
		extend(&extension);
}

/*
 * The first call loads the library. Later calls are a load and a branch, as with the real headers.
 */
static inline void client_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static bool is_open;

	if (__builtin_expect(!__atomic_load_n(&is_open, __ATOMIC_ACQUIRE), 0)) {
		pthread_once(&once, client_load);
		__atomic_store_n(&is_open, 1, __ATOMIC_RELEASE);
	}
}

#define CLIENT_CALL(table, slot, type, none, ...) \
	(client_open(), table[slot] ? ((type)table[slot])(__VA_ARGS__) : none)
#define CLIENT_DO(table, slot, type, ...)                 \
	do {                                              \
		client_open();                            \
		if (table[slot])                          \
			((type)table[slot])(__VA_ARGS__); \
	} while (0)

/* --- calls --------------------------------------------------------------------------------- */

static inline void nvtxMarkA(const char *text)
{
	CLIENT_DO(client_core, 2, void (*)(const char *), text);
}

static inline void nvtxMarkW(const wchar_t *text)
{
	CLIENT_DO(client_core, 3, void (*)(const wchar_t *), text);
}

static inline nvtxRangeId_t nvtxRangeStartA(const char *text)
{
	return CLIENT_CALL(client_core, 5, nvtxRangeId_t(*)(const char *), 0, text);
}

static inline nvtxRangeId_t nvtxRangeStartW(const wchar_t *text)
{
	return CLIENT_CALL(client_core, 6, nvtxRangeId_t(*)(const wchar_t *), 0, text);
}

static inline void nvtxRangeEnd(nvtxRangeId_t id)
{
	CLIENT_DO(client_core, 7, void (*)(nvtxRangeId_t), id);
}

static inline int nvtxRangePushEx(const nvtxEventAttributes_t *attributes)
{
	return CLIENT_CALL(client_core, 8, int (*)(const nvtxEventAttributes_t *), -2, attributes);
}

static inline int nvtxRangePushA(const char *text)
{
	return CLIENT_CALL(client_core, 9, int (*)(const char *), -2, text);
}

static inline int nvtxRangePushW(const wchar_t *text)
{
	return CLIENT_CALL(client_core, 10, int (*)(const wchar_t *), -2, text);
}

static inline int nvtxRangePop(void)
{
	return CLIENT_CALL(client_core, 11, int (*)(void), -2);
}

static inline void nvtxNameOsThreadA(uint32_t tid, const char *name)
{
	CLIENT_DO(client_core, 14, void (*)(uint32_t, const char *), tid, name);
}

static inline void nvtxNameOsThreadW(uint32_t tid, const wchar_t *name)
{
	CLIENT_DO(client_core, 15, void (*)(uint32_t, const wchar_t *), tid, name);
}

static inline void nvtxDomainMarkEx(
	nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	CLIENT_DO(client_core2, 1, void (*)(void *, const nvtxEventAttributes_t *), domain,
		attributes);
}

static inline nvtxRangeId_t nvtxDomainRangeStartEx(
	nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	return CLIENT_CALL(client_core2, 2, nvtxRangeId_t(*)(void *, const nvtxEventAttributes_t *),
		0, domain, attributes);
}

static inline void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
	CLIENT_DO(client_core2, 3, void (*)(void *, nvtxRangeId_t), domain, id);
}

static inline int nvtxDomainRangePushEx(
	nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	return CLIENT_CALL(client_core2, 4, int (*)(void *, const nvtxEventAttributes_t *), -2,
		domain, attributes);
}

static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
	return CLIENT_CALL(client_core2, 5, int (*)(void *), -2, domain);
}

static inline void nvtxDomainNameCategoryA(
	nvtxDomainHandle_t domain, uint32_t number, const char *name)
{
	CLIENT_DO(client_core2, 8, void (*)(void *, uint32_t, const char *), domain, number, name);
}

static inline void nvtxDomainNameCategoryW(
	nvtxDomainHandle_t domain, uint32_t number, const wchar_t *name)
{
	CLIENT_DO(
		client_core2, 9, void (*)(void *, uint32_t, const wchar_t *), domain, number, name);
}

static inline nvtxStringHandle_t nvtxDomainRegisterStringA(
	nvtxDomainHandle_t domain, const char *text)
{
	return CLIENT_CALL(client_core2, 10, void *(*)(void *, const char *), NULL, domain, text);
}

static inline nvtxStringHandle_t nvtxDomainRegisterStringW(
	nvtxDomainHandle_t domain, const wchar_t *text)
{
	return CLIENT_CALL(
		client_core2, 11, void *(*)(void *, const wchar_t *), NULL, domain, text);
}

static inline nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
	return CLIENT_CALL(client_core2, 12, void *(*)(const char *), NULL, name);
}

static inline nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *name)
{
	return CLIENT_CALL(client_core2, 13, void *(*)(const wchar_t *), NULL, name);
}

static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain)
{
	CLIENT_DO(client_core2, 14, void (*)(void *), domain);
}

static inline uint64_t nvtxPayloadSchemaRegister(
	nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t *attributes)
{
	return CLIENT_CALL(client_payload, 0, uint64_t(*)(void *, const nvtxPayloadSchemaAttr_t *),
		0, domain, attributes);
}

static inline uint64_t nvtxPayloadEnumRegister(
	nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t *attributes)
{
	return CLIENT_CALL(client_payload, 1, uint64_t(*)(void *, const nvtxPayloadEnumAttr_t *), 0,
		domain, attributes);
}

static inline void nvtxMarkPayload(
	nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	CLIENT_DO(client_payload, 2, void (*)(void *, const nvtxPayloadData_t *, size_t), domain,
		data, n);
}

static inline int nvtxRangePushPayload(
	nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	return CLIENT_CALL(client_payload, 3, int (*)(void *, const nvtxPayloadData_t *, size_t),
		-2, domain, data, n);
}

static inline int nvtxRangePopPayload(
	nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	return CLIENT_CALL(client_payload, 4, int (*)(void *, const nvtxPayloadData_t *, size_t),
		-2, domain, data, n);
}

static inline uint8_t nvtxDomainIsEnabled(nvtxDomainHandle_t domain)
{
	return CLIENT_CALL(client_payload, 7, uint8_t(*)(void *), 0, domain);
}

#endif

#endif
