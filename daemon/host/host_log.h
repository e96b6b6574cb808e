/* SPDX-License-Identifier: Apache-2.0 */
/* Where the host daemon's words go: to the journal, with their fields, when standard error goes there; else to standard error. */
#ifndef DAEMON_HOST_LOG_H
#define DAEMON_HOST_LOG_H

/* Sets the sink (base/log.h). Before there are threads. */
void host_log_open(void);

#endif
