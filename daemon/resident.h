/* SPDX-License-Identifier: Apache-2.0 */
/* Being small while idle. */
#ifndef DAEMON_RESIDENT_H
#define DAEMON_RESIDENT_H

/*
 * Gives back the pages of this program's file that only its start touched. They are clean, so what is
 * needed again comes from the page cache. Any thread.
 */
void resident_trim(void);

#endif
