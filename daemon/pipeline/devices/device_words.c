/* SPDX-License-Identifier: Apache-2.0 */
/* Words; see device_words.h. */
#include "daemon/pipeline/devices/device_words.h"

#include <stdio.h>

#include "daemon/pipeline/devices/device_details.h"

#define COUNT(v) (sizeof(v) / sizeof *(v))

static const char *const words[N_DEVICE_WORDS] = {
	[DEVICE_WORD_COMPUTE] = "Compute",
	[DEVICE_WORD_H2D] = "MemcpyH2D",
	[DEVICE_WORD_D2H] = "MemcpyD2H",
	[DEVICE_WORD_D2D] = "MemcpyD2D",
	[DEVICE_WORD_P2P] = "MemcpyP2P",
	[DEVICE_WORD_OTHER_COPY] = "MemcpyOther",
	[DEVICE_WORD_MEMSET] = "Memset",
	[DEVICE_WORD_GRAPH] = "CudaGraph",
};

/* By enum ptap_device_copy. XProf's analysis of steps recognises three of the names. */
static const struct {
	const char *name;
	enum device_word word;
} copies[] = {
	{"MemcpyOther", DEVICE_WORD_OTHER_COPY},
	{"MemcpyHToD", DEVICE_WORD_H2D},
	{"MemcpyDToH", DEVICE_WORD_D2H},
	{"MemcpyDToD", DEVICE_WORD_D2D},
	{"MemcpyPToP", DEVICE_WORD_P2P},
	{"MemcpyHToH", DEVICE_WORD_OTHER_COPY},
};

/* By enum ptap_device_memory. */
static const char *const memories[] = {
	"unknown",
	"pageable",
	"pinned",
	"device",
	"array",
	"managed",
	"device_static",
	"managed_static",
};

/* By enum ptap_device_memory_op. */
static const char *const changes[] = {
	"Memory",
	"Memory allocated",
	"Memory freed",
	"Memory pool created",
	"Memory pool destroyed",
	"Memory pool trimmed",
};

static unsigned find_copy(const struct device_detail *d)
{
	return d->of.copy.direction < COUNT(copies) ? d->of.copy.direction : 0;
}

enum device_word device_word_find(const struct device_detail *d)
{
	switch (d->kind) {
	case DEVICE_KERNEL:
		return DEVICE_WORD_COMPUTE;
	case DEVICE_COPY:
		return copies[find_copy(d)].word;
	case DEVICE_SET:
		return DEVICE_WORD_MEMSET;
	case DEVICE_GRAPH:
		return DEVICE_WORD_GRAPH;
	default:
		return N_DEVICE_WORDS;
	}
}

const char *device_word_get(enum device_word word)
{
	return words[word];
}

const char *device_word_get_memory(unsigned kind)
{
	return memories[kind < COUNT(memories) ? kind : 0];
}

bool device_word_is_host_memory(unsigned kind)
{
	return kind == DEVICE_IN_PAGEABLE || kind == DEVICE_IN_PINNED;
}

void device_word_name(const struct device_detail *d, char *text, size_t size)
{
	unsigned op = d->of.memory.op;

	switch (d->kind) {
	case DEVICE_KERNEL:
		snprintf(text, size, "%s", words[DEVICE_WORD_COMPUTE]);
		break;
	case DEVICE_COPY:
		snprintf(text, size, "%s", copies[find_copy(d)].name);
		break;
	case DEVICE_SET:
		snprintf(text, size, "Memset %s", device_word_get_memory(d->of.set.memory));
		break;
	case DEVICE_GRAPH:
		snprintf(text, size, "CudaGraphExec:%u", d->of.graph.graph);
		break;
	case DEVICE_MEMORY:
		snprintf(text, size, "%s", changes[op < COUNT(changes) ? op : 0]);
		break;
	case DEVICE_SYNC:
		snprintf(text, size, "Synchronize");
		break;
	default:
		snprintf(text, size, "Overhead");
		break;
	}
}

#undef COUNT
