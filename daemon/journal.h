/* SPDX-License-Identifier: Apache-2.0 */
/* Where this server's words go: its standard error is /dev/null. */
#ifndef DAEMON_JOURNAL_H
#define DAEMON_JOURNAL_H

#include "base/log.h"

/* A log sink. |context|: the struct target, where the library's ptap_last_error() finds errors and warnings, too. */
void journal_write(const struct log_message *message, void *context);

#endif
