/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the list of a host daemon's targets by List (proftap.v1). */
#ifndef CLIENT_HOST_LIST_H
#define CLIENT_HOST_LIST_H

struct address;
struct diag;
struct targets;

/*
 * Asks the daemon at |address| for its targets, and puts them into |targets|, which was empty.
 * Their sockets are "". link_open() may replace a name in |address|. For its audit the daemon gets
 * |wanted|, the user's word for the program to be recorded; NULL: the caller only lists. Returns an
 * enum exit_code, with |d| unless it is EXIT_DONE.
 */
int host_list_load_from(
	struct address *address, const char *wanted, struct targets *targets, struct diag *d);

/* The same for a text of the form HOST, HOST:PORT, PORT or unix:PATH. */
int host_list_load(const char *text, struct targets *targets, struct diag *d);

#endif
