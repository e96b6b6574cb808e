/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors that a server finds open after exec. */
#ifndef WIRE_FDS_H
#define WIRE_FDS_H

#define SPAWN_FD_LISTENER 3 /* bound, listening, non-blocking */
#define SPAWN_FD_ARENA 4 /* the sealed memfd */
/*
 * In a server that a host daemon started: the socket on which its program waits for the answer
 * (serve.h).
 */
#define SPAWN_FD_ANSWER 5

#endif
