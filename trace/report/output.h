/* SPDX-License-Identifier: Apache-2.0 */
/* The stream that a report goes to. */
#ifndef TRACE_REPORT_OUTPUT_H
#define TRACE_REPORT_OUTPUT_H

#include <stdio.h>

/* Flushes it. 0, or a negative errno where not all that was written got there. */
int output_finish(FILE *out);

#endif
