/* SPDX-License-Identifier: Apache-2.0 */
/* Clock offsets; see clock_offset.h. */
#include "client/answer/clock_offset.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/file_io.h"
#include "base/log.h"
#include "base/stock_servers.h"
#include "client/answer/answer.h"
#include "client/connect/exchange.h"
#include "client/process/interrupt.h"
#include "client/target/address.h"
#include "proftap/v1/profiler.pb-c.h"
#include "rpc/client.h"
#include "trace/model/space.h"
#include "trace/run_dir.h"
#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"

#define N_ROUNDS 8
#define ROUND_TIMEOUT_MS 1000
#define TURN_MS 100
#define MAX_REPLY_BYTES 65536
/* The year 2116: adding a duration to such a time cannot overflow. */
#define MAX_UNIX_NS (INT64_MAX / 2)

/* Hostname, pid and start time together differ for any two programs. */
static void name_target(const Proftap__V1__Target *target, struct clock_round *round)
{
	if (!target)
		return;
	snprintf(round->target, sizeof round->target, "%.200s %" PRId32 " %" PRIu64,
		target->hostname, target->pid, target->since_unix_ns);
	snprintf(round->name, sizeof round->name, "%s", target->name);
	round->pid = target->pid;
}

static bool read_reply(struct rpc_pending *pending, struct clock_round *round)
{
	uint8_t bytes[MAX_REPLY_BYTES];
	Proftap__V1__StatusReply *reply;
	size_t n;

	if (rpc_pending_get_status(pending) != RPC_OK ||
		rpc_pending_copy(pending, bytes, sizeof bytes, &n))
		return false;
	reply = proftap__v1__status_reply__unpack(NULL, n, bytes);
	if (!reply)
		return false;
	round->unix_ns = reply->unix_ns;
	round->monotonic_ns = reply->monotonic_ns;
	name_target(reply->target, round);
	proftap__v1__status_reply__free_unpacked(reply, NULL);
	return true;
}

static bool wait_for_end(struct rpc_pending *pending)
{
	while (!rpc_pending_wait(pending, TURN_MS))
		if (interrupt_get_count() > 0)
			return false;
	return true;
}

static bool call_status(struct rpc_channel *channel, struct clock_round *round)
{
	const struct rpc_request request = {
		.path = STATUS_PATH,
		.message = (const uint8_t *)"", /* no fields */
		.timeout_ms = ROUND_TIMEOUT_MS,
		.max_reply_bytes = MAX_REPLY_BYTES,
	};
	struct rpc_pending *pending = NULL;
	bool is_done;

	round->sent_unix_ns = realtime_ns();
	round->sent_monotonic_ns = monotonic_ns();
	if (rpc_call_start(channel, &request, &pending, NULL) < 0)
		return false;
	is_done = wait_for_end(pending);
	round->received_monotonic_ns = monotonic_ns();
	is_done = is_done && read_reply(pending, round);
	rpc_pending_free(pending);
	return is_done;
}

/* CLOCK_MONOTONIC begins at boot, and two machines hardly ever boot within one round trip. */
static bool is_same_kernel(const struct clock_round *round)
{
	return round->monotonic_ns >= (uint64_t)round->sent_monotonic_ns &&
	       round->monotonic_ns <= (uint64_t)round->received_monotonic_ns;
}

bool clock_offset_judge(const struct clock_round *round, struct clock_offset *out)
{
	int64_t half_ns = (round->received_monotonic_ns - round->sent_monotonic_ns) / 2;

	if (round->unix_ns == 0 || round->unix_ns > MAX_UNIX_NS)
		return false;
	*out = (struct clock_offset){.is_known = true};
	memcpy(out->target, round->target, sizeof out->target);
	memcpy(out->name, round->name, sizeof out->name);
	out->pid = round->pid;
	if (is_same_kernel(round))
		return true;
	out->offset_ns = (int64_t)round->unix_ns - (round->sent_unix_ns + half_ns);
	/* Add 1 for the lost half of an odd number, and to avoid 0, which means the same clock. */
	out->uncertainty_ns = half_ns + 1;
	return true;
}

void clock_offset_measure(struct rpc_channel *channel, struct clock_offset *out)
{
	*out = (struct clock_offset){.is_known = false};
	for (int i = 0; i < N_ROUNDS; i++) {
		struct clock_offset one;
		struct clock_round round = {.target = ""};

		if (!call_status(channel, &round) || !clock_offset_judge(&round, &one))
			return;
		if (!out->is_known || one.uncertainty_ns < out->uncertainty_ns)
			*out = one;
		if (out->uncertainty_ns == 0)
			return;
	}
}

bool clock_offset_find_name(struct rpc_channel *channel, struct clock_offset *out)
{
	struct clock_round round = {.target = ""};

	return call_status(channel, &round) && clock_offset_judge(&round, out) && out->name[0];
}

/*
 * This looks up the listening process and calls no server. A tunnel's end or a forwarded port
 * belongs to a process without JAX's or TensorFlow's library.
 */
