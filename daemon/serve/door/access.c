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
	access->is_elsewhere = false;
	access->quiet_until_ns = 0;
	access->n_unsaid = 0;
}

void access_find_namespace(struct access *access, int listener)
{
	int own = peer_table_compare_space(listener);

	/* If the listener's namespace is unknown, only a foreign program's counts as elsewhere. */
	access->is_elsewhere = own < 0 ? access->target->is_foreign : !own;
}

#define NOBODY_KNOWN ((uid_t)-1)
#define QUIET_NS NS_PER_S

/*
 * Returns true if a refusal may be logged. A peer that tries again and again must not fill the
 * journal.
 */
static bool may_warn(struct access *access)
{
	int64_t now = monotonic_ns();
	int64_t until = atomic_load(&access->quiet_until_ns);

	if (now >= until &&
		atomic_compare_exchange_strong(&access->quiet_until_ns, &until, now + QUIET_NS))
		return true;
	atomic_fetch_add(&access->n_unsaid, 1);
	return false;
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

static bool allows_uid(struct access *access, uid_t uid, enum log_level level)
{
	uid_t owner = target_find_uid(access->target);

	if (uid == 0 || uid == owner)
		return true;
	tell_refusal(access, uid, owner, level);
	return false;
}

bool access_allows_tcp(struct access *access, int fd)
{
	uid_t uid = NOBODY_KNOWN;
	int r;

	if (atomic_load(&access->target->flags) & ARENA_ANY_LOCAL_USER)
		return true;
	r = access->is_elsewhere ? peer_table_find_uid("", access->target->pid, fd, &uid)
				 : peer_find_uid(fd, &uid);
	/* Peers on other machines can reach only a listener that .insecure asked for. */
	return r == PEER_REMOTE ||
	       allows_uid(access, r == PEER_KNOWN ? uid : NOBODY_KNOWN, LOG_LEVEL_WARN);
}

static bool allows_local(struct access *access, int fd, enum log_level level)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return false;
	return allows_uid(access, peer.uid, level);
}

bool access_allows_path(struct access *access, int fd)
{
	if (atomic_load(&access->target->flags) & ARENA_ANY_LOCAL_USER)
		return true;
	return allows_local(access, fd, LOG_LEVEL_WARN);
}

bool access_allows_local(struct access *access, int fd)
{
	/* This logs no warning, because each `proftap list` of another user connects here. */
	return allows_local(access, fd, LOG_LEVEL_DEBUG);
}
