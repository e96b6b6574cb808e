/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends messages with fields to the journal's own socket: systemd's "native protocol", a datagram
 * of KEY=value lines. The protocol is stable, and linking libsystemd would load it into every
 * attached server.
 */
#ifndef DAEMON_JOURNALD_H
#define DAEMON_JOURNALD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_message;

#define JOURNALD_PATH "/run/systemd/journal/socket"
#define JOURNALD_MAX_BYTES 4096

/*
 * Returns true if |fd| is the journal's stream that $JOURNAL_STREAM names as standard error or
 * output.
 */
bool journald_has_stream(int fd);

/* Opens a descriptor for journald_send(), or returns a negative errno. */
int journald_open(const char *path);

/*
 * Sends without waiting. 0, or a negative errno: the message is lost; -EMSGSIZE beyond
 * JOURNALD_MAX_BYTES. |identifier|: the program's name. Any thread may call it.
 */
int journald_send(int fd, const char *identifier, const struct log_message *message);

/* Returns the message's priority as in syslog(3). */
int journald_priority(const struct log_message *message);

#endif