bool clock_offset_find_stock_here(const struct address *address, struct clock_offset *out)
{
	struct stock_servers stock = STOCK_SERVERS_INIT;
	bool is_here = false;

	if (address->port && address_is_here(address) && stock_servers_list(&stock, 0) == 0) {
		stock_servers_identify(&stock, 0);
		for (size_t i = 0; i < stock.n && !is_here; i++) {
			is_here = stock.v[i].pid && stock.v[i].port == address->port;
			if (!is_here)
				continue;
			*out = (struct clock_offset){.is_known = true, .pid = (int)stock.v[i].pid};
			snprintf(out->name, sizeof out->name, "%s", stock.v[i].name);
		}
	}
	stock_servers_deinit(&stock);
	return is_here;
}

/*
 * The recording started after we sent the request, and ended before the answer came:
 * docs/internals/many_targets.md.
 */
bool clock_offset_bracket(const struct clock_bracket *b, struct clock_offset *out)
{
	int64_t least_ns;
	int64_t most_ns;

	if (b->start_ns <= 0 || b->stop_ns < b->start_ns || b->stop_ns > MAX_UNIX_NS)
		return false;
	least_ns = b->stop_ns - b->answered_unix_ns;
	most_ns = b->start_ns - b->sent_unix_ns;
	if (least_ns > most_ns)
		return false;
	*out = (struct clock_offset){
		.is_known = true,
		.is_bracket = true,
		.offset_ns = least_ns + (most_ns - least_ns) / 2,
		.uncertainty_ns = (most_ns - least_ns) / 2 + 1,
	};
	return true;
}

int64_t clock_offset_convert(const struct clock_offset *offset, int64_t unix_ns)
{
	int64_t there = offset->is_known ? add_saturated(unix_ns, offset->offset_ns) : unix_ns;

	return there > 0 ? there : 1;
}

void clock_offset_format(const struct clock_offset *offset, char *out, size_t n)
{
	if (!offset->is_known)
		snprintf(out, n, "clock unknown");
	else if (offset->uncertainty_ns == 0)
		snprintf(out, n, "same clock");
	else
		snprintf(out, n, "clock %+.3f ms ± %.3f ms", (double)offset->offset_ns / 1e6,
			(double)offset->uncertainty_ns / 1e6);
}

/* --- stamps of traces ------------------------------------------------------------------------- */

/*
 * Protobuf would accept a second plane of the same name at the end of the file. Viewers would not:
 * XProf takes the first one, and a viewer that makes a dictionary of them takes the last one. So
 * fields are appended to the plane itself, and the bytes that follow the plane in the file are
 * moved. These bytes are a few warnings, or the traces of all subprocesses.
 */

#define XSPACE_PLANES 1
#define XPLANE_NAME 2
#define XPLANE_STAT_METADATA 5
#define XPLANE_STATS 6
#define XSTAT_METADATA_ID 1
#define XSTAT_INT64_VALUE 4
#define XSTAT_STR_VALUE 5

/* The ids must not occur in the plane. Servers number their own from 1 and use few. */
#define FIRST_ID 1000001
/* The limit of the encoded stats: each has a name, an id twice, and a value. */
#define STAMP_MAX_BYTES 640
/* The limit of a stat's encoded value: a tag, a length, and the longest text. */
#define VALUE_MAX_BYTES (16 + CLOCK_OFFSET_NAME_BYTES)

struct stamp {
	uint8_t bytes[STAMP_MAX_BYTES];
	uint8_t *end;
};

static uint8_t *put_len(uint8_t *p, uint32_t number, const void *data, size_t n)
{
	p = pb_put_varint(pb_put_varint(p, PB_TAG(number, PB_LEN)), n);
	memcpy(p, data, n);
	return p + n;
}

/*
 * Adds one XPlane.stat_metadata entry and one XPlane.stats, whose value is the encoded field
 * |value| of XStat.
 */
static void add_stat(
	struct stamp *s, uint64_t id, const char *name, const uint8_t *value, size_t n_value)
{
	uint8_t metadata[64];
	uint8_t entry[80];
	uint8_t stat[16 + VALUE_MAX_BYTES];
	uint8_t *p;

	p = pb_put_uint(metadata, 1, id);
	p = put_len(p, 2, name, strlen(name));
	p = put_len(pb_put_uint(entry, 1, id), 2, metadata, (size_t)(p - metadata));
	s->end = put_len(s->end, XPLANE_STAT_METADATA, entry, (size_t)(p - entry));
	p = pb_put_uint(stat, XSTAT_METADATA_ID, id);
	memcpy(p, value, n_value);
	s->end = put_len(s->end, XPLANE_STATS, stat, (size_t)(p - stat) + n_value);
}

static void add_int(struct stamp *s, uint64_t id, const char *name, int64_t value)
{
	uint8_t field[VALUE_MAX_BYTES];
	uint8_t *end = pb_put_uint(field, XSTAT_INT64_VALUE, (uint64_t)value);

	add_stat(s, id, name, field, (size_t)(end - field));
}

