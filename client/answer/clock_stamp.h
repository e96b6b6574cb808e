/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the clock offset between target and client into a trace, and the recorded program's name
 * and pid if the trace does not have them.
 */
#ifndef CLIENT_CLOCK_STAMP_H
#define CLIENT_CLOCK_STAMP_H

#include <stdint.h>

struct answer;
struct clock_offset;
struct diag;

/*
 * Adds stats to the plane "Task Environment" of the temporary file: for an offset with a name
 * proftap_target_name, a text, and proftap_target_pid; for a known offset proftap_clock_offset_ns,
 * the target's Unix time minus ours, and proftap_clock_uncertainty_ns, both int64. A trace without
 * that plane is not changed. *file_bytes becomes the size of the file; the answer's mapping must
 * not be read afterwards. 0, or a negative errno with |d|.
 */
int clock_stamp_write(struct answer *answer, const struct clock_offset *offset,
	uint64_t *file_bytes, struct diag *d);

#endif
