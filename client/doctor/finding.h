/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a check: yes; no, with the command that changes it or a reason; or none, because
 * the machine has nothing of that kind, or cannot tell.
 */
#ifndef CLIENT_FINDING_H
#define CLIENT_FINDING_H

enum finding_state {
	FINDING_YES,
	FINDING_NO,
	/* The object does not exist here, or cannot be asked; the user has nothing to do. */
	FINDING_NONE,
};

struct finding {
	enum finding_state state;
	/* One sentence, with "…" if it was cut; it may be |gpu| of struct status. */
	char text[2048];
	/* A "no" has a command, a reason, or both. */
	char command[512]; /* the command that makes it a "yes" */
	char reason[256]; /* why there is no command, or where to give it */
};

/*
 * Each of these sets the state and the text, and clears the command and the reason. The text may
 * contain untrusted words.
 */
void finding_yes(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void finding_no(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void finding_none(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the command. If it does not fit, leaves it out, and the reason says so. */
void finding_set_command(struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_set_reason(struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Quotes the untrusted |word| for a shell. Returns |out|. A word that is too long for any command
 * is cut, and stays too long for any command.
 */
#define FINDING_WORD_BYTES 1024
const char *finding_quote(char out[FINDING_WORD_BYTES], const char *word);

/* Returns "yes", "no" or "none", a constant. */
const char *finding_name_state(enum finding_state state);

#endif
