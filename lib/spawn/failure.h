/* SPDX-License-Identifier: Apache-2.0 */
/* Why there is no server: a failed spawn, in words for people. */
#ifndef SPAWN_FAILURE_H
#define SPAWN_FAILURE_H

struct diag;
struct ptap_server_options;
struct spawn;

/* Fills |d| for |s|, which has failed to run proftapd at |path| as |o| asked. Returns |s->error|. */
int spawn_explain(const struct spawn *s, const char *path, const struct ptap_server_options *o,
	struct diag *d);

#endif
