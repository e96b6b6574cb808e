/* SPDX-License-Identifier: Apache-2.0 */
/* What is said at the end of a capture of many targets. */
#ifndef CLIENT_CAPTURE_REPORT_H
#define CLIENT_CAPTURE_REPORT_H

struct parts;

/* To standard error for people and the paths to standard output, or one JSON object there. */
void capture_report_write(const struct parts *parts);

#endif