static void add_text(struct stamp *s, uint64_t id, const char *name, const char *text)
{
	uint8_t field[VALUE_MAX_BYTES];
	uint8_t *end = put_len(field, XSTAT_STR_VALUE, text, strlen(text));

	add_stat(s, id, name, field, (size_t)(end - field));
}

static bool has_name(const struct pb_field *plane, const char *name)
{
	struct pb_reader reader = pb_enter(plane);
	struct pb_field field;

	while (pb_next(&reader, &field) > 0)
		if (field.tag == PB_TAG(XPLANE_NAME, PB_LEN))
			return field.n_bytes == strlen(name) &&
			       memcmp(field.data, name, field.n_bytes) == 0;
	return false;
}

/* Finds the plane's field; *start is the position of its tag. */
static bool find_plane(const struct answer *a, const uint8_t **start, struct pb_field *plane)
{
	struct pb_reader reader = pb_reader(a->trace, a->trace ? a->xspace_bytes : 0);

	*start = reader.p;
	while (pb_next(&reader, plane) > 0) {
		if (plane->tag == PB_TAG(XSPACE_PLANES, PB_LEN) &&
			has_name(plane, PLANE_ENVIRONMENT))
			return true;
		*start = reader.p;
	}
	return false;
}

/* The offsets of the plane in the file, and its growth. */
struct plane_place {
	uint64_t start; /* the offset of the tag */
	uint64_t data;
	uint64_t end;
	size_t n_length; /* the number of bytes of the encoded new length */
	/* The number of bytes by which the data moves, because the encoded length grows. */
	size_t n_shift;
};

/*
 * The encoded length keeps its number of bytes if these are enough. A server may have reserved more
 * bytes than the length needs, because it did not know the length yet.
 */
static void find_place(const struct answer *a, const uint8_t *start, const struct pb_field *plane,
	size_t n_stamp, struct plane_place *out)
{
	size_t n_least = pb_varint_size(plane->n_bytes + n_stamp);
	size_t n_had = (size_t)(plane->data - start) - 1;

	out->start = (uint64_t)(start - a->trace);
	out->data = (uint64_t)(plane->data - a->trace);
	out->end = out->data + plane->n_bytes;
	out->n_length = n_had > n_least ? n_had : n_least;
	out->n_shift = out->n_length - n_had;
}

static int write_head(int fd, const struct plane_place *at, uint64_t n_bytes)
{
	uint8_t head[1 + PB_VARINT_MAX_BYTES] = {PB_TAG(XSPACE_PLANES, PB_LEN)};

	for (size_t i = 1; i <= at->n_length; i++, n_bytes >>= 7)
		head[i] = (uint8_t)((n_bytes & 0x7f) | (i < at->n_length ? 0x80 : 0));
	return file_write_at(fd, head, 1 + at->n_length, at->start);
}

static int write_stamp(
	int fd, const struct plane_place *at, uint64_t n_file, const struct stamp *stamp)
{
	size_t n_stamp = (size_t)(stamp->end - stamp->bytes);
	int r = file_move_up(fd, at->end, n_file, at->n_shift + n_stamp);

	if (!r && at->n_shift)
		r = file_move_up(fd, at->data, at->end, at->n_shift);
	if (!r)
		r = file_write_at(fd, stamp->bytes, n_stamp, at->end + at->n_shift);
	return r ? r : write_head(fd, at, at->end - at->data + n_stamp);
}

int clock_stamp_write(
	struct answer *a, const struct clock_offset *offset, uint64_t *file_bytes, struct diag *d)
{
	struct stamp stamp = {.end = stamp.bytes};
	const uint8_t *start;
	struct pb_field plane;
	struct plane_place at;
	size_t n_stamp;
	int r;

	if (!find_plane(a, &start, &plane))
		return 0;
	if (offset->is_known) {
		add_int(&stamp, FIRST_ID, "proftap_clock_offset_ns", offset->offset_ns);
		add_int(&stamp, FIRST_ID + 1, "proftap_clock_uncertainty_ns",
			offset->uncertainty_ns);
	}
	if (offset->name[0]) {
		add_text(&stamp, FIRST_ID + 2, "proftap_target_name", offset->name);
		add_int(&stamp, FIRST_ID + 3, "proftap_target_pid", offset->pid);
	}
	n_stamp = (size_t)(stamp.end - stamp.bytes);
	find_place(a, start, &plane, n_stamp, &at);
	/* No server encodes a length in so many bytes. */
	if (at.n_length > PB_VARINT_MAX_BYTES)
		return 0;
	*file_bytes = a->xspace_bytes + at.n_shift + n_stamp;
	r = write_stamp(a->run_dir->fd, &at, a->xspace_bytes, &stamp);
	if (r < 0)
		diag_set(d, r, "%s: cannot write the trace: %s", a->run_dir->path, errno_words(r));
	return r;
}
