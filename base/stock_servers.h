/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the profiler servers of JAX and TensorFlow on this machine. They announce themselves
 * nowhere. So this calls the profiler service's method Monitor, which does nothing in these
 * servers, on the listening sockets of processes that map a library of JAX, TensorFlow or
 * PyTorch/XLA, or have threads of gRPC. A recording is never requested. These servers listen on all
 * addresses, so other sockets are not asked. A process that is stopped cannot answer. It is
 * presumed to have such a server if it has both the library and the threads.
 */
#ifndef BASE_STOCK_SERVERS_H
#define BASE_STOCK_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The message with which Monitor of JAX's and TensorFlow's servers answers UNIMPLEMENTED. A server
 * that lacks the whole service answers without a message.
 */
#define STOCK_SERVERS_MONITOR_TEXT "unimplemented."
#define STOCK_SERVERS_MAKE_BYTES 16

struct stock_server {
	uint64_t inode; /* of its listening socket */
	unsigned port;
	uid_t uid; /* of the socket's maker */
	bool is_ipv6;
	/* Set by stock_servers_identify(). */
	pid_t pid; /* 0: this user can see no process that may be a profiler server */
	char name[64]; /* of the process, printable */
	/* "JAX", "TensorFlow", "PyTorch/XLA"; "XLA": the program has none of their libraries */
	char make[STOCK_SERVERS_MAKE_BYTES];
	int64_t since_ns; /* Unix time at which the process was started */
	bool is_stopped; /* a signal or a debugger stopped the process */
	/*
	 * The process is stopped, and has both a library of |make| and gRPC's threads: |address| is
	 * set.
	 */
	bool is_presumed;
	/* Set by stock_servers_ask(). */
	bool has_answered;
	bool is_one;
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

/*
 * The make of the server that the process has, or may start; NULL: it has none, or this user may
 * not read its mappings.
 */
const char *stock_servers_find_make(pid_t pid);
/* Returns true if a signal or a debugger stopped the process. */
bool process_is_stopped(pid_t pid);
/*
 * The id that a server of JAX or TensorFlow gives the thread whose pthread_self() is |handle|,
 * instead of the kernel's id: libstdc++'s std::hash of the thread's std::thread::id.
 */
int64_t stock_servers_find_thread_id(uint64_t handle);

/*
 * Lists the sockets that listen on all addresses and belong to this user; root, or |of_all|, gets
 * those of all users. 0 or a negative errno.
 */
int stock_servers_list(struct stock_servers *s, int of_all);
/*
 * Finds the processes that have the sockets, among those that this user may inspect: only |pid|, or
 * all if it is 0.
 */
void stock_servers_identify(struct stock_servers *s, pid_t pid);
/*
 * Asks the sockets whose process was found and is not stopped, all at once, and waits |wait_ms| at
 * most.
 */
void stock_servers_ask(struct stock_servers *s, int wait_ms);

/*
 * Lists, identifies and asks, and keeps only profiler servers, the presumed ones included. 0 or a
 * negative errno; deinit in every case.
 */
int stock_servers_find(struct stock_servers *s, pid_t pid, int wait_ms);
/*
 * Finds a stopped program that listens on |port| and has a library of JAX, TensorFlow or
 * PyTorch/XLA, or gRPC's threads. 0, -ENOENT, or another negative errno.
 */
int stock_servers_find_stopped(unsigned port, struct stock_server *out);

void stock_servers_deinit(struct stock_servers *s);

#endif
