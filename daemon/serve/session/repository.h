/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one directory that the operator named (.log_dir of ptap_server_options), and what clients may
 * name inside of it. What a client says is never a path that is opened: it is taken apart, and each
 * part opened in the one before it, symbolic links not followed.
 */
#ifndef DAEMON_REPOSITORY_H
#define DAEMON_REPOSITORY_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

struct delivery;
struct diag;
struct run_dir;

struct repository {
	_Atomic int is_named; /* the rest is there */
	int is_foreign; /* see repository_forbid() */
	char log_dir[1024]; /* absolute */
	pid_t pid; /* in whose name it is written */
};

/*
 * The program |pid| named |log_dir|, of at most |size| bytes; "" is none. Once; others may look
 * meanwhile.
 */
void repository_name(struct repository *r, const char *log_dir, size_t size, pid_t pid);

/*
 * In place of that: what the program names is a place of other files than this server's. Before any
 * client comes.
 */
void repository_forbid(struct repository *r);

/* The error for clients that ask for files when there is no directory. */
const char *repository_explain_none(const struct repository *r);

int repository_is_named(const struct repository *r);

/*
 * Whether |client_root|, a log directory's "plugins/profile" as a client says it, is the operator's
 * or lies in it.
 */
int repository_contains(const struct repository *r, const char *client_root);

/*
 * Opens the directory of the runs: "plugins/profile" of the operator's, or |client_root| if that is
 * not "". A descriptor, or a negative errno with |d|: -EACCES for a place that is not inside,
 * -ENOENT if it is not there.
 */
int repository_open_runs(const struct repository *r, const char *client_root, struct diag *d);

/* Opens |name| in the directory |fd|, a directory itself: one part of a path, no link. As above. */
int repository_open_part(int fd, const char *name, int makes, struct diag *d);

/*
 * Makes the run |run| in |client_root| (as above) ready to be written in the program's name:
 * run_dir_write(), repository_publish(). 0, or a negative errno with |d|.
 */
int repository_open_run(const struct repository *r, const char *client_root, const char *run,
	struct run_dir *out, struct diag *d);

/* The machine's name, for files of clients that give none. */
void repository_name_host(char *name, size_t n);

/* -EEXIST with |d| when repository_publish() would find that file there. */
int repository_check_free(const struct run_dir *run, const char *host, struct diag *d);

/*
 * Writes what is left of |d| as <host>.xplane.pb. 0, or a negative errno with |diag|; in any case
 * run_dir_close().
 */
int repository_publish(
	struct run_dir *run, struct delivery *d, const char *host, struct diag *diag);

#endif
