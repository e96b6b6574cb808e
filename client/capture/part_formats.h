/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a part's published traces into other viewers' formats. */
#ifndef CLIENT_PART_FORMATS_H
#define CLIENT_PART_FORMATS_H

struct part;

/*
 * Writes each of the capture's formats beside each of the part's files. p->converted gets the
 * paths; failures go to p->conversion_warnings only, because the traces exist. Interrupts beyond
 * the first p->n_interrupts end the conversion: an incomplete file is removed, and the rest is
 * skipped.
 */
void part_formats_write(struct part *p);

#endif
