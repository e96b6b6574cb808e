/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a check: yes; no, with the command that changes it; or none, because the machine
 * has nothing of that kind.
 */
#ifndef CLIENT_FINDING_H
#define CLIENT_FINDING_H

enum finding_state {
	FINDING_YES,
	FINDING_NO,
	FINDING_NONE, /* there is none here, or it cannot be asked; the user has nothing to do */
};

struct finding {
	enum finding_state state;
	char text[2048]; /* one sentence, with "…" where it was cut; also one of status.gpu */
	/* A "no" has at least one of these two: */
	char command[512]; /* the command that changes it */
	char reason[256]; /* why there is none, or where it is to be given */
};

/*
 * Each sets the state and the text, and clears the command and the reason. Foreign words may be
 * part of the text.
 */
void finding_yes(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void finding_no(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void finding_none(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A command that does not fit is left out, and the reason says so. */
void finding_set_command(struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_set_reason(struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Quotes |word|, which anybody may have chosen, for a shell. Returns |out|. A word that is too long
 * for any command is cut, and stays too long for any command.
 */
#define FINDING_WORD_BYTES 1024
const char *finding_quote(char out[FINDING_WORD_BYTES], const char *word);

/* "yes", "no", "none". Static. */
const char *finding_name_state(enum finding_state state);

#endif
