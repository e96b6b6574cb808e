/* SPDX-License-Identifier: Apache-2.0 */
/* A socket of the file system that somebody listens on. */
#ifndef TESTS_UNIT_UNIX_LISTEN_H
#define TESTS_UNIT_UNIX_LISTEN_H

/*
 * Owner: the descriptor, and the file |path|, are the caller's. Fails the test where there can be
 * none.
 */
int unix_listen(const char *path);

#endif
