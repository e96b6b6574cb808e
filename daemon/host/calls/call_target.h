/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the text by which a call to the host daemon selects programs, and the caller. The first of
 * these that exists counts: the metadata (rpc_call_get_target()); the key CALL_TARGET_KEY of a
 * ProfileRequest's advanced_configuration; NAME of a host NAME.localhost, for clients that can only
 * be given an address.
 */
#ifndef DAEMON_CALL_TARGET_H
#define DAEMON_CALL_TARGET_H

#include <stddef.h>

#include "daemon/host/programs/caller.h"
#include "rpc/client.h"

#define CALL_TARGET_KEY "ptap_target"

struct errand;
struct program;

struct call_target {
	char text[RPC_TARGET_BYTES]; /* a choice of choice.h; "": the call names no program */
	struct caller caller;
	struct program *programs; /* all that the caller may use, by pid */
	size_t n_programs;
};

/*
 * 0, or -1: the call has been answered. The errand's request, if it is a ProfileRequest, loses the
 * key.
 */
int call_target_find(struct call_target *t, struct errand *e);
void call_target_deinit(struct call_target *t);

/*
 * The one program that is selected. A call that is about a session and names no program selects the
 * program where its caller's user began a session last. NULL: the call has been answered.
 */
const struct program *call_target_choose(const struct call_target *t, struct errand *e);

#endif
