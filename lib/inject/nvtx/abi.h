/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary interface between a program with NVTX annotations and a tool, as NVIDIA's
 * documentation states it, in declarations of our own; tests/compile/nvidia compares them with
 * NVIDIA's headers. Each module of a program that was built with NVTX 3 headers has tables of
 * function pointers, with one slot for each NVTX call. At its first call it loads the library that
 * NVTX_INJECTION64_PATH names and hands it a function that returns the tables. An empty slot costs
 * the program a load and a branch.
 *
 * libnvToolsExt.so, the library of NVTX 2, does the same once in a process.
 */
#ifndef INJECT_NVTX_ABI_H
#define INJECT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef const void *nvtx_get_table(uint32_t id);

enum nvtx_table_id {
	NVTX_TABLE_CALLBACKS = 1, /* struct nvtx_callbacks */
	NVTX_TABLE_VERSION = 3, /* struct nvtx_version */
};

typedef void nvtx_function(void);

struct nvtx_callbacks {
	size_t size;
	/*
	 * Returns 0 if there is no such module. The first of |n| slots is not used; each is the
	 * address of a function pointer.
	 */
	int (*get_module)(int module, nvtx_function ****slots, unsigned *n);
};

struct nvtx_version {
	size_t size;
	uint32_t version;
	uint32_t reserved;
	void (*set_tool_version)(uint32_t version);
};

#define NVTX_VERSION 3u

enum nvtx_module {
	NVTX_MODULE_CORE = 1,
	NVTX_MODULE_CORE2 = 5,
};

enum nvtx_core_slot {
	NVTX_CORE_MARK_EX = 1,
	NVTX_CORE_MARK_A,
	NVTX_CORE_MARK_W,
	NVTX_CORE_RANGE_START_EX,
	NVTX_CORE_RANGE_START_A,
	NVTX_CORE_RANGE_START_W,
	NVTX_CORE_RANGE_END,
	NVTX_CORE_RANGE_PUSH_EX,
	NVTX_CORE_RANGE_PUSH_A,
	NVTX_CORE_RANGE_PUSH_W,
	NVTX_CORE_RANGE_POP,
	NVTX_CORE_NAME_CATEGORY_A,
	NVTX_CORE_NAME_CATEGORY_W,
	NVTX_CORE_NAME_THREAD_A,
	NVTX_CORE_NAME_THREAD_W,
	NVTX_CORE_SLOTS
};

enum nvtx_core2_slot {
	NVTX_CORE2_MARK_EX = 1,
	NVTX_CORE2_RANGE_START_EX,
	NVTX_CORE2_RANGE_END,
	NVTX_CORE2_RANGE_PUSH_EX,
	NVTX_CORE2_RANGE_POP,
	NVTX_CORE2_RESOURCE_CREATE,
	NVTX_CORE2_RESOURCE_DESTROY,
	NVTX_CORE2_NAME_CATEGORY_A,
	NVTX_CORE2_NAME_CATEGORY_W,
	NVTX_CORE2_REGISTER_STRING_A,
	NVTX_CORE2_REGISTER_STRING_W,
	NVTX_CORE2_DOMAIN_CREATE_A,
	NVTX_CORE2_DOMAIN_CREATE_W,
	NVTX_CORE2_DOMAIN_DESTROY,
	NVTX_CORE2_INITIALIZE,
	NVTX_CORE2_SLOTS
};

/* The result of a push or a pop that keeps no count of levels. */
#define NVTX_NO_LEVELS (-2)

enum nvtx_color_type {
	NVTX_COLOR_NONE = 0,
	NVTX_COLOR_ARGB = 1,
};

enum nvtx_payload_type {
	NVTX_PAYLOAD_NONE = 0,
	NVTX_PAYLOAD_U64 = 1,
	NVTX_PAYLOAD_I64 = 2,
	NVTX_PAYLOAD_F64 = 3,
	NVTX_PAYLOAD_U32 = 4,
	NVTX_PAYLOAD_I32 = 5,
	NVTX_PAYLOAD_F32 = 6,
};
/* |payload| is the address of an array of |n_payloads| struct nvtx_payload; see payload_abi.h. */
#define NVTX_PAYLOAD_EXTENDED ((int32_t)0xdfbd0009)

enum nvtx_message_type {
	NVTX_MESSAGE_NONE = 0,
	NVTX_MESSAGE_CHARS = 1,
	NVTX_MESSAGE_WIDE = 2,
	NVTX_MESSAGE_REGISTERED = 3,
};

/* The attributes of an event. Fields beyond |size| do not exist. */
struct nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category; /* 0: none */
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t n_payloads;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		uint32_t u32;
		int32_t i32;
		float f32;
	} payload;
	int32_t message_type;
	union {
		const char *chars;
		const wchar_t *wide;
		void *registered;
	} message;
};

_Static_assert(sizeof(void *) != 8 || (offsetof(struct nvtx_attributes, payload) == 24 &&
					      offsetof(struct nvtx_attributes, message) == 40 &&
					      sizeof(struct nvtx_attributes) == 48),
	"the layout matches the programs'");

#endif
