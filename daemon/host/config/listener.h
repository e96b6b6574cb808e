/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets that the host daemon listens on: opened here, or held by systemd and handed over. */
#ifndef DAEMON_LISTENER_H
#define DAEMON_LISTENER_H

#include <stddef.h>

struct diag;
struct socket_file;

/* 0 when |text| is "ADDRESS:PORT" with an address of loopback, "[::1]:PORT", or "unix:/PATH"; -EINVAL. */
int listener_check_address(const char *text);

/*
 * The descriptor that systemd named |name| (FileDescriptorName=), or -1. It is taken out of what systemd handed over, and is
 * close-on-exec and non-blocking.
 */
int listener_take(const char *name);

#define LISTENER_TEXT_BYTES 128

/* Where |fd| listens, as listener_open() takes it: "127.0.0.1:9021", "unix:/PATH". */
void listener_describe(int fd, char *out, size_t n);

/* Listens on |text|, which was checked; the path of a unix socket is noted in |file|. The descriptor, or a negative errno with |d|. */
int listener_open(const char *text, struct socket_file *file, struct diag *d);

/*
 * The same for messages (SOCK_SEQPACKET) at |path|, for all users to connect to. What lies there and does not answer is removed;
 * -EADDRINUSE with |d| when it does.
 */
int listener_open_messages(const char *path, struct socket_file *file, struct diag *d);

#endif
