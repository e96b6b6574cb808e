/* SPDX-License-Identifier: Apache-2.0 */
/* What a flight recorder's snapshot says of how far back it reaches, out of the plane stats of each process. */
#ifndef CLIENT_RECORDER_FACTS_H
#define CLIENT_RECORDER_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json;
struct space;

struct recorder_facts {
	bool is_snapshot; /* of a recorder; else nothing here means anything */
	uint64_t n_overwritten; /* annotations of all threads, before what is in it */
	int64_t shortest_ns; /* of the threads in it that overwrote some of what was asked for; 0: none did */
};

void recorder_facts_read(struct recorder_facts *f, const struct space *space);
/* A line for people. |last_ms| is what they had asked for; 0: all. */
void recorder_facts_write_text(const struct recorder_facts *f, int64_t last_ms, FILE *out);
/* Members of the object that |j| is in. */
void recorder_facts_write_json(const struct recorder_facts *f, struct json *j);

#endif
