/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to programs' servers; see program_channel.h. */
#include "daemon/host/programs/program_channel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "daemon/host/programs/programs.h"
#include "daemon/serve/children/announcement.h"
#include "rpc/client.h"

/* HTTP requires a name of the server. */
#define AUTHORITY "localhost"
/*
 * The target that calls name. The server has one program, so it only checks that a call names a
 * target.
 */
#define PASSED_ON "here"

/* Returns a socket that is connected to the server of |id|, or a negative errno. */
static int connect_to(struct programs *p, uint64_t id)
{
	struct announcement channel = {.kind = ANNOUNCEMENT_CHANNEL};
	struct program *program;
	int ends[2];
	int r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -errno;
	channel.fd = ends[1];
	pthread_mutex_lock(&p->mutex);
	program = programs_find(p, id);
	r = program ? announcement_send(program->connection, &channel) : -ESRCH;
	pthread_mutex_unlock(&p->mutex);
	close(ends[1]);
	if (!r)
		return ends[0];
	close(ends[0]);
	return r;
}

/*
 * Finds the address of a program whose server is that of JAX or TensorFlow. Returns false for
 * others.
 */
static bool find_stock_address(struct programs *p, uint64_t id, char *address, size_t n)
{
	const struct program *program;

	address[0] = '\0';
	pthread_mutex_lock(&p->mutex);
	program = programs_find(p, id);
	if (program)
		snprintf(address, n, "%s", program->stock_address);
	pthread_mutex_unlock(&p->mutex);
	return address[0] != '\0';
}

int program_channel_open(struct programs *p, uint64_t id, struct rpc_channel **out, struct diag *d)
{
	char address[32];
	int fd;
	int r;

	if (find_stock_address(p, id, address, sizeof address)) {
		*out = rpc_channel_new_to(address);
		return *out ? 0 : diag_set(d, -ENOMEM, "%s: out of memory", address);
	}
	fd = connect_to(p, id);
	if (fd < 0)
		return diag_set(d, fd, "the program's server cannot be reached: %s",
			fd == -ESRCH ? "it has just ended" : errno_words(fd));
	r = rpc_channel_new_narrow(fd, AUTHORITY, out, d);
	if (!r)
		rpc_channel_set_target(*out, PASSED_ON);
	return r;
}

int program_channel_get_status(const struct rpc_pending *call, struct diag *d)
{
	int status = rpc_pending_get_status(call);
	const char *text = rpc_pending_get_text(call);

	if (status == RPC_OK)
		return RPC_OK;
	diag_set(d, -EREMOTEIO, "%s",
		*text ? text : "the program's server refused it without a reason");
	return status > RPC_OK && status <= RPC_UNAUTHENTICATED ? status : RPC_UNKNOWN;
}
