/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds to the space the traces that collectors made themselves, with their times moved to its
 * clock. Their planes keep their names if these are free.
 */
#ifndef DAEMON_DEVICE_XSPACE_H
#define DAEMON_DEVICE_XSPACE_H

struct device_records;
struct device_scope;
struct space;

/* Adds all such traces of |d|, or warnings about those that cannot be used. 0 or -ENOMEM. */
int device_xspace_add(
	const struct device_records *d, const struct device_scope *scope, struct space *space);

#endif
