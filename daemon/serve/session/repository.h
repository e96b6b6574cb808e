/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one directory that the operator named (.log_dir of ptap_server_options), and the places in it
 * that clients may name. A client's path is never opened as a whole: each part is opened in the
 * directory before it, and symbolic links are not followed.
 */
#ifndef DAEMON_REPOSITORY_H
#define DAEMON_REPOSITORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct delivery;
struct diag;
struct run_dir;

struct repository {
	_Atomic int is_named; /* the other fields are set */
	bool is_foreign; /* see repository_forbid() */
	char log_dir[1024]; /* absolute */
	pid_t pid; /* the program, with whose rights files are written */
};

/*
 * Sets the directory to the path |log_dir|, an array of |size| bytes, which the program |pid|
 * named; "": none. Call it once; other threads may read meanwhile.
 */
void repository_name(struct repository *r, const char *log_dir, size_t size, pid_t pid);

/*
 * Called instead of repository_name(), before any client connects, if the program's paths lead to
 * other files in this server (another mount namespace). Then there is no directory.
 */
void repository_forbid(struct repository *r);

/* The error for clients that ask for files when there is no directory. */
const char *repository_explain_none(const struct repository *r);

bool repository_is_named(const struct repository *r);

/*
 * Returns true if |client_root|, which a client uses as a log directory's "plugins/profile", is the
 * operator's directory or lies in it.
 */
bool repository_contains(const struct repository *r, const char *client_root);

/*
 * Opens the directory of the runs: "plugins/profile" in the operator's directory, or |client_root|
 * if that is not "". Returns a descriptor, or a negative errno with |d|: -EACCES for a place
 * outside, -ENOENT if it does not exist.
 */
int repository_open_runs(const struct repository *r, const char *client_root, struct diag *d);

/*
 * Opens the directory |name| in the directory |fd|. |name| must be one part of a path and no link.
 * |makes|: the directory is made if it does not exist. The results are those of
 * repository_open_runs().
 */
int repository_open_part(int fd, const char *name, bool makes, struct diag *d);

/*
 * Makes the run |run| in |client_root| (as above), with the program's rights, for run_dir_write()
 * and repository_publish(). 0, or a negative errno with |d|.
 */
int repository_open_run(const struct repository *r, const char *client_root, const char *run,
	struct run_dir *out, struct diag *d);

/* Writes the machine's name, for files of clients that do not name a host. */
void repository_name_host(char *name, size_t n);

/* Checks that the file of repository_publish() does not exist. 0, or -EEXIST with |d|. */
int repository_check_free(const struct run_dir *run, const char *host, struct diag *d);

/*
 * Writes the rest of |d| as <host>.xplane.pb. 0, or a negative errno with |diag|. The caller calls
 * run_dir_close() in any case.
 */
int repository_publish(
	struct run_dir *run, struct delivery *d, const char *host, struct diag *diag);

#endif
