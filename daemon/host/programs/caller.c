/* SPDX-License-Identifier: Apache-2.0 */
/* Callers and their rights; see caller.h. */
#include "daemon/host/programs/caller.h"

#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/log.h"
#include "daemon/kernel/peer.h"
#include "daemon/kernel/unix_peer.h"

#define MAX_GROUPS 256
#define NAMES_BYTES 16384

static int know_unix(struct caller *c, int fd)
{
	pid_t pid = 0;
	int r = unix_peer_identify(fd, &pid, &c->uid);

	if (!r)
		snprintf(c->peer, sizeof c->peer, "process %d, SO_PEERCRED", (int)pid);
	return r ? -EACCES : 0;
}

static unsigned find_port(int fd)
{
	struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
	socklen_t n = sizeof address;

	getpeername(fd, (struct sockaddr *)&address, &n);
	/* The port has the same place in both families of addresses. */
	return ntohs(((const struct sockaddr_in *)&address)->sin_port);
}

static int know_tcp(struct caller *c, int fd)
{
	static atomic_int told; /* the error of the last warning */
	int r = peer_find_uid(fd, &c->uid);

	/* The cause is the machine's state, so one line is enough for all connections. */
	if (r < 0 && atomic_exchange(&told, r) != r)
		log_warn(LOG_LISTEN,
			"refused a connection: the kernel does not tell whose it is: %s%s",
			errno_words(r), peer_get_remedy(r));
	return r == PEER_KNOWN ? 0 : -EACCES;
}

int caller_know(struct caller *c, int fd)
{
	struct sockaddr_storage address;
	socklen_t n = sizeof address;

	memset(c, 0, sizeof *c);
	if (getsockname(fd, (struct sockaddr *)&address, &n))
		return -EACCES;
	if (address.ss_family == AF_UNIX)
		return know_unix(c, fd);
	snprintf(c->peer, sizeof c->peer, "loopback port %u, socket table", find_port(fd));
	return know_tcp(c, fd);
}

/* Returns true if the user |uid| is in the group |name|, by the sources of nsswitch.conf. */
static bool user_is_member(uid_t uid, const char *name)
{
	_cleanup_free_ char *text = malloc(2 * NAMES_BYTES);
	struct group group;
	struct group *found_group = NULL;
	struct passwd user;
	struct passwd *found_user = NULL;
	gid_t groups[MAX_GROUPS];
	int n = MAX_GROUPS;

	if (!text || getgrnam_r(name, &group, text, NAMES_BYTES, &found_group) || !found_group ||
		getpwuid_r(uid, &user, text + NAMES_BYTES, NAMES_BYTES, &found_user) || !found_user)
		return false;
	if (getgrouplist(user.pw_name, user.pw_gid, groups, &n) < 0)
		n = MAX_GROUPS;
	for (int i = 0; i < n; i++)
		if (groups[i] == group.gr_gid)
			return true;
	return false;
}

void operators_init(struct operators *o)
{
	pthread_mutex_init(&o->mutex, NULL);
	o->group[0] = '\0';
}

void operators_set(struct operators *o, const char *group)
{
	pthread_mutex_lock(&o->mutex);
	snprintf(o->group, sizeof o->group, "%s", group);
	pthread_mutex_unlock(&o->mutex);
}

static bool user_is_operator(uid_t uid, struct operators *o)
{
	char group[OPERATORS_BYTES];

	pthread_mutex_lock(&o->mutex);
	strcpy(group, o->group);
	pthread_mutex_unlock(&o->mutex);
	return group[0] && user_is_member(uid, group);
}

int caller_identify(struct caller *c, int fd, struct operators *operators)
{
	int r = caller_know(c, fd);

	c->may_all = !r && (c->uid == 0 || user_is_operator(c->uid, operators));
	return r;
}

bool caller_may_ask(const struct caller *c, uid_t uid)
{
	return c->may_all || c->uid == uid;
}
