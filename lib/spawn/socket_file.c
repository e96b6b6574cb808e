/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths to listen on; see socket_file.h. A socket on which nobody listens refuses connections, and so does one that is
 * bound and not listening yet: two servers that start at once would both take the other's for a dead one's. The lock on
 * the directory keeps them apart; it leaves no file behind.
 */
#include "lib/spawn/socket_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "lib/spawn/child.h"
#include "lib/spawn/rawsys.h"
#include "lib/spawn/socket_mode.h"
#include "lib/spawn/spawn.h"

/* A start takes microseconds; anybody may hold such a lock for ever. */
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 5000000

/* Up to the last slash. */
static SPAWN_RAW void copy_directory(const char *path, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; path[i] && i + 1 < size; i++) {
		out[i] = path[i];
		if (path[i] == '/')
			n = i + 1;
	}
	out[n] = '\0';
}

/* The lock's descriptor, or negative: then there is none, and a start at the same moment may go wrong. */
static SPAWN_RAW long lock_directory(const char *path)
{
	const struct timespec pause = {0, LOCK_PAUSE_NS};
	char directory[sizeof((struct sockaddr_un *)0)->sun_path];
	long fd;

	copy_directory(path, directory, sizeof directory);
	fd = raw4(SYS_openat, AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (raw2(SYS_flock, fd, LOCK_EX | LOCK_NB) != -EWOULDBLOCK)
			break;
		raw2(SYS_nanosleep, &pause, NULL);
	}
	return fd;
}

/* 0: a socket of ours on which nobody listens. */
static SPAWN_RAW long check_stale(const struct spawn *s, const char *path)
{
	struct statx st;
	long fd;
	long r = raw5(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_UID, &st);
	long uid = raw0(SYS_geteuid);

	if (r < 0)
		return r;
	if ((st.stx_mode & S_IFMT) != S_IFSOCK || (uid && st.stx_uid != (uint32_t)uid))
		return -EEXIST;
	fd = raw3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	r = raw3(SYS_connect, fd, &s->address, s->address_bytes);
	raw1(SYS_close, fd);
	return r == -ECONNREFUSED ? 0 : -EADDRINUSE;
}

/*
 * The name gets the mode that the socket has, but for what the umask takes away: not even for a moment may more people
 * connect than are to. Between bind and listen nobody can: the rest is in time.
 */
static SPAWN_RAW long bind_and_listen(struct spawn *s, const char *path)
{
	long r;

	raw2(SYS_fchmod, s->listener, s->socket_mode);
	r = raw3(SYS_bind, s->listener, &s->address, s->address_bytes);
	if (r == -EADDRINUSE) {
		r = check_stale(s, path);
		if (r == 0)
			r = raw3(SYS_unlinkat, AT_FDCWD, path, 0);
		if (r == 0)
			r = raw3(SYS_bind, s->listener, &s->address, s->address_bytes);
	}
	if (r == 0)
		r = socket_mode_set(path, s->socket_mode);
	return r ? r : raw2(SYS_listen, s->listener, 1024);
}

SPAWN_RAW long socket_file_bind(struct spawn *s)
{
	const char *path = ((const struct sockaddr_un *)&s->address)->sun_path;
	long lock = lock_directory(path);
	long r = bind_and_listen(s, path);

	if (lock >= 0)
		raw1(SYS_close, lock);
	return r;
}
