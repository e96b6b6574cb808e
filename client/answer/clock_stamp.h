/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes into a trace how far its clock is from that of the machine that asked for it, and which
 * program was recorded if the trace does not tell.
 */
#ifndef CLIENT_CLOCK_STAMP_H
#define CLIENT_CLOCK_STAMP_H

#include <stdint.h>

struct answer;
struct clock_offset;
struct diag;

/*
 * Adds stats to the plane "Task Environment" of the temporary file. If the offset has a name, these
 * are proftap_target_name, a text, and proftap_target_pid. If it is known, these are
 * proftap_clock_offset_ns, the target's Unix time minus ours, and proftap_clock_uncertainty_ns,
 * both int64. A trace without that plane stays as it is. *file_bytes becomes the size of the file;
 * the answer's own mapping is not to be read afterwards. 0, or a negative errno with |d|.
 */
int clock_stamp_write(struct answer *answer, const struct clock_offset *offset,
	uint64_t *file_bytes, struct diag *d);

#endif
