/* SPDX-License-Identifier: Apache-2.0 */
/* The collectors of one process in a recording: when they are asked, and their state. */
#ifndef DAEMON_COLLECTING_H
#define DAEMON_COLLECTING_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/kernel/mapped.h"

struct collectors;
struct source;
struct target;

/* The most bytes of sentences in one capture; the library leaves out further ones. */
#define COLLECTING_SAID_BYTES 2048u

enum collecting_state {
	COLLECTING_SEARCHES, /* checks whether the program has mapped a device's library */
	COLLECTING_WANTS, /* will ask the collectors as soon as it can */
	COLLECTING_ASKED,
	COLLECTING_OVER, /* the collectors have ended, were given up, or cannot be asked */
};

/* Belongs to a source. Zero, except for the members that collecting_init() sets. */
struct collecting {
	enum collecting_state state;
	bool is_seen; /* a vendor's library is mapped */
	bool is_begun; /* the collectors were asked; stays true when they are over */
	int64_t asked_ns; /* CLOCK_MONOTONIC */
	int64_t due_ns; /* of the next check */
	/* the last request to hand on records must be answered: the one before has been */
	bool is_awaited;
	struct mapped_search search;
	int64_t since_ns; /* CLOCK_MONOTONIC since which a device is recorded; 0: none was */
	char problem[256]; /* a sentence of the server itself, or "" */
	char said[COLLECTING_SAID_BYTES]; /* sentences of the collectors, a line each */
};

/*
 * The collectors are asked without a check of the mappings if the program demands it
 * (ARENA_COLLECTS), or if the server may not read the mappings and the machine has a device.
 */
void collecting_init(struct source *s);
void collecting_deinit(struct source *s);
/* Copies the sentences so far to a part's source, where the collectors are over. */
void collecting_copy(const struct source *s, struct source *part);

/*
 * Checks at once whether |t| uses a device, as far as that can be found, and notes it in |t|.
 * |root| as in struct collectors.
 */
void collecting_find_use(struct target *t, const char *root);

/* Does the next step of checking or asking; notes the collectors' state. */
void collecting_visit(struct source *s, const struct collectors *of);
/* Checks at once whether a device is used, as far as possible. */
void collecting_search_now(struct source *s, const struct collectors *of);

/* True when the collectors are to be asked, or were asked and have not begun. */
bool collecting_is_beginning(const struct source *s);

/*
 * Asks the collectors to hand on complete records. collecting_has_handed_on() is true when they
 * have, or if they are not waited for because they had not answered the last time.
 */
void collecting_hand_on(struct source *s);
bool collecting_has_handed_on(const struct source *s);

/* Asks the collectors to end. True when they must be waited for. */
bool collecting_end(struct source *s);
/* True when the collectors have ended. */
bool collecting_has_ended(const struct source *s);
/*
 * Keeps the collectors' sentences. Gives up collectors that have not ended, or cancels them if the
 * recording is not wanted.
 */
void collecting_finish(struct source *s, bool is_wanted);

#endif
