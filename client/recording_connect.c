/* SPDX-License-Identifier: Apache-2.0 */
/* How a recording gets its connection; see recording.h. */
#include "client/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/diag.h"
#include "client/address.h"
#include "client/dial.h"
#include "client/exit.h"
#include "client/failure.h"
#include "client/locate.h"
#include "rpc/client.h"

int recording_connect(struct recording *r, struct address *address, struct diag *d)
{
	int fd = locate(address, d);

	if (fd < 0)
		return fd == -EINVAL ? EXIT_USAGE : EXIT_NOBODY;
	fd = dial(address, DIAL_TIMEOUT_MS, d);
	if (fd == -ECONNREFUSED && !address->path[0] && locate_port_as_pid(address))
		fd = dial(address, DIAL_TIMEOUT_MS, d);
	if (fd == -EINTR)
		return EXIT_INTERRUPTED;
	if (fd < 0)
		return EXIT_NOBODY;
	/* A tunnel takes every connection, and looks for its other end afterwards. */
	if (address->is_tunnel && failure_explain_tunnel(address, d) != EXIT_DONE) {
		close(fd);
		return EXIT_NOBODY;
	}
	r->watch_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	/* gRPC's own name for the authority of a unix socket. */
	if (rpc_channel_new(fd, address->path[0] ? "localhost" : address->text, &r->channel, d) < 0)
		return EXIT_FAILED;
	return EXIT_DONE;
}
