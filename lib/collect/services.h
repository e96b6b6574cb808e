/* SPDX-License-Identifier: Apache-2.0 */
/* What libproftap does for a collector: struct ptap_collector_services. */
#ifndef COLLECT_SERVICES_H
#define COLLECT_SERVICES_H

#include <proftap/collector.h>

struct collect_run;

extern const struct ptap_collector_services collector_services;

/* From here on they are for |run|, which is filled; NULL: for none. One at a time. The collectors' thread. */
void services_serve(struct collect_run *run);

#endif
