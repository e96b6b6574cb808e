/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The targets of this machine that we may record: every server with a private socket
 * (base/runtime_dir.h), and those of JAX's and TensorFlow's make (base/stock_servers.h).
 */
#ifndef CLIENT_TARGETS_H
#define CLIENT_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/status.h"

struct diag;

/* The container or pod of a program, as reported by a host daemon. All zero: unknown. */
struct program_place {
	int pid_inside; /* the pid in the program's own pid namespace */
	char cgroup[512]; /* a path or ""; printable, like the strings below */
	bool is_container;
	char id[80]; /* the container's id or "" */
	char name[80]; /* the container's name or "" */
	char pod[48]; /* the uid of the Kubernetes pod or "" */
	char path[1024]; /* the program's file or "" */
};

struct found_target {
	struct status status; /* the answer of the program's server */
	/*
	 * The path of the socket that speaks gRPC; "": the server has only a port, or a
	 * host daemon reported it.
	 */
	char socket[108];
	struct program_place place; /* set if a host daemon reported the target */
	bool is_left_out; /* a mark of targets_keep_named() */
};

struct targets {
	struct found_target *v; /* sorted by pid */
	size_t n;
	size_t n_allocated;
	/*
	 * The processes whose servers did not answer in time, sorted. They are
	 * stopped or very busy.
	 */
	pid_t *silent;
	size_t n_silent;
	size_t n_silent_allocated;
	bool is_here; /* the pids are of this machine */
};

#define TARGETS_INIT       \
	{                  \
		.v = NULL, \
	}

/*
 * Asks all servers of this user, and for root those of all users. Removes this user's sockets that
 * a dead server left behind. 0 or -ENOMEM.
 */
int targets_load(struct targets *t);
/*
 * Like targets_load(), but leaves out servers of proftap that do not answer within 550 ms, or
 * within 50 ms if they are stopped.
 */
int targets_load_quickly(struct targets *t);
/*
 * Like targets_load_quickly(), but does not ask the servers that were silent when |known| was
 * loaded, so that it can be called again and again. Servers of JAX and TensorFlow are asked only if
 * |has_stock|.
 */
int targets_load_again(struct targets *t, const struct targets *known, bool has_stock);
/* Asks only the servers of |pid|; a |pid| of 0 means all. */
int targets_load_pid(struct targets *t, pid_t pid);
void targets_deinit(struct targets *t);

/* Finds the target with that pid: a live one, else an ended one, else NULL. */
const struct found_target *targets_find_pid(const struct targets *t, pid_t pid);

/*
 * Writes "pid 7: its server does not answer: …" about the processes in |silent|; "" if there are
 * none. The text is cut at |n| bytes.
 */
void targets_describe_silent(const struct targets *t, char *out, size_t n);

/*
 * Finds the live target that has the name |word|, or that runs the file |word| if |word| has a '/',
 * or the ended target for NAME@dead. NULL with |d|: there is no such target (-ENOENT), or there are
 * several (-EINVAL), which targets_keep_named() keeps.
 */
const struct found_target *targets_find_name(
	const struct targets *t, const char *word, struct diag *d);
/*
 * Returns true if |t| contains |one|: the same server of the same program, or a program whose
 * server was silent.
 */
bool targets_contain(const struct targets *t, const struct found_target *one);
/*
 * Returns true if |t| is live and its name, or its program's path if |pattern| has a '/', matches
 * the shell's |pattern|.
 */
bool targets_match(const struct found_target *t, const char *pattern);
/* Removes the targets that |word| does not select. */
void targets_keep_named(struct targets *t, const char *word);

#define TARGETS_COMMAND_BYTES 4096
/* Writes the command line that started |one| as printable text; "": the line is not known. */
void targets_find_command(const struct targets *t, const struct found_target *one,
	char out[static TARGETS_COMMAND_BYTES]);

/*
 * Writes a table with a row for each target. Empty columns are left out. A terminal gets it in
 * colours.
 */
void targets_write(const struct targets *t, FILE *out);
/* Writes the user's name, or the uid of a user without a name. */
void targets_format_user(unsigned uid, char *out, size_t n);

/*
 * Writes "web-1, pid 7"; an id is cut to the length that its manager shows. "" if nothing is known.
 */
void place_format(const struct program_place *p, int pid, char *out, size_t n);

#endif
