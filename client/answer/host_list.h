/* SPDX-License-Identifier: Apache-2.0 */
/* What a host daemon answers to List (proftap.v1): the targets that it knows. */
#ifndef CLIENT_HOST_LIST_H
#define CLIENT_HOST_LIST_H

struct address;
struct diag;
struct targets;

/*
 * Asks the daemon at |address|, which is made more exact, and fills |targets|, which is empty; their sockets are "". |wanted|: the word for the program
 * that the caller means to do something with, for the daemon's audit; NULL: the caller only looks. An enum exit_code, with |d| when it is
 * not EXIT_DONE.
 */
int host_list_load_from(
	struct address *address, const char *wanted, struct targets *targets, struct diag *d);

/* The same of a |text| that says a HOST, HOST:PORT, PORT or unix:PATH. */
int host_list_load(const char *text, struct targets *targets, struct diag *d);

#endif
