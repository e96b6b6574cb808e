/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a socket in the file system and listens on it. */
#ifndef TESTS_UNIT_UNIX_LISTEN_H
#define TESTS_UNIT_UNIX_LISTEN_H

/*
 * The caller owns the descriptor and the file |path|. Fails the test if the socket cannot be made.
 */
int unix_listen(const char *path);

#endif
