/* SPDX-License-Identifier: Apache-2.0 */
/* Places as text; see place.h. */
#include "client/target/place.h"

#include <stdio.h>

#include "base/program_word.h"

void place_format(const struct place *p, int pid, char *out, size_t n)
{
	char pod[64] = "";
	char inside[32] = "";
	const char *name = p->name[0] ? p->name : p->id;
	int n_name = p->name[0] ? -1 : PROGRAM_WORD_ID_DIGITS;

	if (p->pod[0])
		snprintf(pod, sizeof pod, "%spod %s", *name ? ", " : "", p->pod);
	if (p->pid_inside && p->pid_inside != pid)
		snprintf(inside, sizeof inside, "%spid %d", *name || *pod ? ", " : "",
			p->pid_inside);
	snprintf(out, n, "%.*s%s%s", n_name, name, pod, inside);
}
