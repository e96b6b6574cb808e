/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary interface of NVTX's payload extension, beside abi.h: events with data of any layout,
 * and the registration of layouts. Each extension has a module with slots of its own.
 */
#ifndef INJECT_NVTX_PAYLOAD_ABI_H
#define INJECT_NVTX_PAYLOAD_ABI_H

#include <stddef.h>
#include <stdint.h>

struct nvtx_segment {
	size_t id;
	size_t n_slots;
	intptr_t *slots; /* addresses of functions; 0: empty */
};

struct nvtx_extension {
	uint16_t nvtx_version;
	uint16_t size;
	uint16_t module;
	uint16_t compatibility;
	size_t n_segments;
	struct nvtx_segment *segments;
	intptr_t (*get_function)(uint32_t id);
	const void *info;
};

#define NVTX_EXTENSION_PAYLOAD 2u
/* The layouts below hold from this version of the extension on. */
#define NVTX_PAYLOAD_COMPATIBILITY 0x0103u

enum nvtx_payload_slot {
	NVTX_PAYLOAD_SCHEMA_REGISTER = 0,
	NVTX_PAYLOAD_ENUM_REGISTER = 1,
	NVTX_PAYLOAD_MARK = 2,
	NVTX_PAYLOAD_RANGE_PUSH = 3,
	NVTX_PAYLOAD_RANGE_POP = 4,
	NVTX_PAYLOAD_RANGE_START = 5,
	NVTX_PAYLOAD_RANGE_END = 6,
	NVTX_PAYLOAD_DOMAIN_IS_ENABLED = 7,
	NVTX_PAYLOAD_SLOTS
};

struct nvtx_payload {
	uint64_t schema; /* a type, the id of a schema, NVTX_SCHEMA_REFERENCED or 1023 (raw) */
	size_t size; /* bytes; SIZE_MAX: a text up to its zero */
	const void *bytes;
};

#define NVTX_SCHEMA_REFERENCED 1022u /* other payloads of the event point into it */
/* Ids of schemas begin here; smaller numbers are types, the value above, or 1023 for raw bytes. */
#define NVTX_SCHEMA_FIRST (UINT64_C(1) << 24)
/* Ids that the tool gives begin here; the program has chosen smaller ones itself. */
#define NVTX_SCHEMA_FIRST_GIVEN (UINT64_C(1) << 32)

enum nvtx_type {
	NVTX_TYPE_CHAR = 1,
	NVTX_TYPE_UCHAR,
	NVTX_TYPE_SHORT,
	NVTX_TYPE_USHORT,
	NVTX_TYPE_INT,
	NVTX_TYPE_UINT,
	NVTX_TYPE_LONG,
	NVTX_TYPE_ULONG,
	NVTX_TYPE_LONGLONG,
	NVTX_TYPE_ULONGLONG,
	NVTX_TYPE_INT8,
	NVTX_TYPE_UINT8,
	NVTX_TYPE_INT16,
	NVTX_TYPE_UINT16,
	NVTX_TYPE_INT32,
	NVTX_TYPE_UINT32,
	NVTX_TYPE_INT64,
	NVTX_TYPE_UINT64,
	NVTX_TYPE_FLOAT,
	NVTX_TYPE_DOUBLE,
	NVTX_TYPE_LONGDOUBLE,
	NVTX_TYPE_SIZE,
	NVTX_TYPE_ADDRESS,
	NVTX_TYPE_WCHAR,
	NVTX_TYPE_CHAR8,
	NVTX_TYPE_CHAR16,
	NVTX_TYPE_CHAR32,
	NVTX_TYPE_BYTE = 32,
	NVTX_TYPE_INT128,
	NVTX_TYPE_UINT128,
	NVTX_TYPE_FLOAT16 = 42,
	NVTX_TYPE_FLOAT32,
	NVTX_TYPE_FLOAT64,
	NVTX_TYPE_FLOAT128,
	NVTX_TYPE_BF16 = 50,
	NVTX_TYPE_TF32 = 52,
	NVTX_TYPE_RANGE_ID = 67,
	NVTX_TYPE_CATEGORY,
	NVTX_TYPE_COLOR,
	NVTX_TYPE_SCOPE_ID,
	NVTX_TYPE_PID_32,
	NVTX_TYPE_PID_64,
	NVTX_TYPE_TID_32,
	NVTX_TYPE_TID_64,
	NVTX_TYPE_CSTRING,
	NVTX_TYPE_CSTRING_UTF8,
	NVTX_TYPE_CSTRING_UTF16,
	NVTX_TYPE_CSTRING_UTF32,
	NVTX_TYPE_REGISTERED_STRING = 80,
	NVTX_TYPES
};

