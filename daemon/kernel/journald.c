/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to the journal; see journald.h. */
#include "daemon/kernel/journald.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

/* The priorities, with the values that LOG_ERR to LOG_DEBUG have in <syslog.h>. */
enum {
	PRIORITY_ERROR = 3,
	PRIORITY_WARNING,
	PRIORITY_NOTICE,
	PRIORITY_INFO,
	PRIORITY_DEBUG
};

static const int priorities[] = {
	[LOG_LEVEL_ERROR] = PRIORITY_ERROR,
	[LOG_LEVEL_WARN] = PRIORITY_WARNING,
	[LOG_LEVEL_INFO] = PRIORITY_INFO,
	[LOG_LEVEL_DEBUG] = PRIORITY_DEBUG,
};

int journald_priority(const struct log_message *message)
{
	return priorities[message->level];
}

bool journald_has_stream(int fd)
{
	const char *said = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return said && sscanf(said, "%llu:%llu", &device, &inode) == 2 && !fstat(fd, &st) &&
	       st.st_dev == device && st.st_ino == inode;
}

int journald_open(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd;
	int r;

	if (strlen(path) >= sizeof un.sun_path)
		return -ENAMETOOLONG;
	strcpy(un.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)&un, sizeof un))
		return fd;
	r = -errno;
	close(fd);
	return r;
}

/* A datagram that grows. */
struct datagram {
	char bytes[JOURNALD_MAX_BYTES];
	size_t n;
	bool is_full;
};

static void datagram_append(struct datagram *w, const void *bytes, size_t n)
{
	if (n > sizeof w->bytes - w->n) {
		w->is_full = true;
		return;
	}
	memcpy(w->bytes + w->n, bytes, n);
	w->n += n;
}

/* A value with a line break is written with its length before it. */
static void datagram_append_field(struct datagram *w, const char *name, const char *value)
{
	uint64_t n = strlen(value);
	uint64_t little = htole64(n);

	datagram_append(w, name, strlen(name));
	if (strchr(value, '\n')) {
		datagram_append(w, "\n", 1);
		datagram_append(w, &little, sizeof little);
	} else {
		datagram_append(w, "=", 1);
	}
	datagram_append(w, value, n);
	datagram_append(w, "\n", 1);
}

int journald_send(int fd, const char *identifier, const struct log_message *m)
{
	const char priority[] = {(char)('0' + journald_priority(m)), '\0'};
	struct datagram w = {.n = 0};

	datagram_append_field(&w, "MESSAGE", m->text);
	datagram_append_field(&w, "PRIORITY", priority);
	datagram_append_field(&w, "SYSLOG_IDENTIFIER", identifier);
	datagram_append_field(&w, "PROFTAP_AREA", log_area_get_name(m->area));
	for (size_t i = 0; i < m->n_fields; i++)
		datagram_append_field(&w, m->fields[i].name, m->fields[i].value);
	if (w.is_full)
		return -EMSGSIZE;
	return send(fd, w.bytes, w.n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}
