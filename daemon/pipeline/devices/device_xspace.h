/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that collectors make themselves, as parts of ours: on its time, with its planes' names where they are free. */
#ifndef DAEMON_DEVICE_XSPACE_H
#define DAEMON_DEVICE_XSPACE_H

struct devices;
struct device_scope;
struct space;

/* All that |d| has; of what cannot be used a warning says why. 0 or -ENOMEM. */
int device_xspace_add(
	const struct devices *d, const struct device_scope *scope, struct space *space);

#endif
