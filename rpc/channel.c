/* SPDX-License-Identifier: Apache-2.0 */
/* Connections on which calls are made; see client.h. */
#include "rpc/client_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grpc/compression.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "rpc/client.h"
#include "rpc/engine.h"
#include "rpc/socket.h"

/*
 * The window of a stream: how many bytes may be sent while the reader is still busy with earlier
 * ones. gRPC's own estimate mistakes such a pause of the reader for a delay of the network, and
 * lets the window grow beyond 100 MB while a file of 6 GB is being written.
 */
#define WINDOW_BYTES (8 << 20)
/*
 * The window on channels that a server opens to other servers. There are many such channels at a
 * time. The smaller window is for servers of this machine, where the delay is small.
 */
#define REMOTE_WINDOW_BYTES (1 << 20)
#define LOCAL_WINDOW_BYTES (256 << 10)
/*
 * The largest HTTP/2 frame received. gRPC's default of 16 KiB would split a reply into eight
 * times as many frames.
 */
#define FRAME_BYTES (128 << 10)
/*
 * Memory that the quota has besides a reply: for gRPC's own, and for a window of bytes of other
 * streams that nobody has read yet, which lie in partly filled buffers.
 */
#define ROOM_BYTES (32u << 20)

static int channel_choose_window(const char *target)
{
	return strncmp(target, "unix:", 5) == 0 ? LOCAL_WINDOW_BYTES : REMOTE_WINDOW_BYTES;
}

/*
 * A compressed message could expand to any size, so servers are told not to compress, and messages
 * are never decompressed.
 */
static grpc_channel *channel_create(int fd, const char *authority, const char *target,
	int window_bytes, grpc_resource_quota *quota)
{
	grpc_arg list[] = {
		arg_int(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1),
		arg_int(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
			1 << GRPC_COMPRESS_NONE),
		arg_int(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
		arg_int(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
		arg_int(GRPC_ARG_ENABLE_RETRIES, 0),
		arg_int(GRPC_ARG_HTTP2_BDP_PROBE, 0),
		arg_int(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, window_bytes),
		arg_int(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, FRAME_BYTES),
		arg_string(GRPC_ARG_DEFAULT_AUTHORITY, authority),
		arg_quota(quota),
	};
	grpc_channel_args args = {sizeof list / sizeof list[0], list};
	grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
	grpc_channel *channel =
		target ? grpc_channel_create(target, credentials, &args)
		       : grpc_channel_create_from_fd(authority, fd, credentials, &args);

	grpc_channel_credentials_release(credentials);
	return channel;
}

/*
 * gRPC checks the size of a message only when the whole message is in memory, which may be 4 GiB if
 * the sender says so. With a quota, gRPC ends the call when the quota is used up.
 */
void channel_make_room(struct rpc_channel *channel, uint64_t reply_bytes)
{
	uint64_t n_bytes = reply_bytes + reply_bytes / 32 + ROOM_BYTES;

	if (n_bytes <= channel->quota_bytes)
		return;
	channel->quota_bytes = n_bytes;
	grpc_resource_quota_resize(channel->quota, n_bytes);
}

static void channel_start(struct rpc_channel *channel, int fd, const char *authority,
	const char *target, int window_bytes)
{
	engine_start();
	channel->queue = grpc_completion_queue_create_for_pluck(NULL);
	channel->quota = grpc_resource_quota_create(NULL);
	channel_make_room(channel, 0);
	channel->grpc = channel_create(fd, authority, target, window_bytes, channel->quota);
}

static int channel_new_on(
	int fd, const char *authority, int window_bytes, struct rpc_channel **out, struct diag *d)
{
	struct rpc_channel *channel = calloc(1, sizeof *channel);
	_signals_blocked_ sigset_t old = signals_block();
	int r = channel ? socket_prepare(fd) : -ENOMEM;

	if (r < 0) {
		close(fd);
		free(channel);
		return diag_set(d, r, "%s: connection not usable: %s", authority, errno_words(r));
	}
	channel_start(channel, fd, authority, NULL, window_bytes);
	*out = channel;
	return 0;
}

int rpc_channel_new(int fd, const char *authority, struct rpc_channel **out, struct diag *d)
{
	return channel_new_on(fd, authority, WINDOW_BYTES, out, d);
}

int rpc_channel_new_narrow(int fd, const char *authority, struct rpc_channel **out, struct diag *d)
{
	return channel_new_on(fd, authority, LOCAL_WINDOW_BYTES, out, d);
}

void rpc_channel_set_target(struct rpc_channel *channel, const char *target)
{
	snprintf(channel->target, sizeof channel->target, "%s", target);
}

/*
 * Makes the URI that gRPC gets for |address|. Without "dns:///", gRPC would mistake the hosts in
 * "unix:9999" and "xds:9999" for schemes. NULL when memory ran out.
 */
static char *channel_make_target(const char *address)
{
	const char *scheme = strncmp(address, "unix:/", 6) == 0 ? "" : "dns:///";
	char *target = NULL;

	return asprintf(&target, "%s%s", scheme, address) < 0 ? NULL : target;
}

struct rpc_channel *rpc_channel_new_to(const char *address)
{
	struct rpc_channel *channel = calloc(1, sizeof *channel);
	_cleanup_free_ char *target = channel_make_target(address);
	_signals_blocked_ sigset_t old = signals_block();

	if (!channel || !target) {
		free(channel);
		return NULL;
	}
	channel_start(channel, -1, address, target, channel_choose_window(target));
	return channel;
}

struct rpc_channel *rpc_channel_free(struct rpc_channel *channel)
{
	_signals_blocked_ sigset_t old = signals_block();

	if (!channel)
		return NULL;
	grpc_channel_destroy(channel->grpc);
	grpc_resource_quota_unref(channel->quota);
	grpc_completion_queue_shutdown(channel->queue);
	grpc_completion_queue_destroy(channel->queue);
	engine_stop();
	free(channel);
	return NULL;
}
