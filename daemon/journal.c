/* SPDX-License-Identifier: Apache-2.0 */
/* Where this server's words go; see journal.h. */
#include "daemon/journal.h"

#include <stdio.h>
#include <syslog.h>

#include "daemon/target/target.h"

static const int priorities[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG};

void journal_write(const struct log_message *m, void *context)
{
	struct target *t = context;
	const char *area = log_area_get_name(m->area);

	if (m->level <= LOG_LEVEL_WARN && t->arena)
		snprintf(t->arena->message, sizeof t->arena->message, "%s: %s", area, m->text);
	syslog(LOG_DAEMON | priorities[m->level], "%s: %s", area, m->text);
}
