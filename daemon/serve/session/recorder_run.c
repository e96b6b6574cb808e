/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the flight recorder; see recorder_run.h. */
#include "daemon/serve/session/recorder_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/session/local_trace.h"
#include "daemon/serve/session/repository.h"
#include "daemon/target/rights.h"
#include "daemon/target/target.h"
#include "trace/run_dir.h"

void recorder_run_init(
	struct recorder_run *run, struct target *t, const struct repository *repository)
{
	memset(run, 0, sizeof *run);
	run->target = t;
	run->repository = repository;
}

bool recorder_run_has_place(const struct recorder_run *run)
{
	return run->repository && repository_is_named(run->repository);
}

void recorder_run_note_rights(struct recorder_run *run)
{
	struct diag d = DIAG_INIT;
	bool may_write;

	if (!recorder_run_has_place(run) || target_get_life(run->target) != TARGET_ALIVE)
		return;
	may_write = rights_check("", run->target->pid, &d) == 0;
	/* A check that ran while the program died has no meaning. */
	if (target_get_life(run->target) == TARGET_ALIVE)
		atomic_store(&run->may_write, may_write);
}

static int check_rights(struct recorder_run *run, struct diag *d)
{
	bool is_alive = target_get_life(run->target) == TARGET_ALIVE;
	int r = is_alive ? rights_check("", run->target->pid, d) : 0;

	if (is_alive && (!r || target_get_life(run->target) == TARGET_ALIVE))
		return r;
	if (atomic_load(&run->may_write))
		return 0;
	return diag_set(d, -EACCES, "the program had changed its rights since its server started");
}

static int open_place(struct recorder_run *run, struct run_dir *dir, struct diag *d)
{
	int r = check_rights(run, d);

	return r ? r
		 : run_dir_open(dir, run->repository->log_dir, NULL, realtime_ns() / NS_PER_S, d);
}

/* Maps |r| to one of the errors that ptap_snapshot() documents. */
static int find_public_error(int r)
{
	if (r == -EDQUOT)
		return -ENOSPC;
	return r == 0 || r == -EACCES || r == -ENOSPC || r == -ENOMEM ? r : -EIO;
}

static void note_trouble(struct recorder_run *run, int r, const struct diag *d)
{
	run->trouble[0] = '\0';
	if (r)
		snprintf(run->trouble, sizeof run->trouble,
			"the flight recorder's runs cannot be written: %s", d->text);
	atomic_store(&run->target->arena->snapshot.trouble, find_public_error(r));
}

int recorder_run_try(struct recorder_run *run, struct diag *d)
{
	struct run_dir dir = RUN_DIR_INIT;
	int r;

	if (!recorder_run_has_place(run))
		return 0;
	r = open_place(run, &dir, d);
	run_dir_close(&dir);
	note_trouble(run, r, d);
	return find_public_error(r);
}

static int write_run(struct recorder_run *run, struct delivery *delivery, struct diag *d)
{
	struct run_dir dir = RUN_DIR_INIT;
	char host[LOCAL_TRACE_HOST_BYTES];
	_cleanup_free_ char *path = NULL;
	int r = open_place(run, &dir, d);

	if (r)
		return r;
	local_trace_name_host(run->target, host);
	r = delivery_write(delivery, &dir, d);
	if (!r)
		r = run_dir_publish(&dir, host, &path, d);
	run_dir_close(&dir);
	if (!r)
		log_info(LOG_TRACE, "snapshot of pid %d (%s): %s", (int)run->target->pid,
			run->reason, path);
	return r;
}

void recorder_run_deliver(void *context, int r, struct capture_result *result, struct diag *d)
{
	struct recorder_run *run = context;

	if (r == -ENOMEM)
		diag_set(d, r, "the profiler server is out of memory");
	else if (!r && result->is_empty)
		r = diag_set(d, -ENODATA, "nothing was recorded");
	else if (!r)
		r = write_run(run, result->delivery, d);
	if (r)
		log_warn(LOG_TRACE, "snapshot of pid %d (%s): not written: %s",
			(int)run->target->pid, run->reason, d->text);
	delivery_free(result->delivery);
	if (r != -ENODATA)
		note_trouble(run, r, d);
	run->outcome = r;
	if (run->on_written)
		run->on_written(run->context);
}
