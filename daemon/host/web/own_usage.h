/* SPDX-License-Identifier: Apache-2.0 */
/* The use of this process itself, as metrics, by the names that Prometheus' own libraries have. */
#ifndef DAEMON_OWN_USAGE_H
#define DAEMON_OWN_USAGE_H

struct exposition;

/* Writes these metrics, except values that /proc does not tell. Any thread. */
void own_usage_write(struct exposition *e);

#endif
