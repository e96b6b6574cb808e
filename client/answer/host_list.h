/* SPDX-License-Identifier: Apache-2.0 */
/* The targets that a host daemon knows, by its answer to List (proftap.v1). */
#ifndef CLIENT_HOST_LIST_H
#define CLIENT_HOST_LIST_H

struct address;
struct diag;
struct targets;

/*
 * Asks the daemon at |address|, which is made more exact, and fills |targets|, which is empty;
 * their sockets are "". |wanted| is the word for the program that the caller is going to use, which
 * the daemon's audit notes; NULL: the caller only looks. Returns an enum exit_code, with |d| when
 * it is not EXIT_DONE.
 */
int host_list_load_from(
	struct address *address, const char *wanted, struct targets *targets, struct diag *d);

/* The same for a |text| that is a HOST, HOST:PORT, PORT or unix:PATH. */
int host_list_load(const char *text, struct targets *targets, struct diag *d);

#endif
