/* SPDX-License-Identifier: Apache-2.0 */
/* Connections; see link.h. */
#include "client/connect/link.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/local_name.h"
#include "client/connect/dial.h"
#include "client/connect/failure.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/target/address.h"
#include "client/target/locate.h"
#include "rpc/client.h"

#define SILENCE_MS 5000

/*
 * Returns the HTTP/2 authority: gRPC's "localhost" if address->target names the program, or for a
 * unix socket whose address->host is no local name. In other cases it is the address: a host daemon
 * takes the NAME of NAME.localhost as the name of a program.
 */
static const char *get_authority(const struct address *address)
{
	if (address->target[0] || (address->path[0] && !local_name_is(address->host)))
		return "localhost";
	return address->text;
}

int link_open(struct link *l, struct address *address, struct diag *d)
{
	int fd = locate(address, d);

	if (fd < 0)
		return fd == -EINVAL ? EXIT_USAGE : EXIT_NOBODY;
	fd = dial(address, DIAL_TIMEOUT_MS, d);
	if (fd == -ECONNREFUSED && !address->path[0] && locate_port_as_pid(address, d) == 0)
		fd = dial(address, DIAL_TIMEOUT_MS, d);
	if (fd == -EINTR)
		return EXIT_INTERRUPTED;
	if (fd < 0)
		return EXIT_NOBODY;
	locate_warn_of_pid(address);
	/* A tunnel accepts every connection, and connects to its other end afterwards. */
	if (address->is_tunnel && failure_explain_tunnel(address, d) != EXIT_DONE) {
		close(fd);
		return EXIT_NOBODY;
	}
	l->watch_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (rpc_channel_new(fd, get_authority(address), &l->channel, d) < 0)
		return EXIT_FAILED;
	rpc_channel_set_target(l->channel, address->target);
	return EXIT_DONE;
}

bool link_is_silent(const struct link *l, int64_t started_ms)
{
	int64_t n_bytes = dial_get_received_bytes(l->watch_fd);

	return clock_monotonic_ms() - started_ms >= SILENCE_MS && n_bytes >= 0 &&
	       n_bytes < FAILURE_SPOKEN_BYTES;
}

void link_describe_failure(const struct link *l, const struct rpc_pending *call, struct failure *f)
{
	f->status = rpc_pending_get_status(call);
	f->text = rpc_pending_get_text(call);
	f->fault = rpc_pending_get_fault(call);
	f->received_bytes = dial_get_received_bytes(l->watch_fd);
	/*
	 * A call about a host daemon's programs, or one of them, goes to a host daemon even if the
	 * daemon did not answer.
	 */
	f->is_of_host = f->is_of_programs || f->address->target[0] ||
			rpc_pending_is_from(call, RPC_ROLE_HOST);
	f->is_connected = dial_is_connected(l->watch_fd);
}

void link_close(struct link *l)
{
	rpc_channel_free(l->channel);
	if (l->watch_fd >= 0)
		close(l->watch_fd);
	*l = (struct link)LINK_INIT;
}
