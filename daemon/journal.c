/* SPDX-License-Identifier: Apache-2.0 */
/* Where this server's words go; see journal.h. */
#include "daemon/journal.h"

#include <stdio.h>
#include <syslog.h>

#include "daemon/target/target.h"

static const int priorities[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG};

void journal_write(enum log_level level, enum log_area area, const char *text, void *context)
{
	struct target *t = context;

	if (level <= LOG_LEVEL_WARN && t->arena)
		snprintf(t->arena->message, sizeof t->arena->message, "%s: %s",
			log_area_get_name(area), text);
	syslog(LOG_DAEMON | priorities[level], "%s: %s", log_area_get_name(area), text);
}
