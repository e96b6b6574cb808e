/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that worked and brought nothing: finding that out, and saying why. */
#ifndef CLIENT_EMPTINESS_H
#define CLIENT_EMPTINESS_H

struct diag;
struct names;
struct profile_options;
struct space;

struct emptiness {
	const char *target;
	const struct profile_options *options; /* of the capture */
	const struct space *space; /* what came back, or NULL */
	const struct names *said; /* warnings that the client prints itself */
};

/* Fills |d| with the reason, as far as it is known, and prints what else the server said. */
void emptiness_explain(const struct emptiness *e, struct diag *d);

#endif