enum nvtx_entry_flags {
	NVTX_ENTRY_POINTER = 1 << 1,
	/*
	 * the mask of both flags for a value that is an offset: from the payload's start, or
	 * from the end of this entry
	 */
	NVTX_ENTRY_OFFSET = 3 << 2,
	NVTX_ENTRY_ARRAY_FIXED = 1 << 4,
	NVTX_ENTRY_ARRAY_TO_ZERO = 2 << 4,
	NVTX_ENTRY_ARRAY_COUNTED = 3 << 4, /* by the entry |detail| */
	NVTX_ENTRY_ARRAY = 7 << 4,
	NVTX_ENTRY_HIDDEN = 1 << 9,
	NVTX_ENTRY_MESSAGE = 1 << 10,
	NVTX_ENTRY_ROLE = 3 << 10, /* the mask of roles; a message is one of them */
};

struct nvtx_entry {
	uint64_t flags;
	uint64_t type; /* enum nvtx_type, or a registered schema or enumeration */
	const char *name;
	const char *description;
	uint64_t detail; /* number of elements or characters, or the entry that counts them */
	/* 0 means behind the previous entry, aligned as in C; in the first entry 0 is an offset */
	uint64_t offset;
	const void *semantics;
	const void *reserved;
};

enum nvtx_schema_type {
	NVTX_SCHEMA_STATIC = 1,
	NVTX_SCHEMA_DYNAMIC = 2,
};

/* Bits for the fields that a program has set. */
enum nvtx_schema_has {
	NVTX_SCHEMA_HAS_TYPE = 1 << 2,
	NVTX_SCHEMA_HAS_ENTRIES = 1 << 4,
	NVTX_SCHEMA_HAS_N_ENTRIES = 1 << 5,
	NVTX_SCHEMA_HAS_SIZE = 1 << 6,
	NVTX_SCHEMA_HAS_ALIGNMENT = 1 << 7,
	NVTX_SCHEMA_HAS_ID = 1 << 8,
};

struct nvtx_schema_attributes {
	uint64_t has;
	const char *name;
	uint64_t type;
	uint64_t flags;
	const struct nvtx_entry *entries;
	size_t n_entries;
	size_t size; /* bytes, of a static schema */
	size_t alignment; /* upper bound for the alignment of fields; 0: as in C */
	uint64_t id;
	void *extension;
};

struct nvtx_enum_value {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

enum nvtx_enum_has {
	NVTX_ENUM_HAS_ENTRIES = 1 << 2,
	NVTX_ENUM_HAS_N_ENTRIES = 1 << 3,
	NVTX_ENUM_HAS_SIZE = 1 << 4,
	NVTX_ENUM_HAS_ID = 1 << 5,
};

struct nvtx_enum_attributes {
	uint64_t has;
	const char *name;
	const struct nvtx_enum_value *values;
	size_t n_values;
	size_t size; /* bytes, of a value */
	uint64_t id;
	void *extension;
};

_Static_assert(sizeof(void *) != 8 ||
		       (sizeof(struct nvtx_payload) == 24 && sizeof(struct nvtx_entry) == 64 &&
			       sizeof(struct nvtx_schema_attributes) == 80 &&
			       sizeof(struct nvtx_enum_attributes) == 56 &&
			       sizeof(struct nvtx_extension) == 40),
	"the layout matches the programs'");

#endif
