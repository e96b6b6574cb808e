/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that the host daemon's port serves. The context is a struct host_service. */
#ifndef DAEMON_HOST_CALLS_H
#define DAEMON_HOST_CALLS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/health.h"
#include "rpc/server.h"

struct caller;
struct door;
struct ledger;
struct machine;
struct operators;
struct programs;
struct registrar;

struct host_service {
	struct health health; /* the first member: the context of the probes' handlers */
	struct errands errands; /* their context is this host_service */
	struct programs *programs;
	struct machine *machine; /* what it uses; NULL only when memory ran out */
	struct ledger *ledger;
	struct operators *operators;
	const char *web_names; /* the setting: by what other names HTTP may be asked */
	const char *log_dir; /* the setting: where captures go that are asked for by HTTP */
	const char *
		recorder_metrics; /* the setting: of which programs' recorders metrics tell; the loop's */
	atomic_int is_ending; /* it has been told to: nothing more is begun */
	const struct door *door; /* where calls come in: the loop's */
	const struct registrar *registrar; /* likewise, programs */
};

/* Who asks: 0, or the call has been answered. */
int host_identify(struct rpc_call *call, const struct host_service *h, struct caller *caller);

/* A call has come: its audit begins. 0, or -1: it would begin something while the daemon ends, and has been answered. */
int host_admit(struct rpc_call *call, const uint8_t *bytes, size_t n, struct host_service *h);

/* Why a call that did not end in time was given up. */
extern const char host_ended_text[];

extern const struct rpc_method host_methods[];
extern const size_t n_host_methods;

#endif
