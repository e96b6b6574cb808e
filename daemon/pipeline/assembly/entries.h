/* SPDX-License-Identifier: Apache-2.0 */
/* What the entries of rings become: events, marks, samples; and what tells of devices. */
#ifndef DAEMON_ENTRIES_H
#define DAEMON_ENTRIES_H

struct assembly;
struct entry;

/* One that is dated. as->error says how it went. */
void entries_add(struct assembly *as, struct entry *e);

#endif
