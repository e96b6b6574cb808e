/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One capture of what CUDA does, in the steps of <proftap/collector.h>. There is one at a time in a process, and all of it stays where
 * it is for good: CUPTI calls back at any time.
 *
 * No lock is held over any call of CUPTI, for it holds its own over its callbacks.
 */
#ifndef PLUGINS_CUDA_SESSION_H
#define PLUGINS_CUDA_SESSION_H

#include <stdint.h>

#include "lib/plugins/cuda/anchor.h"
#include "lib/plugins/cuda/attributes.h"
#include "lib/plugins/cuda/callbacks.h"
#include "lib/plugins/cuda/contexts.h"
#include "lib/plugins/cuda/counters.h"
#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/driver.h"
#include "lib/plugins/cuda/gate.h"
#include "lib/plugins/cuda/kinds.h"
#include "lib/plugins/cuda/launches.h"
#include "lib/plugins/cuda/library.h"
#include "lib/plugins/cuda/options.h"
#include "lib/plugins/cuda/records.h"
#include "lib/plugins/cuda/subscriber.h"
#include "lib/plugins/cuda/synchronizer.h"

struct ptap_collector_services;
struct ptap_collector_stats;

enum session_state {
	SESSION_NONE,
	SESSION_OPEN,
	SESSION_ARMED, /* CUPTI is ours */
	SESSION_RECORDING,
	SESSION_STOPPED, /* there may be records left to read */
};

struct session {
	/* of the process */
	struct driver driver;
	struct gate gate;
	struct library library;
	struct cupti cupti;
	int is_loaded;
	uint32_t n_recorded; /* sessions */
	struct subscriber subscriber;
	struct callbacks callbacks;
	struct contexts contexts;
	struct launches launches;
	struct synchronizer synchronizer;

	/* of this capture */
	enum session_state state;
	const struct ptap_collector_services *services;
	struct options options;
	struct records records;
	struct kinds kinds;
	struct counters counters;
	struct attributes attributes;
	struct anchor start;
	int64_t flush_at_ns;
	uint64_t n_dropped;
};

/* The steps; |why| as there. */
int session_open(struct session *s, const struct ptap_collector_services *services, char *why);
int session_arm(struct session *s, char *why);
int session_start(struct session *s, char *why);
int session_poll(struct session *s, char *why);
/* The same with all that is complete. */
int session_flush(struct session *s, char *why);
int session_stop(struct session *s, int64_t deadline_ns, char *why);
int session_drain(struct session *s, char *why);
void session_get_stats(const struct session *s, struct ptap_collector_stats *out);
void session_close(struct session *s);

/* In a forked child: nothing of the parent's is its own. */
void session_forget(struct session *s);

#endif
