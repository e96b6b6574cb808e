/* SPDX-License-Identifier: Apache-2.0 */
/* What one process's collectors bring into a recording: when they are asked, and what became of it. */
#ifndef DAEMON_COLLECTING_H
#define DAEMON_COLLECTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/kernel/mapped.h"

struct collectors;
struct source;
struct target;

/* What collectors may say in one capture; more is cut by the library. */
#define COLLECTING_SAID_BYTES 2048u

enum collecting_state {
	COLLECTING_LOOKS, /* for a library of a device that the program has mapped */
	COLLECTING_WANTS, /* to ask, as soon as it can */
	COLLECTING_ASKED,
	COLLECTING_OVER, /* they have ended, or were given up, or cannot be had */
};

/* Of a source; zero, but for what collecting_init() sets. */
struct collecting {
	enum collecting_state state;
	bool is_seen; /* libcuda is mapped */
	bool is_begun; /* they were asked; it stays when they are over */
	int64_t asked_ns; /* CLOCK_MONOTONIC */
	int64_t due_ns; /* of the next look */
	bool is_awaited; /* it was asked to hand on what is complete, and had done so the last time */
	struct mapped_look look;
	int64_t since_ns; /* CLOCK_MONOTONIC, since when a device is recorded; 0: none was */
	char problem[256]; /* what the server itself has to say: a sentence, or "" */
	char said[COLLECTING_SAID_BYTES]; /* by the collectors, a line each */
};

/* The program's collectors are asked whatever is mapped if it says so (ARENA_COLLECTS), or if nobody may look. */
void collecting_init(struct source *s);
void collecting_deinit(struct source *s);
/* Of a part that is cut off: what is known and said so far. */
void collecting_copy(const struct source *s, struct source *part);

/* Whether |t| uses a device, as far as can be told at once; notes it there. |root| as of struct collectors. */
void collecting_find_use(struct target *t, const char *root);

/* Goes on with looking, a step of it, or with asking; notes what they do. */
void collecting_visit(struct source *s, const struct collectors *of);
/* Looks as far as can be told, at once. */
void collecting_look_now(struct source *s, const struct collectors *of);

/* They were asked, and neither run nor are over. */
bool collecting_is_beginning(const struct source *s);

/* They shall hand on what is complete; 1 when they have, or are not waited for: they did not come back from the last time. */
void collecting_hand_on(struct source *s);
bool collecting_has_handed_on(const struct source *s);

/* They shall end. 1: they are to be waited for. */
int collecting_end(struct source *s);
/* 1 when they have ended. */
bool collecting_has_ended(const struct source *s);
/* What they said is kept; those that have not ended are given up, or (nobody wants it) left alone. */
void collecting_finish(struct source *s, bool is_wanted);

#endif
