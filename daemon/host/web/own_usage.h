/* SPDX-License-Identifier: Apache-2.0 */
/* What this process itself uses, as metrics, by the names that all of Prometheus' own libraries have. */
#ifndef DAEMON_OWN_USAGE_H
#define DAEMON_OWN_USAGE_H

struct exposition;

/* What /proc does not tell is left out. Any thread. */
void own_usage_write(struct exposition *e);

#endif
