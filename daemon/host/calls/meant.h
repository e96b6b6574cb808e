/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a call to the host daemon means, and who asks. In this order: the call's metadata (rpc_call_get_target()); the key
 * MEANT_KEY of a ProfileRequest's advanced_configuration; NAME of a host NAME.localhost, which is all that a client can say that
 * has but an address.
 */
#ifndef DAEMON_MEANT_H
#define DAEMON_MEANT_H

#include <stddef.h>

#include "daemon/host/programs/caller.h"
#include "rpc/client.h"

#define MEANT_KEY "ptap_target"

struct errand;
struct program;

struct meant {
	char text[RPC_TARGET_BYTES]; /* as in choice.h; "": nobody was named */
	struct caller caller;
	struct program *programs; /* that this one may ask for, by pid */
	size_t n_programs;
};

/* 0, or -1: the call has been answered. The errand's request, if it is a ProfileRequest, loses the key. */
int meant_find(struct meant *m, struct errand *e);
void meant_deinit(struct meant *m);

/* The one program, for a call about a session the one where its user began one last; NULL: the call has been answered. */
const struct program *meant_choose(const struct meant *m, struct errand *e);

#endif
