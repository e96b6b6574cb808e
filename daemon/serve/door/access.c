/* SPDX-License-Identifier: Apache-2.0 */
/* Decides who may call this server; see access.h. */
#include "daemon/serve/door/access.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
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

static void tell_refusal(struct access *access, enum log_level level, const char *text)
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
	log_write(level, LOG_LISTEN, "%s%s", text, before);
}

static bool allows_uid(struct access *access, uid_t uid, enum log_level level)
{
	uid_t owner = target_find_uid(access->target);
	char text[100];

	if (uid == 0 || uid == owner)
		return true;
	snprintf(text, sizeof text,
		"refused a connection of uid %d: only uid %d and root may connect", (int)uid,
		(int)owner);
	tell_refusal(access, level, text);
	return false;
}

/* The uid of the peer is unknown; |r| is the answer of peer.h. */
static void refuse_unknown(struct access *access, int r)
{
	char text[256] = "refused a connection: its owner has closed it already";

	if (r < 0)
		snprintf(text, sizeof text,
			"refused a connection: the kernel does not tell whose it is: %s%s",
			errno_words(r), access->is_elsewhere ? "" : peer_get_remedy(r));
	tell_refusal(access, LOG_LEVEL_WARN, text);
}

bool access_allows_tcp(struct access *access, int fd)
{
	uid_t uid;
	int r;

	if (atomic_load(&access->target->flags) & ARENA_ANY_LOCAL_USER)
		return true;
	r = access->is_elsewhere ? peer_table_find_uid("", access->target->pid, fd, &uid)
				 : peer_find_uid(fd, &uid);
	/* Peers on other machines can reach only a listener that .insecure asked for. */
	if (r == PEER_REMOTE)
		return true;
	if (r == PEER_KNOWN)
		return allows_uid(access, uid, LOG_LEVEL_WARN);
	refuse_unknown(access, r);
	return false;
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
