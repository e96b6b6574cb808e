/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes the output of a report. */
#ifndef TRACE_REPORT_OUTPUT_H
#define TRACE_REPORT_OUTPUT_H

#include <stdio.h>

/* Flushes the stream. 0, or a negative errno if some of the output was lost. */
int output_finish(FILE *out);

#endif
