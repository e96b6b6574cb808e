/* SPDX-License-Identifier: Apache-2.0 */
/* How much clients may send; see intake.h. */
#include "daemon/serve/door/intake.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

/* At once; forgiven at this rate; and for what it acknowledges, one byte in so many. */
#define BURST_BYTES (4u << 20)
#define BYTES_PER_MS 256
#define SENT_PER_BYTE 64
/* A connection that has sent less than this in its life is not at fault. */
#define BLAMELESS_BYTES (128u << 10)

static void forgive(struct intake *intake, uint64_t bytes)
{
	intake->owed_bytes = bytes < intake->owed_bytes ? intake->owed_bytes - bytes : 0;
}

int intake_count(
	struct intake *intake, struct intake_peer *before, struct intake_peer now, int64_t now_ns)
{
	int64_t ms = (now_ns - intake->forgiven_until_ns) / NS_PER_MS;

	forgive(intake, (uint64_t)ms * BYTES_PER_MS);
	intake->forgiven_until_ns += ms * NS_PER_MS;
	intake->owed_bytes += now.received_bytes - before->received_bytes;
	forgive(intake, (now.sent_bytes - before->sent_bytes) / SENT_PER_BYTE);
	*before = now;
	return intake->owed_bytes > BURST_BYTES && now.received_bytes > BLAMELESS_BYTES;
}

struct intake_peer intake_read(int fd)
{
	struct intake_peer peer = {0, 0};
	struct tcp_info info;
	socklen_t n = sizeof info;

	memset(&info, 0, sizeof info);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0) {
		peer.received_bytes = info.tcpi_bytes_received;
		peer.sent_bytes = info.tcpi_bytes_acked;
	}
	return peer;
}
