/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The targets of this machine that we may record: every server with a private socket (base/runtime_dir.h), and those of JAX's and
 * TensorFlow's make (base/stock_servers.h).
 */
#ifndef CLIENT_TARGETS_H
#define CLIENT_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/status.h"
#include "client/target/place.h"
#include "client/target/questions.h"

struct diag;

struct found_target {
	struct status status; /* of a server that answered just now */
	char socket
		[108]; /* path of the one that speaks gRPC; "": it has a port alone, or is a host daemon's */
	struct place place; /* of a host daemon's */
	bool is_left_out; /* while some are chosen */
};

struct targets {
	struct found_target *v; /* by pid */
	size_t n;
	size_t n_allocated;
	pid_t *silent; /* whose servers did not answer in time, by pid: stopped, or very busy */
	size_t n_silent;
	size_t n_silent_allocated;
	bool is_here; /* the pids are of this machine */
	int answer_ms; /* how long they may take to answer */
	pid_t only; /* nobody else is asked; 0: all are */
	struct questions questions; /* under way */
};

#define TARGETS_INIT                         \
	{                                    \
		.questions = QUESTIONS_INIT, \
	}

/*
 * Asks all of them; root also those of other users. Sockets that a dead server left behind are removed, where they
 * are ours. 0 or -ENOMEM.
 */
int targets_load(struct targets *t);
/* The same for somebody in a hurry: leaves out those that do not answer in a moment. */
int targets_load_quickly(struct targets *t);
/* Servers of proftap's alone, as quickly, for who looks again and again. */
int targets_load_announced(struct targets *t);
/* |pid| alone: servers that do not answer are none of its business. */
int targets_load_pid(struct targets *t, pid_t pid);
void targets_deinit(struct targets *t);

/* Finds the target with that pid: the live one, else one that has ended, or NULL. */
const struct found_target *targets_find_pid(const struct targets *t, pid_t pid);

/* "pid 7: its server does not answer: …", of those that are silent; "" when there are none. Cut at |n|. */
void targets_describe_silent(const struct targets *t, char *out, size_t n);

/*
 * The live one called |word|, or that runs the file |word| where that has a '/', or of NAME@dead the one that has ended; NULL with |d| saying what there is instead: none (-ENOENT),
 * or several (-EINVAL), which targets_keep_named() keeps.
 */
const struct found_target *targets_find_name(
	const struct targets *t, const char *word, struct diag *d);
/* Whether the same server of the same program is among them. */
bool targets_have(const struct targets *t, const struct found_target *one);
/* Whether it lives, and its name, or where |pattern| has a '/' its program's path, matches that, as a shell does it. */
bool targets_match(const struct found_target *t, const char *pattern);
/* Forgets all that |word| does not mean. */
void targets_keep_named(struct targets *t, const char *word);

#define TARGETS_COMMAND_BYTES 4096
/* Finds the command line by which |one| was started, as printable text; "": it is not known. */
void targets_find_command(const struct targets *t, const struct found_target *one,
	char out[static TARGETS_COMMAND_BYTES]);

/* A table for people, with a line for each; columns that nobody has anything in are left out. */
void targets_write(const struct targets *t, FILE *out);
/* The user's name, or the number of one who has none. */
void targets_format_user(unsigned uid, char *out, size_t n);

#endif
