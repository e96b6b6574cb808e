/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory; see device_memory.h. */
#include "daemon/pipeline/devices/device_memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/pipeline/devices/device_details.h"
#include "daemon/pipeline/devices/device_drawing.h"
#include "daemon/pipeline/devices/device_words.h"
#include "daemon/pipeline/devices/devices.h"
#include "trace/model/space.h"
#include "trace/saturate.h"

/* Ids that no thread has, below those of async spans. */
#define FIRST_ID ((INT64_C(1) << 30) - 1)

/*
 * Memory of the host that the device uses (kinds pageable and pinned in enum ptap_device_memory) is
 * counted apart.
 */
enum memory_pool {
	POOL_DEVICE,
	POOL_HOST,
	N_POOLS
};

/* Names of stats, in the host's plane. */
enum key {
	KEY_ALLOCATOR,
	KEY_RESERVED,
	KEY_ALLOCATED,
	KEY_AVAILABLE,
	KEY_FRAGMENTATION,
	KEY_PEAK,
	KEY_REQUESTED,
	KEY_BYTES,
	KEY_ADDRESS,
	N_KEYS
};

static const char *const texts_of_keys[N_KEYS] = {
	[KEY_ALLOCATOR] = "allocator_name",
	[KEY_RESERVED] = "bytes_reserved",
	[KEY_ALLOCATED] = "bytes_allocated",
	[KEY_AVAILABLE] = "bytes_available",
	[KEY_FRAGMENTATION] = "fragmentation",
	[KEY_PEAK] = "peak_bytes_in_use",
	[KEY_REQUESTED] = "requested_bytes",
	[KEY_BYTES] = "allocation_bytes",
	[KEY_ADDRESS] = "addr",
};

/* Draws the memory of one device. */
struct memory_drawing {
	const struct device_drawing *g;
	const struct device_line *line;
	struct plane *host;
	struct line *to;
	uint32_t keys[N_KEYS];
	uint32_t allocators[N_POOLS]; /* texts */
	uint32_t taken; /* names of events */
	uint32_t given_back;
	int64_t used[N_POOLS];
	int64_t peak[N_POOLS];
};

/* Returns NULL if the event does not change the memory in use. */
static const struct device_memory_change *find_change(
	const struct memory_drawing *m, const struct trace_event *event)
{
	const struct device_event *raw = &m->line->events[event->stats];
	const struct device_detail *detail = keys_get(&m->g->d->details, raw->detail);
	unsigned op = detail->of.memory.op;

	return op == DEVICE_MEMORY_TAKEN || op == DEVICE_MEMORY_GIVEN_BACK ? &detail->of.memory
									   : NULL;
}

static enum memory_pool find_pool(const struct device_memory_change *c)
{
	return device_word_is_host_memory(c->memory) ? POOL_HOST : POOL_DEVICE;
}

static void change_memory(struct memory_drawing *m, const struct device_memory_change *c)
{
	int64_t n_bytes = c->bytes < INT64_MAX ? (int64_t)c->bytes : INT64_MAX;
	enum memory_pool pool = find_pool(c);

	m->used[pool] = c->op == DEVICE_MEMORY_TAKEN ? add_saturated(m->used[pool], n_bytes)
						     : sub_saturated(m->used[pool], n_bytes);
	if (m->used[pool] > m->peak[pool])
		m->peak[pool] = m->used[pool];
}

/* Sets the memory in use at the start to the least with which it never becomes negative. */
static void find_first(struct memory_drawing *m, const struct line *made)
{
	int64_t least[N_POOLS] = {0, 0};

	for (size_t k = 0; k < made->n_events; k++) {
		const struct device_memory_change *c = find_change(m, &made->events[k]);

		if (!c)
			continue;
		change_memory(m, c);
		if (m->used[find_pool(c)] < least[find_pool(c)])
			least[find_pool(c)] = m->used[find_pool(c)];
	}
	for (int pool = 0; pool < N_POOLS; pool++)
		m->used[pool] = m->peak[pool] = sub_saturated(0, least[pool]);
}

