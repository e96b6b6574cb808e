/* SPDX-License-Identifier: Apache-2.0 */
/* The host daemon's words; see host_log.h. */
#include "daemon/host/host_log.h"

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/kernel/journald.h"

#define NAME "proftapd"

static int journal_fd; /* negative: the journal cannot be reached by its socket */

/* Where it has no place for fields, the journal reads the priority in front of a line. */
static void write_to_journal(const struct log_message *m, void *context)
{
	(void)context;
	if (journal_fd < 0 || journald_send(journal_fd, NAME, m))
		fprintf(stderr, "<%d>%s: %s\n", journald_priority(m), log_area_get_name(m->area),
			m->text);
}

void host_log_open(void)
{
	if (!journald_has_stream(STDERR_FILENO)) {
		log_set_sink(log_to_stderr, (void *)NAME);
		return;
	}
	journal_fd = journald_open(JOURNALD_PATH);
	log_set_sink(write_to_journal, NULL);
}
