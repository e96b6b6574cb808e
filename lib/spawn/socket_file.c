/* SPDX-License-Identifier: Apache-2.0 */
/* Paths to listen on; see socket_file.h. */
#include "lib/spawn/socket_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "lib/spawn/rawsys.h"
#include "lib/spawn/spawn.h"

/* --- modes of sockets ---------------------------------------------------------------------- */

/*
 * The same number on all architectures; since Linux 6.6. It is used only where there is no /proc,
 * because old sandboxes kill a process that makes an unknown call.
 */
#define SYS_FCHMODAT2 452
#define MODE_BITS 07777

/* 0: the file can be the socket that was bound. */
static SPAWN_RAW long check_bound_socket(long fd, struct stat *st)
{
	long uid = raw0(SYS_geteuid);
	long r = raw4(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);

	if (r < 0)
		return r;
	return S_ISSOCK(st->st_mode) && st->st_nlink == 1 && (!uid || st->st_uid == (uid_t)uid)
		       ? 0
		       : -EEXIST;
}

static SPAWN_RAW void append_number(char *to, long number)
{
	char digits[24];
	int n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n)
		*to++ = digits[--n];
	*to = '\0';
}

static SPAWN_RAW long change_mode(long fd, uint32_t mode)
{
	char path[48] = "/proc/self/fd/";
	long r;

	append_number(path + sizeof "/proc/self/fd/" - 1, fd);
	r = raw3(SYS_fchmodat, AT_FDCWD, path, mode);
	return r == -ENOENT ? raw4(SYS_FCHMODAT2, fd, "", mode, AT_EMPTY_PATH) : r;
}

/*
 * chmod() of a path follows links, fchmod() of a socket does not reach its name, and a descriptor
 * with O_PATH is accepted by fchmodat2() alone, since Linux 6.6. The descriptor's path under /proc
 * leads only to the file that was opened.
 */
SPAWN_RAW long socket_file_set_mode(const char *path, uint32_t mode)
{
	struct stat st;
	long fd = raw4(SYS_openat, AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	long r = fd < 0 ? fd : check_bound_socket(fd, &st);

	if (r == 0 && (st.st_mode & MODE_BITS) != mode)
		r = change_mode(fd, mode);
	if (fd >= 0)
		raw1(SYS_close, fd);
	return r;
}

/* --- binding ------------------------------------------------------------------------------- */

/*
 * A start holds the directory's lock for microseconds. The tries are limited because anybody may
 * hold such a lock for ever.
 */
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 5000000

/* Copies |path| up to its last slash. */
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

/*
 * A socket without a listener refuses connections, and so does one that is bound and not listening
 * yet: two servers that start at once would both take the other's socket for a dead one. The lock
 * on the directory keeps them apart and leaves no file behind. Returns the directory's descriptor,
 * or a negative errno. With an errno, or after LOCK_TRIES tries, there is no lock, and two
 * simultaneous starts may collide.
 */
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

/* 0: the path is a socket of this user without a listener. */
static SPAWN_RAW long check_stale(const struct spawn *s, const char *path)
{
	struct stat st;
	long fd;
	long r = raw4(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
	long uid = raw0(SYS_geteuid);

	if (r < 0)
		return r;
	if (!S_ISSOCK(st.st_mode) || (uid && st.st_uid != (uid_t)uid))
		return -EEXIST;
	fd = raw3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	r = raw3(SYS_connect, fd, &s->address, s->address_bytes);
	raw1(SYS_close, fd);
	return r == -ECONNREFUSED ? 0 : -EADDRINUSE;
}

/*
 * The name gets the socket's mode, less the umask, so that at no moment more users can connect than
 * allowed. The bits that the umask removed are set between bind and listen, when nobody can
 * connect.
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
		r = socket_file_set_mode(path, s->socket_mode);
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
