/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets that the host daemon listens on, opened here or handed over by systemd. */
#ifndef DAEMON_LISTENER_H
#define DAEMON_LISTENER_H

#include <stddef.h>

struct diag;
struct socket_file;

/*
 * Returns 0 if |text| is "ADDRESS:PORT" with a loopback address, "[::1]:PORT", or "unix:/PATH";
 * else -EINVAL.
 */
int listener_check_address(const char *text);

/*
 * Returns the descriptor that systemd handed over under the name |name| (FileDescriptorName=), or
 * -1. Each descriptor is returned only once. It is close-on-exec and non-blocking.
 */
int listener_take(const char *name);

#define LISTENER_TEXT_BYTES 128

/*
 * Writes the address of |fd| in the form that listener_open() takes: "127.0.0.1:9021",
 * "unix:/PATH".
 */
void listener_describe(int fd, char *out, size_t n);

/*
 * Listens on |text|, which listener_check_address() has accepted. |file| gets the path of a unix
 * socket. Returns the descriptor, or a negative errno with |d|.
 */
int listener_open(const char *text, struct socket_file *file, struct diag *d);

/*
 * Listens for messages (SOCK_SEQPACKET) at |path|; all users may connect. Removes a socket at
 * |path| if no server listens on it any more. Returns the descriptor, or a negative errno with |d|:
 * -EADDRINUSE if a server listens there.
 */
int listener_open_messages(const char *path, struct socket_file *file, struct diag *d);

#endif
