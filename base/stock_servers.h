/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiler servers of JAX's and TensorFlow's make on this machine. They announce themselves nowhere: they are listeners of processes
 * that have such a library mapped, or gRPC's threads, and that know the profiler service. They are asked for its Monitor, which they have and which does
 * nothing there; never for a recording. Only sockets that listen on all addresses are asked, as these servers do.
 */
#ifndef BASE_STOCK_SERVERS_H
#define BASE_STOCK_SERVERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The message with which their Monitor answers UNIMPLEMENTED. A server that lacks the whole service
 * answers without a message.
 */
#define STOCK_SERVERS_MONITOR_TEXT "unimplemented."
#define STOCK_SERVERS_MAKE_BYTES 16

struct stock_server {
	uint64_t inode; /* of its listening socket */
	unsigned port;
	uid_t uid; /* of the socket's maker */
	int is_ipv6;
	/* stock_servers_identify(): */
	pid_t pid; /* 0: nobody's that we may look at and that may be one */
	char name[64]; /* of the process, printable */
	char make
		[STOCK_SERVERS_MAKE_BYTES]; /* "JAX", "TensorFlow", "PyTorch/XLA"; "XLA": of a program that has none of their libraries */
	int64_t since_ns; /* Unix time at which the process was started */
	/* stock_servers_ask(): */
	int has_answered;
	int is_one;
	char address[16]; /* where it answered: "127.0.0.1" or "::1" */
};

struct stock_servers {
	struct stock_server *v;
	size_t n;
	size_t n_allocated;
};

#define STOCK_SERVERS_INIT \
	{                  \
		NULL, 0, 0 \
	}

/* The make of the server that the process has, or may start; NULL: none, or nobody may look. */
const char *stock_servers_find_make(pid_t pid);
/*
 * The id that such a server gives the thread whose pthread_self() is |handle|, instead of the kernel's: std::hash of libstdc++, of
 * std::thread::id.
 */
int64_t stock_servers_find_thread_id(uint64_t handle);

/* Sockets that may be one: listening on all addresses, and this user's; of root, or with |of_all|, all users'. 0 or a negative errno. */
int stock_servers_list(struct stock_servers *s, int of_all);
/* Finds out whose they are, of those that this user may look at. |pid|: only that process is looked at; 0: all. */
void stock_servers_identify(struct stock_servers *s, pid_t pid);
/* Asks those that have a pid, all at once, and waits |wait_ms| at most. */
void stock_servers_ask(struct stock_servers *s, int wait_ms);

/* Does all three, and keeps only profiler servers. 0 or a negative errno; deinit in every case. */
int stock_servers_find(struct stock_servers *s, pid_t pid, int wait_ms);

void stock_servers_deinit(struct stock_servers *s);

#endif
