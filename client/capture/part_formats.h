/* SPDX-License-Identifier: Apache-2.0 */
/* A part's published traces in other viewers' formats, beside them. */
#ifndef CLIENT_PART_FORMATS_H
#define CLIENT_PART_FORMATS_H

struct part;

/*
 * Writes each of the capture's formats beside each of the part's files: p->converted has the paths. What cannot be done is in
 * p->conversion_warnings: the traces are there. An interrupt ends it, any but the p->n_interrupts that there were before: what
 * is not whole is removed, and the rest is not begun.
 */
void part_formats_write(struct part *p);

#endif
