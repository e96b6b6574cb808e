/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a host daemon for a server, where none can be started: see docs/internals/host.md. */
#ifndef SPAWN_APPEAL_H
#define SPAWN_APPEAL_H

#include <stdint.h>
#include <sys/un.h>

struct spawn;

#define APPEAL_MAX_PLACES 4

/* Which daemon's answer counts: the first that heard it. */
enum appeal_end {
	APPEAL_MADE, /* and a server has the arena */
	APPEAL_NOT_MADE, /* listener and arena could not be made: spawn->stage and spawn->error */
	APPEAL_NOBODY, /* there is no daemon */
	APPEAL_STRANGER, /* there is one that is neither root's nor this user's: it was told nothing */
	APPEAL_UNHEARD, /* it cannot be asked: |error| */
	APPEAL_REFUSED, /* it will not, or its server could not: |error| */
};

struct appeal {
	/* asked */
	struct spawn *
		spawn; /* address and arena_bytes count, and what is answered; |pid| is 0 where it has none here */
	struct sockaddr_un places[APPEAL_MAX_PLACES]; /* registries, tried in this order */
	unsigned n_places;
	/* answered */
	enum appeal_end end;
	int error; /* a negative errno */
};

/* Makes listener and arena, and sends them. 0, or a negative errno; then there is no arena. */
int appeal_run(struct appeal *a);

#endif
