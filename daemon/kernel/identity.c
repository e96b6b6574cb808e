/* SPDX-License-Identifier: Apache-2.0 */
/* Identities; see identity.h. */
#include "daemon/kernel/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/kernel/proc_file.h"

/* Room for IDENTITY_MAX_GROUPS and the rest of the file. */
#define STATUS_BYTES 8192

/* The first three numbers of a line are the real, effective and saved id. */
static int status_read_ids(const char *status, const char *key, unsigned *id)
{
	const char *line = strstr(status, key);
	unsigned effective;
	unsigned saved;

	if (!line || sscanf(line + strlen(key), "%u %u %u", id, &effective, &saved) != 3)
		return -ENOENT;
	return *id == effective && *id == saved ? 0 : -EXDEV;
}

static int status_read_groups(const char *status, struct identity *out)
{
	const char *at = strstr(status, "\nGroups:");
	const char *end = at ? strchr(at + 1, '\n') : NULL;

	/* The line is longer than the text that was read. */
	if (!end)
		return at ? -E2BIG : -ENOENT;
	at += strlen("\nGroups:");
	for (out->n_groups = 0;; out->n_groups++) {
		char *behind;
		unsigned long group;

		at += strspn(at, "\t ");
		if (at == end)
			return 0;
		group = strtoul(at, &behind, 10);
		if (behind == at || out->n_groups == IDENTITY_MAX_GROUPS)
			return behind == at ? -ENOENT : -E2BIG;
		out->groups[out->n_groups] = (gid_t)group;
		at = behind;
	}
}

int identity_find(const char *root, pid_t pid, struct identity *out)
{
	char path[512];
	char status[STATUS_BYTES];
	int r;

	snprintf(path, sizeof path, "%s/proc/%d/status", root, (int)pid);
	r = proc_file_read(AT_FDCWD, path, status, sizeof status);
	/* The kernel escapes line breaks in the process's name: it cannot hold "\nUid:". */
	if (!r)
		r = status_read_ids(status, "\nUid:", &out->uid);
	if (!r)
		r = status_read_ids(status, "\nGid:", &out->gid);
	return r ? r : status_read_groups(status, out);
}

int identity_drop_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];

	memset(none, 0, sizeof none);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, none) ? -errno : 0;
}

static int identity_change(const struct identity *i)
{
	if (setgroups(i->n_groups, i->groups) || setresgid(i->gid, i->gid, i->gid) ||
		setresuid(i->uid, i->uid, i->uid))
		return -errno;
	return 0;
}

int identity_assume(const struct identity *i)
{
	int r = identity_change(i);

	/*
	 * The groups could not be changed. That is safe for a process of the same user: it keeps
	 * its own groups, which may give fewer rights than the user has, but never more.
	 */
	if (r == -EPERM && i->uid == geteuid() && i->uid == getuid())
		r = 0;
	if (!r)
		r = identity_drop_capabilities();
	if (!r && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		r = -errno;
	return r;
}

/* --- owner ------------------------------------------------------------------------------------ */

#define OWNER_STATUS_BYTES 1024 /* a part of the file: the ids are in the first lines */

int owner_open(const char *root, pid_t pid)
{
	char path[512];
	char text[OWNER_STATUS_BYTES];
	int fd;

	snprintf(path, sizeof path, "%s/proc/%d/status", root, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	proc_file_reread(fd, text, sizeof text);
	return fd;
}

int owner_read_uid(int fd, uid_t *uid)
{
	char text[OWNER_STATUS_BYTES];
	const char *line;
	unsigned real;
	unsigned effective;
	unsigned saved;
	int r = fd < 0 ? fd : proc_file_reread(fd, text, sizeof text);

	if (r)
		return r;
	/* The kernel escapes line breaks in the process's name: it cannot hold "\nUid:". */
	line = strstr(text, "\nUid:");
	if (!line || sscanf(line, " Uid: %u %u %u", &real, &effective, &saved) != 3)
		return -ENOENT;
	*uid = real == effective && real == saved ? real : 0;
	return 0;
}

int owner_find_uid(const char *root, pid_t pid, uid_t *uid)
{
	_cleanup_close_ int fd = owner_open(root, pid);

	return owner_read_uid(fd, uid);
}
