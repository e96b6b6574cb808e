/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bundles lie in a ring with two positions. |next| is the bundle that bundles_put() fills next; it
 * is also the oldest one, so its old packets are written before. |taken| is the bundle that a
 * thread deflates next.
 */
#include "trace/codec/perfetto_bundle.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/cpus.h"
#include "base/diag.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_packet.h"
#include "trace/codec/sink.h"

#define LARGE_BYTES ((size_t)4 * BUNDLE_BYTES)

enum bundle_state {
	BUNDLE_EMPTY,
	BUNDLE_FULL, /* waits to be deflated */
	BUNDLE_TAKEN, /* is being deflated */
	BUNDLE_READY, /* waits to be written */
};

struct bundle {
	enum bundle_state state; /* under the lock; decides which thread owns the fields below */
	struct packets packets;
	struct packets deflated;
	int error;
};

struct bundles {
	struct sink *sink;
	struct diag *diag;
	int level;
	struct bundle *v;
	size_t n;
	size_t next; /* the next to be filled, and the oldest */
	pthread_mutex_t lock;
	pthread_cond_t filled;
	pthread_cond_t deflated;
	size_t taken; /* the next to be deflated; under the lock */
	bool is_over; /* no further bundle will come; under the lock */
	pthread_t threads[BUNDLES_MAX_THREADS];
	int n_threads;
};

/* --- deflating ----------------------------------------------------------------------------- */

static int deflate_packets_once(
	const struct packets *p, z_stream *z, struct packets *out, size_t n_most)
{
	z->next_in = p->data;
	z->avail_in = (unsigned int)p->n_bytes;
	z->next_out = out->data;
	z->avail_out = (unsigned int)n_most;
	if (deflate(z, Z_FINISH) != Z_STREAM_END)
		return -EIO;
	out->n_bytes = z->total_out;
	return 0;
}

/*
 * Deflates |p| into |out| with |z|, which is reset before. zlib counts the bytes of a buffer in 32
 * bits; only one huge event can need more. -EFBIG beyond 4 GB, -ENOMEM, -EIO.
 */
static int deflate_packets(const struct packets *p, z_stream *z, struct packets *out)
{
	uLong n_most = deflateBound(z, p->n_bytes);

	out->n_bytes = 0;
	if (n_most > UINT32_MAX)
		return -EFBIG;
	if (!packets_reserve(out, n_most))
		return -ENOMEM;
	if (deflateReset(z) != Z_OK)
		return -EIO;
	return deflate_packets_once(p, z, out, n_most);
}

static int bundle_deflate(const struct bundles *b, struct bundle *u)
{
	z_stream z = {.next_in = NULL};
	int r;

	if (deflateInit(&z, b->level) != Z_OK)
		return -ENOMEM;
	r = deflate_packets(&u->packets, &z, &u->deflated);
	deflateEnd(&z);
	return r;
}

/* Waits for the next full bundle, and takes it; NULL when no further one will come. */
static struct bundle *bundles_take(struct bundles *b)
{
	struct bundle *u = NULL;

	pthread_mutex_lock(&b->lock);
	while (!b->is_over && b->v[b->taken].state != BUNDLE_FULL)
		pthread_cond_wait(&b->filled, &b->lock);
	if (!b->is_over) {
		u = &b->v[b->taken];
		u->state = BUNDLE_TAKEN;
		b->taken = (b->taken + 1) % b->n;
	}
	pthread_mutex_unlock(&b->lock);
	return u;
}

static void bundles_give_back(struct bundles *b, struct bundle *u)
{
	pthread_mutex_lock(&b->lock);
	u->state = BUNDLE_READY;
	pthread_cond_signal(&b->deflated);
	pthread_mutex_unlock(&b->lock);
}

static void *deflate_bundles(void *bundles)
{
	struct bundles *b = bundles;
	z_stream z = {.next_in = NULL};
	bool has_zlib = deflateInit(&z, b->level) == Z_OK;
	struct bundle *u;

	while ((u = bundles_take(b))) {
		u->error = has_zlib ? deflate_packets(&u->packets, &z, &u->deflated) : -ENOMEM;
		bundles_give_back(b, u);
	}
	if (has_zlib)
		deflateEnd(&z);
	return NULL;
}

/* --- writing ------------------------------------------------------------------------------- */

static void write_bundle(struct sink *s, const struct bundle *u)
{
	uint8_t head[2 * PACKET_OPEN_BYTES];
	uint8_t inner[PACKET_OPEN_BYTES];
	uint8_t *inner_end = pb_put_varint(inner, PB_TAG(PACKET_COMPRESSED, PB_LEN));
	uint8_t *at;

	inner_end = pb_put_varint(inner_end, u->deflated.n_bytes);
	at = pb_put_varint(head, PB_TAG(TRACE_PACKET, PB_LEN));
	at = pb_put_varint(at, (size_t)(inner_end - inner) + u->deflated.n_bytes);
	at = mempcpy(at, inner, (size_t)(inner_end - inner));
	sink_write(s, head, (size_t)(at - head));
	sink_write(s, u->deflated.data, u->deflated.n_bytes);
}

