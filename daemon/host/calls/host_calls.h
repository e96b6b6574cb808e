/* SPDX-License-Identifier: Apache-2.0 */
/* The service of the host daemon, and the methods of its port, whose context is the service. */
#ifndef DAEMON_HOST_CALLS_H
#define DAEMON_HOST_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/host/calls/ledger.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/health.h"
#include "rpc/server.h"

struct ProtobufCMessageDescriptor;
struct caller;
struct door;
struct machine;
struct operators;
struct programs;
struct registrar;
struct rpc_call;

struct host_service {
	struct health health; /* the first member: the context of the probes' handlers */
	struct errands errands; /* their context is this host_service */
	struct programs *programs;
	struct machine *machine; /* its usage; NULL only when memory ran out */
	struct ledger *ledger;
	struct operators *operators;
	const char *web_names; /* the setting: further names of the HTTP server */
	const char *log_dir; /* the setting: directory of captures by HTTP */
	/* The setting: names the programs whose recorders provide metrics. Loop's thread only. */
	const char *recorder_metrics;
	atomic_int is_ending; /* the daemon is ending: new work is refused */
	const struct door *door; /* accepts gRPC connections; loop's thread only */
	const struct registrar *registrar; /* accepts announcements; loop's thread only */
};

/* Finds the caller. 0, or another value: the call has been answered. */
int host_identify(struct rpc_call *call, const struct host_service *h, struct caller *caller);

/*
 * Begins the audit of a call. 0; -1: the call would begin something while the daemon ends, and has
 * been answered.
 */
int host_admit(struct rpc_call *call, const uint8_t *bytes, size_t n, struct host_service *h);

/* The error of a call that did not end in time when the daemon was told to end. */
extern const char host_ended_text[];

extern const struct rpc_method host_methods[];
extern const size_t n_host_methods;

/* --- handlers of the methods ------------------------------------------------------------------ */

/* stock_answer.c */
void host_profile_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
void host_snapshot_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);
/* Handles the older request, which has no fields. */
void host_snapshot_handle_old(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* passing.c */
void passing_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* terminating.c */
void terminating_handle(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context);

/* --- requests, traits and accounts of the methods --------------------------------------------- */

enum {
	HOST_METHOD_BEGINS = 1, /* begins long work, so it is refused while the daemon ends */
	HOST_METHOD_BEGINS_SESSION =
		2, /* later calls of the user about sessions select its program */
	/* A request that names no program selects the one where its user began a session last. */
	HOST_METHOD_IS_ABOUT_SESSION = 4,
	/* Only reads. Observers call it often, so that it is audited only when it is refused. */
	HOST_METHOD_READS = 8,
};

struct host_method {
	const char *path;
	const struct ProtobufCMessageDescriptor *request; /* NULL: its fields do not matter */
	unsigned traits; /* HOST_METHOD_ */
	enum ledger_call ledger; /* of a method that answers with a trace */
};

/* Returns the row of the method of |call|. */
const struct host_method *host_method_of(const struct rpc_call *call);

/* Returns true if the request is a ProfileRequest, whose options may name a program. */
bool host_method_has_options(const struct host_method *m);

#endif
