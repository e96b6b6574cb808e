/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why a recording that worked is empty. */
#ifndef CLIENT_EMPTINESS_H
#define CLIENT_EMPTINESS_H

#include <stdbool.h>

struct diag;
struct names;
struct profile_options;
struct space;

struct emptiness {
	const char *target;
	const struct profile_options *options; /* the capture's options */
	const struct space *space; /* the received trace or NULL */
	const struct names *said; /* warnings that the client has printed already */
	bool is_brief; /* the server's other warnings are not printed */
};

/* Fills |d| with the reason, as far as it is known, and prints the server's other warnings and errors unless |is_brief|. */
void emptiness_explain(const struct emptiness *e, struct diag *d);

#endif
