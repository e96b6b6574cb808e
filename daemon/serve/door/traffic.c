/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of clients' traffic; see traffic.h. This is a separate file because door.c needs
 * <uv.h>, which includes <netinet/tcp.h>, and the struct tcp_info of that header has no byte
 * counts.
 */
#include "daemon/serve/door/traffic.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

/*
 * The limit of traffic_limit.owed_bytes, a leaky bucket: received bytes fill it. It loses
 * BYTES_PER_MS each millisecond, and one byte for each SENT_PER_BYTE bytes of answers that a client
 * acknowledges.
 */
#define BURST_BYTES (4u << 20)
#define BYTES_PER_MS 256
#define SENT_PER_BYTE 64
/* A connection from which we received less than this in its life is not at fault. */
#define BLAMELESS_BYTES (128u << 10)

static void forgive_bytes(struct traffic_limit *limit, uint64_t bytes)
{
	limit->owed_bytes = bytes < limit->owed_bytes ? limit->owed_bytes - bytes : 0;
}

bool traffic_count(
	struct traffic_limit *limit, struct traffic *before, struct traffic now, int64_t now_ns)
{
	int64_t ms = (now_ns - limit->forgiven_until_ns) / NS_PER_MS;

	forgive_bytes(limit, (uint64_t)ms * BYTES_PER_MS);
	limit->forgiven_until_ns += ms * NS_PER_MS;
	limit->owed_bytes += now.received_bytes - before->received_bytes;
	forgive_bytes(limit, (now.sent_bytes - before->sent_bytes) / SENT_PER_BYTE);
	*before = now;
	return limit->owed_bytes > BURST_BYTES && now.received_bytes > BLAMELESS_BYTES;
}

struct traffic traffic_read(int fd)
{
	struct traffic peer = {0, 0};
	struct tcp_info info;
	socklen_t n = sizeof info;

	memset(&info, 0, sizeof info);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0) {
		peer.received_bytes = info.tcpi_bytes_received;
		peer.sent_bytes = info.tcpi_bytes_acked;
	}
	return peer;
}
