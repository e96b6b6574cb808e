/* SPDX-License-Identifier: Apache-2.0 */
/* Launching the server: the process, its arena, the control thread, its hello. */
#ifndef LIB_LAUNCH_H
#define LIB_LAUNCH_H

struct diag;
struct ptap_server_options;

/*
 * Starts a server as |o| asks, or with |is_private| one that nobody can connect to. Under the guest's lock,
 * while nothing serves. 0 or a negative errno with |d|.
 */
int launch_server(const struct ptap_server_options *o, int is_private, struct diag *d);

#endif
