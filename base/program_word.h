/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How people name a host daemon's programs: a pid; a name; "pid=PID", "name=NAME", "uid=UID", "container=NAME_OR_ID", "pod=UID"; the
 * path of its file, which begins with '/'; or "all". The daemon reads such words, and the client where many may be meant. All of them mean live programs, but for a pid, and
 * "NAME@dead", which means programs of that name that have ended and whose flight recorder's content is still held.
 */
#ifndef BASE_PROGRAM_WORD_H
#define BASE_PROGRAM_WORD_H

#include <stddef.h>
#include <sys/types.h>

/* As Docker and Podman show an id: so many digits of it are enough. */
#define PROGRAM_WORD_ID_DIGITS 12

/* What a word may be about. What is not known is "", and no word means it. Borrowed. */
struct program_traits {
	pid_t pid; /* as the daemon sees it: pids inside of containers are many */
	uid_t uid;
	const char *name;
	const char *container_id;
	const char *container_name;
	const char *pod; /* its uid */
	const char *path; /* of the file that it runs; NULL: not known */
	int has_ended;
};

/* NAME@dead means the program of that name that has ended. */
#define PROGRAM_WORD_DEAD "@dead"

#define PROGRAM_WORD_LABELS_BYTES 64

/* Whether |word|, one of the above, means a program like |t|. */
int program_word_means(const char *word, const struct program_traits *t);

/* Whether |word| is the name of |t|, which lives, or NAME@dead of one that has ended. */
int program_word_means_name(const char *word, const struct program_traits *t);

/* How many letters of |word| are the name in NAME@dead; 0: it is another word. */
size_t program_word_find_dead(const char *word);

/* How many letters of |word|, LABEL=VALUE, are a label that there is not; 0: it is another word. */
size_t program_word_find_no_label(const char *word);
/* Those that there are, for people: "pid, uid, name, container, pod". */
void program_word_list_labels(char out[PROGRAM_WORD_LABELS_BYTES]);

#endif