/* --- events -------------------------------------------------------------------------------- */

static int64_t find_available(const struct memory_drawing *m, enum memory_pool pool)
{
	uint64_t size = m->g->known && pool == POOL_DEVICE ? m->g->known->info.memory_bytes : 0;

	return size < INT64_MAX && (int64_t)size > m->used[pool] ? (int64_t)size - m->used[pool]
								 : 0;
}

static struct trace_stat make_int(const struct memory_drawing *m, enum key key, int64_t value)
{
	return (struct trace_stat){.name = m->keys[key], .type = STAT_INT64, .value.i64 = value};
}

static int add_event(struct memory_drawing *m, const struct trace_event *made,
	const struct device_memory_change *c)
{
	enum memory_pool pool = find_pool(c);
	const struct trace_stat stats[] = {
		{.name = m->keys[KEY_ALLOCATOR],
			.type = STAT_STRING,
			.value.string = m->allocators[pool]},
		make_int(m, KEY_RESERVED, 0),
		make_int(m, KEY_ALLOCATED, m->used[pool]),
		make_int(m, KEY_AVAILABLE, find_available(m, pool)),
		{.name = m->keys[KEY_FRAGMENTATION], .type = STAT_DOUBLE},
		make_int(m, KEY_PEAK, m->peak[pool]),
		make_int(m, KEY_REQUESTED, (int64_t)c->bytes),
		make_int(m, KEY_BYTES, (int64_t)c->bytes),
		make_int(m, KEY_ADDRESS, (int64_t)c->address),
	};
	struct trace_event event = {
		.start_ns = made->start_ns,
		.name = c->op == DEVICE_MEMORY_TAKEN ? m->taken : m->given_back,
		.stats = plane_add_stats(m->host, stats, sizeof stats / sizeof *stats),
	};

	return event.stats ? line_add_event(m->to, &event) : -ENOMEM;
}

static int intern_memory_text(struct names *names, const char *text, uint32_t *out)
{
	*out = names_intern(names, text, strlen(text));
	return *out == NAMES_NONE ? -ENOMEM : 0;
}

static int intern_all(struct memory_drawing *m, const char *device)
{
	char name[64];
	int r = 0;

	for (int i = 0; i < N_KEYS && !r; i++)
		r = intern_memory_text(&m->host->stat_names, texts_of_keys[i], &m->keys[i]);
	snprintf(name, sizeof name, "GPU_%s", device);
	if (!r)
		r = intern_memory_text(&m->host->stat_names, name, &m->allocators[POOL_DEVICE]);
	snprintf(name, sizeof name, "GPU_%s_host", device);
	if (!r)
		r = intern_memory_text(&m->host->stat_names, name, &m->allocators[POOL_HOST]);
	/* XProf recognises the events by these names. */
	if (!r)
		r = intern_memory_text(&m->host->event_names, "MemoryAllocation", &m->taken);
	return r ? r
		 : intern_memory_text(&m->host->event_names, "MemoryDeallocation", &m->given_back);
}

static struct line *add_line(struct plane *host, const char *device, unsigned number)
{
	char name[64];

	snprintf(name, sizeof name, "memory of GPU %s", device);
	return plane_add_line(host, FIRST_ID - number, name, 0);
}

int device_memory_add(const struct device_drawing *g, size_t i, const struct line *made,
	unsigned number, struct plane *host)
{
	/* "/device:GPU:0" */
	const char *device = strrchr(g->plane->name, ':') + 1;
	struct memory_drawing m = {.g = g, .line = &g->d->lines.v[i], .host = host};
	int r = intern_all(&m, device);

	if (!r) {
		m.to = add_line(host, device, number);
		r = m.to ? 0 : -ENOMEM;
	}
	find_first(&m, made);
	for (size_t k = 0; k < made->n_events && !r; k++) {
		const struct device_memory_change *c = find_change(&m, &made->events[k]);

		if (!c)
			continue;
		change_memory(&m, c);
		r = add_event(&m, &made->events[k], c);
	}
	return r;
}
