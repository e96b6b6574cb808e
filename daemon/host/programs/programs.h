/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of this machine whose attached servers have announced them to the host daemon: their
 * identity from the kernel, their state from their servers, and connections to these servers. The
 * table also has programs with a profiler server of another make (stock_finder.h), which reports no
 * state.
 *
 * Threads: programs_add(), programs_update(), programs_remove() and programs_watch() on the loop's;
 * the others on any.
 */
#ifndef DAEMON_PROGRAMS_H
#define DAEMON_PROGRAMS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "daemon/kernel/container.h"

struct caller;
struct machine_process;

/* The recordings of a program that this daemon passed on. */
struct program_sums {
	uint64_t n_captures; /* with a trace */
	uint64_t trace_bytes;
	uint64_t n_events;
	uint64_t n_dropped;
};

struct program {
	uint64_t id; /* never reused */
	pid_t pid; /* as this process sees it */
	uid_t uid;
	/* The connection of its server; borrowed, and open until programs_remove(). -1: none. */
	int connection;
	/*
	 * Address of a server of another make, "127.0.0.1:9012"; "": the program has announced
	 * itself.
	 */
	char stock_address[32];
	struct status status; /* as its server reported it, made printable */
	struct container container; /* from /proc, when the program was added */
	/*
	 * Number of the last continuous session that a stock client began through this daemon; 0:
	 * none.
	 */
	uint64_t n_begun;
	uid_t begun_by;
	uint64_t n_answered; /* the last round of questions that it answered */
	uint64_t n_measured; /* how often its server has reported its share of memory */
	uint64_t pss_bytes; /* the last reported share; 0: hidden by the kernel */
	struct program_sums sums;
};

/* Called on the loop's thread for each program that comes, changes its state, or goes. */
typedef void programs_watcher(void *context, const struct program *p, bool is_gone);

struct programs {
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	struct program *v; /* by id */
	size_t n;
	size_t n_allocated;
	uint64_t last_id;
	uint64_t n_rounds; /* rounds in which all servers were asked */
	uint64_t n_begun;
	programs_watcher *watcher; /* NULL: none; the loop's thread only */
	void *watcher_context;
};

void programs_init(struct programs *p);

/* Adds a copy of |program| under a new id. Returns the id, or 0 when memory ran out. */
uint64_t programs_add(struct programs *p, const struct program *program);
/* Takes over the last answer of the program's server. */
void programs_update(struct programs *p, uint64_t id, const struct status *status);
void programs_remove(struct programs *p, uint64_t id);

/* Sets the only watcher; NULL: none. */
void programs_watch(struct programs *p, programs_watcher *watcher, void *context);

/* Asks all servers for the state of their programs. The watcher is called for each change. */
void programs_ask(struct programs *p);

/*
 * Asks all servers for the state of their programs, and waits for the answers, |wait_ms| at most.
 * Then copies the programs that |caller| may see, by pid, to *out, malloc'ed. 0 or -ENOMEM. A
 * program whose server does not answer has its last known state.
 */
int programs_list(struct programs *p, const struct caller *caller, int wait_ms,
	struct program **out, size_t *n_out);

/* Copies the same programs with their last known states, without asking the servers. */
int programs_copy(
	struct programs *p, const struct caller *caller, struct program **out, size_t *n_out);

/* Returns the program |id|, or NULL. The caller has the mutex. */
struct program *programs_find(struct programs *p, uint64_t id);

/*
 * Waits, |wait_ms| at most, until a program has been added with |id| or a later one. Returns the
 * last id; 0: none yet.
 */
uint64_t programs_await(struct programs *p, uint64_t id, int wait_ms);
size_t programs_count(struct programs *p);

/*
 * Copies the ids, pids, uids and names of the first |max| programs, by id, and returns their
 * number. For machine_config.list; |context| is a struct programs.
 */
size_t programs_list_processes(void *context, struct machine_process *out, size_t max);

/* Adds a recording of the program to its sums. */
void programs_note_captured(struct programs *p, uint64_t id, const struct program_sums *sums);

/* Notes that |uid| has begun a continuous session in the program. */
void programs_note_begun(struct programs *p, uint64_t id, uid_t uid);

/*
 * Measures the program's share of memory (daemon/kernel/proc_file.h). The kernel does not reveal it
 * to a host daemon whose user has no rights over the program. Then the program's server is asked,
 * and its answer awaited |wait_ms| at most. 0; -ESRCH: the program is gone; -EACCES: the kernel
 * reveals it to neither; -ETIMEDOUT: the server does not answer; or another negative errno. Any
 * thread but the loop's.
 */
int programs_measure_memory(struct programs *p, uint64_t id, int wait_ms, uint64_t *bytes);

#endif
