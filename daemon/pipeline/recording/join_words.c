/* SPDX-License-Identifier: Apache-2.0 */
/* Words for failed joins; see join_words.h. */
#include "daemon/pipeline/recording/join_words.h"

#include <errno.h>
#include <stddef.h>

static const struct {
	int error;
	const char *text;
} words[] = {
	{-EUSERS, "256 are followed already"},
	{-ECONNREFUSED, "they are in another network namespace than the program's server"},
	{-ESRCH, "their parents had ended before their first annotation, as in a double fork"},
	{-EPERM, "a system call that joining needs is forbidden to them, by seccomp?"},
	{-EACCES, "a system call that joining needs is forbidden to them, by seccomp?"},
	{-ECHILD, "a system call that joining needs is forbidden to them, by seccomp?"},
	{-ENOSYS, "they lack a system call that joining needs: an old kernel, or seccomp?"},
	{-EAGAIN, "they could not start a process or a thread: the limit on processes"},
	{-EOPNOTSUPP,
		"they called unshare(CLONE_NEWPID), and their next child becomes PID 1 there"},
	{-EXDEV,
		"in a time namespace of their own they have another clock, and the program does without the processor's counter"},
	{-EMFILE, "the server or they have too few descriptors: RLIMIT_NOFILE"},
	{-ETIMEDOUT, "no answer in time: the server is busy or stopped"},
};

const char *join_words(int error, char room[ERRNO_WORDS_BYTES])
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i].error == error)
			return words[i].text;
	return errno_write_words(room, error);
}
