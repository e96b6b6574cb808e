/* SPDX-License-Identifier: Apache-2.0 */
/* Decides who may call this server; see access.h. */
#include "daemon/serve/door/access.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/kernel/peer.h"
#include "daemon/target/target.h"

void access_init(struct access *access, struct target *target)
{
	access->target = target;
	access->is_elsewhere = 0;
	access->quiet_until_ns = 0;
	access->n_unsaid = 0;
}

void access_look(struct access *access, int listener)
{
	int is_own = peer_table_is_own_space(listener);

	/* Unknown: a program's own server is in the program's. */
	access->is_elsewhere = is_own < 0 ? access->target->is_foreign : !is_own;
}

#define NOBODY_KNOWN ((uid_t)-1)
#define QUIET_NS NS_PER_S

/* Whoever is refused comes again as fast as it likes: its warnings are not to fill the journal. */
static int may_warn(struct access *access)
{
	int64_t now = monotonic_ns();
	int64_t until = atomic_load(&access->quiet_until_ns);

	if (now >= until &&
		atomic_compare_exchange_strong(&access->quiet_until_ns, &until, now + QUIET_NS))
		return 1;
	atomic_fetch_add(&access->n_unsaid, 1);
	return 0;
}

static void tell_refusal(struct access *access, uid_t uid, uid_t owner, enum log_level level)
{
	char before[64] = "";
	uint64_t n;

	if (level == LOG_LEVEL_WARN) {
		if (!may_warn(access))
			return;
		n = atomic_exchange(&access->n_unsaid, 0);
		if (n)
			snprintf(before, sizeof before, "; %llu more since the last such line",
				(unsigned long long)n);
	}
	log_write(level, LOG_LISTEN,
		"refused a connection of uid %d: only uid %d and root may connect%s", (int)uid,
		(int)owner, before);
}

static int allows(struct access *access, uid_t uid, enum log_level level)
{
	uid_t owner = target_find_uid(access->target);

	if (uid == 0 || uid == owner)
		return 1;
	tell_refusal(access, uid, owner, level);
	return 0;
}

int access_allows_tcp(struct access *access, int fd)
{
	uid_t uid = NOBODY_KNOWN;
	int r;

	if (atomic_load(&access->target->flags) & ARENA_ANY_LOCAL_USER)
		return 1;
	r = access->is_elsewhere ? peer_table_find_uid("", access->target->pid, fd, &uid)
				 : peer_find_uid(fd, &uid);
	/* Only a listener that was asked for with .insecure sees peers of other machines. */
	return r == PEER_REMOTE ||
	       allows(access, r == PEER_KNOWN ? uid : NOBODY_KNOWN, LOG_LEVEL_WARN);
}

static int allows_local(struct access *access, int fd, enum log_level level)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return 0;
	return allows(access, peer.uid, level);
}

int access_allows_path(struct access *access, int fd)
{
	if (atomic_load(&access->target->flags) & ARENA_ANY_LOCAL_USER)
		return 1;
	return allows_local(access, fd, LOG_LEVEL_WARN);
}

int access_allows_local(struct access *access, int fd)
{
	/* Not worth a warning: each `proftap list` of another user's tries. */
	return allows_local(access, fd, LOG_LEVEL_DEBUG);
}
