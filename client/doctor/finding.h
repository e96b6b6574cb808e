/* SPDX-License-Identifier: Apache-2.0 */
/* What a check found: yes, no with what changes it, or that there is nothing of that sort here. */
#ifndef CLIENT_FINDING_H
#define CLIENT_FINDING_H

enum finding_state {
	FINDING_YES,
	FINDING_NO,
	FINDING_NONE, /* not here, or not to be asked: nothing is to be done */
};

struct finding {
	enum finding_state state;
	char text
		[2048]; /* what was found, with "…" where it was cut: also a sentence of status.gpu */
	/* Of a "no" at least one of: */
	char command[512]; /* the one that changes it */
	char reason[256]; /* why no command here does, or where it is to be given */
};

/* Each sets the state and the text, and forgets what there was. Foreign words may be part of it. */
void finding_yes(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void finding_no(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void finding_none(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One that does not fit is left out, and the reason says so. */
void finding_set_command(struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_set_reason(struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * |word| as a shell reads it back, whoever chose it, in |out| of FINDING_WORD_BYTES, which is returned; longer than it fits into a command it is
 * cut so that no command with it fits.
 */
#define FINDING_WORD_BYTES 1024
const char *finding_quote(char out[FINDING_WORD_BYTES], const char *word);

/* "yes", "no", "none". Static. */
const char *finding_name_state(enum finding_state state);

#endif
