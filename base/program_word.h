/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words by which users select programs of a host daemon: a pid; a name; "pid=PID", "name=NAME",
 * "uid=UID", "container=NAME_OR_ID", "pod=UID"; the path of the program's file, which begins with
 * '/'; or "all". The daemon parses them, and so does the client when a word may select several
 * programs. All of these select live programs. A pid also selects an ended program whose flight
 * recorder's content is still held, and "NAME@dead" selects only ended programs of that name.
 */
#ifndef BASE_PROGRAM_WORD_H
#define BASE_PROGRAM_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Docker and Podman show this many digits of an id, so they suffice. */
#define PROGRAM_WORD_ID_DIGITS 12

/* The traits of a program. Unknown ones are "", which no word selects. Borrowed. */
struct program_traits {
	pid_t pid; /* in the daemon's namespace: pids inside of containers are ambiguous */
	uid_t uid;
	const char *name;
	const char *container_id;
	const char *container_name;
	const char *pod; /* the pod's uid */
	const char *path; /* of the program's file; NULL: unknown */
	bool has_ended;
};

/* NAME@dead selects the ended program of that name. */
#define PROGRAM_WORD_DEAD "@dead"

#define PROGRAM_WORD_LABELS_BYTES 64

/* Returns true if |word|, in a form described above, selects a program with the traits |t|. */
bool program_word_means(const char *word, const struct program_traits *t);

/* Returns true if |word| is the name of |t| if |t| lives, or its NAME@dead if it has ended. */
bool program_word_means_name(const char *word, const struct program_traits *t);

/* Returns the length of the name in NAME@dead; 0: |word| has another form. */
size_t program_word_find_dead(const char *word);

/*
 * Returns the length of LABEL if |word| is LABEL=VALUE with an unknown label; 0: |word| is
 * something else.
 */
size_t program_word_find_no_label(const char *word);
/* Lists the labels for people: "pid, uid, name, container, pod". */
void program_word_list_labels(char out[PROGRAM_WORD_LABELS_BYTES]);

#endif
