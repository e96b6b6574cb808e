/* SPDX-License-Identifier: Apache-2.0 */
/* What a part's file is called; two hosts may call themselves the same, and then the second one has a suffix. */
#ifndef CLIENT_PART_NAME_H
#define CLIENT_PART_NAME_H

struct part;

#define PART_NAME_BYTES 300

/* As file_name.h has it, in letters that a file may have. p->answer tells more only as long as its trace can be read. */
void part_name_format(const struct part *p, char out[static PART_NAME_BYTES]);

/* |name| with the first suffix from |suffix| on (1: none) that no other part's file has. Returns that suffix. */
int part_name_add_suffix(
	const struct part *p, const char *name, int suffix, char out[static PART_NAME_BYTES]);

#endif
