/* SPDX-License-Identifier: Apache-2.0 */
/* What the counters of NVIDIA's GPUs are called for people: as XLA calls them, where it has a name. */
#ifndef DAEMON_METRIC_NAMES_H
#define DAEMON_METRIC_NAMES_H

/* |metric| itself where there is none. */
const char *metric_names_find(const char *metric);

#endif