static void wait_until_ready(struct bundles *b, struct bundle *u)
{
	pthread_mutex_lock(&b->lock);
	while (u->state == BUNDLE_FULL || u->state == BUNDLE_TAKEN)
		pthread_cond_wait(&b->deflated, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

/* Frees the room that a large event needed, so that not every bundle of the ring keeps it. */
static void bundle_empty(struct bundles *b, struct bundle *u)
{
	packets_empty(&u->packets, LARGE_BYTES);
	packets_empty(&u->deflated, LARGE_BYTES);
	/* The lock is needed: a thread may be reading the state. */
	pthread_mutex_lock(&b->lock);
	u->state = BUNDLE_EMPTY;
	pthread_mutex_unlock(&b->lock);
}

static int fail_bundle(const struct bundles *b, int error)
{
	if (error == -EFBIG)
		return diag_set(b->diag, error,
			"perfetto: an event takes more than 4 GB; choose another format");
	return diag_set(b->diag, error, "perfetto: cannot compress: %s", errno_words(error));
}

/* Writes the oldest bundle, and empties it. */
static int write_oldest(struct bundles *b)
{
	struct bundle *u = &b->v[b->next];

	wait_until_ready(b, u);
	if (u->state == BUNDLE_EMPTY)
		return b->sink->error;
	if (u->error)
		return fail_bundle(b, u->error);
	write_bundle(b->sink, u);
	bundle_empty(b, u);
	return b->sink->error;
}

static void bundle_publish(struct bundles *b, struct bundle *u)
{
	pthread_mutex_lock(&b->lock);
	u->state = BUNDLE_FULL;
	pthread_cond_signal(&b->filled);
	pthread_mutex_unlock(&b->lock);
}

static void swap_packets(struct packets *a, struct packets *b)
{
	struct packets c = *a;

	*a = *b;
	*b = c;
}

static int put_uncompressed(struct bundles *b, struct packets *p)
{
	sink_write(b->sink, p->data, p->n_bytes);
	p->n_bytes = 0;
	return b->sink->error;
}

int bundles_put(struct bundles *b, struct packets *p)
{
	struct bundle *u = &b->v[b->next];
	int r;

	if (p->n_bytes == 0)
		return 0;
	if (b->level == 0)
		return put_uncompressed(b, p);
	r = write_oldest(b);
	if (r)
		return r;
	swap_packets(&u->packets, p);
	if (b->n_threads) {
		bundle_publish(b, u);
	} else {
		u->error = bundle_deflate(b, u);
		u->state = BUNDLE_READY;
	}
	b->next = (b->next + 1) % b->n;
	return 0;
}

int bundles_finish(struct bundles *b)
{
	int r = b->sink->error;

	for (size_t i = 0; i < b->n && r == 0; i++) {
		r = write_oldest(b);
		b->next = (b->next + 1) % b->n;
	}
	return r;
}

/* --- start and finish ---------------------------------------------------------------------- */

/* The threads block all signals. If none can be started, bundles_put() deflates by itself. */
static void start_threads(struct bundles *b, int n)
{
	sigset_t all;
	sigset_t before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (b->n_threads < n &&
		pthread_create(&b->threads[b->n_threads], NULL, deflate_bundles, b) == 0)
		b->n_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int clamp_threads(int level, int64_t n_threads)
{
	int64_t n = n_threads > 0 ? n_threads : cpus_count(0);

	if (level == 0)
		return 0;
	return n < BUNDLES_MAX_THREADS ? (int)n : BUNDLES_MAX_THREADS;
}

int bundles_start(
	struct sink *sink, int level, int64_t n_threads, struct diag *d, struct bundles **out)
{
	int n = clamp_threads(level, n_threads);
	struct bundles *b = calloc(1, sizeof *b);

	if (!b)
		return -ENOMEM;
	b->sink = sink;
	b->diag = d;
	b->level = level;
	b->n = 2 * (size_t)n + 1;
	b->v = calloc(b->n, sizeof *b->v);
	if (!b->v) {
		free(b);
		return -ENOMEM;
	}
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->filled, NULL);
	pthread_cond_init(&b->deflated, NULL);
	start_threads(b, n);
	*out = b;
	return 0;
}

static void end_threads(struct bundles *b)
{
	pthread_mutex_lock(&b->lock);
	b->is_over = true;
	pthread_cond_broadcast(&b->filled);
	pthread_mutex_unlock(&b->lock);
	for (int i = 0; i < b->n_threads; i++)
		pthread_join(b->threads[i], NULL);
}

struct bundles *bundles_free(struct bundles *b)
{
	if (!b)
		return NULL;
	end_threads(b);
	for (size_t i = 0; i < b->n; i++) {
		free(b->v[i].packets.data);
		free(b->v[i].deflated.data);
	}
	free(b->v);
	pthread_cond_destroy(&b->deflated);
	pthread_cond_destroy(&b->filled);
	pthread_mutex_destroy(&b->lock);
	free(b);
	return NULL;
}
