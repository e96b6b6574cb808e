/* SPDX-License-Identifier: Apache-2.0 */
/* A timed Profile call; see profile.h. */
#include "tests/bench/profile.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/profile_options.h"
#include "client/answer/profile_call.h"
#include "client/answer/reply.h"
#include "client/connect/exchange.h"
#include "rpc/client.h"
#include "tests/bench/samples.h"
#include "trace/read/outline.h"

int profile_connect(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
		return fd;
	fprintf(stderr, "port %d: %s\n", port, errno_words(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

struct rpc_channel *profile_open(int port)
{
	struct rpc_channel *channel = NULL;
	struct diag d = DIAG_INIT;
	char authority[32];
	int fd = profile_connect(port);

	if (fd < 0)
		return NULL;
	snprintf(authority, sizeof authority, "127.0.0.1:%d", port);
	if (rpc_channel_new(fd, authority, &channel, &d) == 0)
		return channel;
	fprintf(stderr, "%s\n", d.text);
	return NULL;
}

static int encode(uint64_t duration_ms, uint8_t **out, size_t *n_out)
{
	struct profile_options options;
	struct profile_call call = {
		.options = &options, .address = "127.0.0.1", .log_dir = "/nonexistent"};
	int r;

	profile_options_init(&options);
	options.duration_ms = duration_ms;
	snprintf(options.session_id, sizeof options.session_id, "bench");
	r = profile_call_encode(&call, out, n_out);
	profile_options_deinit(&options);
	return r;
}

static int append(const uint8_t *data, size_t n, void *chunks)
{
	chunks_append(chunks, data, n);
	return ((struct chunks *)chunks)->error;
}

/* Returns one block for the reader, which the caller frees. */
static uint8_t *join(const struct chunks *c)
{
	uint8_t *bytes = malloc(c->total_bytes + 1);
	size_t at = 0;

	for (size_t i = 0; bytes && i < c->n_chunks; i++) {
		memcpy(bytes + at, c->chunks[i].data, c->chunks[i].used_bytes);
		at += c->chunks[i].used_bytes;
	}
	return bytes;
}

static int count_spans(const struct chunks *xspace, struct profile_result *out)
{
	_cleanup_free_ uint8_t *bytes = join(xspace);
	struct outline outline = {.archive = NULL};
	struct diag d = DIAG_INIT;
	int r = bytes ? outline_read(&outline, bytes, xspace->total_bytes, NULL, NULL, &d)
		      : -ENOMEM;

	if (r)
		fprintf(stderr, "the XSpace cannot be read: %s\n", d.text);
	out->n_bytes = xspace->total_bytes;
	out->n_spans = outline.totals.n_spans;
	out->n_dropped = outline.totals.n_dropped;
	outline_deinit(&outline);
	return r ? -1 : 0;
}

static int read_answer(struct rpc_pending *pending, struct profile_result *out)
{
	_cleanup_(chunks_deinit) struct chunks xspace = CHUNKS_INIT;
	struct reply reply = REPLY_INIT(append, &xspace);

	if (rpc_pending_get_status(pending) != RPC_OK) {
		fprintf(stderr, "Profile failed: %s\n", rpc_pending_get_text(pending));
		return -1;
	}
	if (rpc_pending_read(pending, reply_feed, &reply) || reply_end(&reply)) {
		fprintf(stderr, "the answer cannot be read\n");
		return -1;
	}
	return xspace.total_bytes ? count_spans(&xspace, out) : 0;
}

int profile_call(struct rpc_channel *channel, uint64_t duration_ms, struct profile_result *out)
{
	_cleanup_free_ uint8_t *message = NULL;
	struct rpc_request request = {.path = PROFILE_PATH, .timeout_ms = 60000};
	struct rpc_pending *pending = NULL;
	struct diag d = DIAG_INIT;
	double start;
	int r;

	memset(out, 0, sizeof *out);
	if (encode(duration_ms, &message, &request.message_bytes))
		return -1;
	request.message = message;
	start = now_ns();
	if (rpc_call_start(channel, &request, &pending, &d)) {
		fprintf(stderr, "no call made: %s\n", d.text);
		return -1;
	}
	rpc_pending_wait(pending, -1);
	out->took_ns = now_ns() - start;
	r = read_answer(pending, out);
	rpc_pending_free(pending);
	return r;
}
