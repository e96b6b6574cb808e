/* SPDX-License-Identifier: Apache-2.0 */
/* Pid namespaces; see pid_space.h. */
#include "lib/spawn/pid_space.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN "/proc/self/ns/pid"
#define OF_CHILDREN "/proc/self/ns/pid_for_children"
#define MAX_BYTES 64 /* "pid:[4026531836]" */

int pid_space_is_shared_with_children(void)
{
	char own[MAX_BYTES];
	char children[MAX_BYTES];
	struct stat st;
	ssize_t n = readlink(OWN, own, sizeof own);

	/* Before Linux 4.12 there is no such link; while the namespace has no PID 1 it leads nowhere. */
	if (n <= 0 || lstat(OF_CHILDREN, &st))
		return 1;
	return readlink(OF_CHILDREN, children, sizeof children) == n &&
	       memcmp(own, children, (size_t)n) == 0;
}
