/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of this machine that have announced themselves to the host daemon, by their attached servers: who they are, as
 * the kernel says; what they do, as their servers say; and ways into these servers. Beside them those that have a profiler server of
 * another make (stock_finder.h), which says nothing of itself.
 *
 * Threads: programs_add(), programs_update() and programs_remove() the loop's; the others any.
 */
#ifndef DAEMON_PROGRAMS_H
#define DAEMON_PROGRAMS_H

#include <pthread.h>
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
	uint64_t id; /* no other one's, ever */
	pid_t pid; /* as this process sees it */
	uid_t uid;
	int connection; /* its server's, borrowed: it stays open until programs_remove(); -1: it has none */
	char stock_address
		[32]; /* of a server of another make, "127.0.0.1:9012"; "": it has announced itself */
	struct status status; /* its server's word, made printable */
	struct container container; /* when it came, as /proc told */
	uint64_t
		n_begun; /* the last continuous session that a stock client began there through this daemon; 0: none */
	uid_t begun_by;
	uint64_t n_answered; /* the last round of questions that it answered */
	uint64_t n_measured; /* how often its server has told its share of memory */
	uint64_t pss_bytes; /* the last time; 0: the kernel does not tell its server */
	struct program_sums sums;
};

/* Hears of each that comes, changes what it says, or goes: the loop's thread. */
typedef void programs_watcher(void *context, const struct program *p, int is_gone);

struct programs {
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	struct program *v; /* in the order they came */
	size_t n;
	size_t n_allocated;
	uint64_t last_id;
	uint64_t n_rounds; /* of questions */
	uint64_t n_begun;
	programs_watcher *watcher; /* NULL: none; the loop's */
	void *watcher_context;
};

void programs_init(struct programs *p);

/* Adds it, with an id of its own: that, or 0 when memory ran out. */
uint64_t programs_add(struct programs *p, const struct program *program);
/* Takes over the present answer of its server. */
void programs_update(struct programs *p, uint64_t id, const struct status *status);
void programs_remove(struct programs *p, uint64_t id);

/* One, or with NULL none. The loop's thread. */
void programs_watch(struct programs *p, programs_watcher *watcher, void *context);

/* Asks all of them what they do: what they answer the watcher hears. */
void programs_ask(struct programs *p);

/*
 * Asks all of them what they do, and waits for the answers, |wait_ms| at most; then copies those that |caller| may see, by pid:
 * *out is malloc'ed. 0 or -ENOMEM. One whose server does not answer is there all the same, as it was last heard of.
 */
int programs_list(struct programs *p, const struct caller *caller, int wait_ms,
	struct program **out, size_t *n_out);

/* The same without asking. */
int programs_copy(
	struct programs *p, const struct caller *caller, struct program **out, size_t *n_out);

/* The one with |id|, or NULL. Under the mutex. */
struct program *programs_find(struct programs *p, uint64_t id);

/* Waits until there is, or was, one with |id| or a later one, |wait_ms| at most. The id of the last one; 0: none yet. */
uint64_t programs_await(struct programs *p, uint64_t id, int wait_ms);
size_t programs_count(struct programs *p);

/* The ids, pids, uids and names of the first |max| of them, by id: how many. For machine_config.list; |context| is a struct programs. */
size_t programs_list_processes(void *context, struct machine_process *out, size_t max);

/* It was recorded: adds that. */
void programs_note_captured(struct programs *p, uint64_t id, const struct program_sums *sums);

/* |uid| has begun a continuous session there. */
void programs_note_begun(struct programs *p, uint64_t id, uid_t uid);

#endif
