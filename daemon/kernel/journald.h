/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal's own socket, which takes messages with fields: systemd's "native protocol", a datagram of KEY=value lines. It is
 * stable, and libsystemd would come into every attached server for it.
 */
#ifndef DAEMON_JOURNALD_H
#define DAEMON_JOURNALD_H

#include <stddef.h>
#include <stdint.h>

struct log_message;

#define JOURNALD_PATH "/run/systemd/journal/socket"
#define JOURNALD_MAX_BYTES 4096

/* Whether |fd| is a stream of the journal, as $JOURNAL_STREAM says of standard error or output. */
int journald_has_stream(int fd);

/* A descriptor for journald_send(), or a negative errno. */
int journald_open(const char *path);

/*
 * Does not wait. 0, or a negative errno: nobody has read it; -EMSGSIZE beyond JOURNALD_MAX_BYTES. |identifier|: the program's name.
 * Any thread.
 */
int journald_send(int fd, const char *identifier, const struct log_message *message);

/* As a priority of syslog(3), which the journal has, too. */
int journald_priority(const struct log_message *message);

#endif
