/* SPDX-License-Identifier: Apache-2.0 */
/* How the host daemon was called: where its settings come from, so that they can be read again. */
#ifndef DAEMON_INVOCATION_H
#define DAEMON_INVOCATION_H

struct diag;
struct settings;

#define INVOCATION_CONFIG "/etc/proftap/proftapd.conf"

struct invocation {
	char *const *words; /* the process's: options, and NULL */
	const char *config; /* NULL: INVOCATION_CONFIG, if it is there */
	int is_print; /* --print-config */
};

/* |argv| up to its NULL: 0, or -EINVAL with |d| for what is no option, or has no value. Their values are not looked at. */
int invocation_parse(struct invocation *i, char *const *argv, struct diag *d);

/*
 * The defaults, then the file, then the words; a path among these may be relative, to the working directory. 0, or a negative errno with |d| and |out| as it was.
 */
int invocation_read(const struct invocation *i, struct settings *out, struct diag *d);

#endif
