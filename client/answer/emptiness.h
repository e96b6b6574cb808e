/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that worked and brought nothing: finding that out, and saying why. */
#ifndef CLIENT_EMPTINESS_H
#define CLIENT_EMPTINESS_H

#include <stdbool.h>

struct diag;
struct names;
struct profile_options;
struct space;

struct emptiness {
	const char *target;
	const struct profile_options *options; /* of the capture */
	const struct space *space; /* what came back, or NULL */
	const struct names *said; /* warnings that the client prints itself */
	bool is_brief; /* nothing is printed */
};

/* Fills |d| with the reason, as far as it is known, and prints what else the server said, unless it is to be brief. */
void emptiness_explain(const struct emptiness *e, struct diag *d);

#endif
