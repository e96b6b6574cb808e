/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that are lent; see lent.h. */
#include "daemon/lent.h"

#include <errno.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/kernel/container.h"
#include "daemon/kernel/lineage.h"
#include "daemon/kernel/time_namespace.h"
#include "daemon/kernel/unix_peer.h"
#include "daemon/serve/children/serve_request.h"
#include "daemon/target/rights.h"
#include "daemon/target/target.h"
#include "daemon/target/timeline.h"
#include "lib/wire/fds.h"

void lent_look(struct target *t)
{
	struct container container;
	struct diag d = DIAG_INIT;

	container_find("", t->pid, &container);
	t->has_own_tids = container.pid_inside != t->pid;
	t->is_foreign = rights_compare("", t->pid, &d) != 0;
	if (t->is_foreign)
		log_info(LOG_TARGET, "no files for pid %d: %s", (int)t->pid, d.text);
	target_compare_clock(t);
	clock_pair_set_ahead(t->clock_ahead_ns);
}

/* The clone that asked, and waits: a process that has taken its pid since is no child of the program. */
static int is_awaited(const struct target *t)
{
	pid_t peer = 0;
	uid_t uid;

	if (unix_peer_identify(SPAWN_FD_ANSWER, &peer, &uid) || peer <= 0)
		return 0;
	return peer == t->pid || lineage_get_parent("", peer) == t->pid;
}

int lent_answer(const struct target *t, int result)
{
	int r = is_awaited(t) ? 0 : -ESRCH;
	int sent = serve_request_answer(SPAWN_FD_ANSWER, r ? r : result);

	close(SPAWN_FD_ANSWER);
	return r || sent ? -ESRCH : 0;
}
