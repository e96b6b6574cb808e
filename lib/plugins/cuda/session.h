/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One capture of CUDA's activity, in the steps of <proftap/collector.h>. A process has one at a
 * time, and its memory is never freed or moved: CUPTI calls back at any time.
 *
 * No lock is held over any call of CUPTI, for CUPTI holds its own over its callbacks.
 */
#ifndef PLUGINS_CUDA_SESSION_H
#define PLUGINS_CUDA_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/plugins/cuda/activity.h"
#include "lib/plugins/cuda/contexts.h"
#include "lib/plugins/cuda/counters.h"
#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/driver.h"
#include "lib/plugins/cuda/launches.h"
#include "lib/plugins/cuda/options.h"
#include "lib/plugins/cuda/records.h"
#include "lib/plugins/cuda/subscriber.h"
#include "lib/plugins/cuda/synchronizer.h"

struct ptap_collector_services;
struct ptap_collector_stats;

/*
 * CUPTI's clock and CLOCK_MONOTONIC at one moment. CUPTI counts as CLOCK_REALTIME does (and so
 * jumps with it). The collector never gives CUPTI another clock: from CUDA 12.6 update 2 to 13.0,
 * kernels would then have no times at all.
 */
struct anchor {
	uint64_t cupti_ns;
	int64_t monotonic_ns;
};

enum session_state {
	SESSION_NONE,
	SESSION_OPEN,
	SESSION_ARMED, /* this collector has subscribed to CUPTI */
	SESSION_RECORDING,
	SESSION_STOPPED, /* records may be left to read */
};

struct cuda_session {
	/* state of the process */
	struct driver driver;
	struct driver_facts facts;
	struct library library;
	struct cupti cupti;
	bool is_loaded;
	uint32_t n_recorded; /* number of sessions */
	struct subscriber subscriber;
	struct callbacks callbacks;
	struct contexts contexts;
	struct cuda_launches launches;
	struct synchronizer synchronizer;

	/* state of this capture */
	enum session_state state;
	const struct ptap_collector_services *services;
	struct options options;
	struct records records;
	struct kinds kinds;
	struct cuda_counters counters;
	struct attributes attributes;
	struct anchor start;
	int64_t flush_at_ns;
	uint64_t n_dropped;
};

/* The steps of <proftap/collector.h>; |why| as there. */
int cuda_session_open(
	struct cuda_session *s, const struct ptap_collector_services *services, char *why);
int cuda_session_arm(struct cuda_session *s, char *why);
int cuda_session_start(struct cuda_session *s, char *why);
int cuda_session_poll(struct cuda_session *s, char *why);
/* Like poll, but hands on all complete records. */
int cuda_session_flush(struct cuda_session *s, char *why);
int cuda_session_stop(struct cuda_session *s, int64_t deadline_ns, char *why);
int cuda_session_drain(struct cuda_session *s, char *why);
void cuda_session_get_stats(const struct cuda_session *s, struct ptap_collector_stats *out);
void cuda_session_close(struct cuda_session *s);

/* Called in a forked child, which keeps nothing of its parent's capture. */
void cuda_session_forget(struct cuda_session *s);

#endif
