/* SPDX-License-Identifier: Apache-2.0 */
/* A port of 127.0.0.1. */
#ifndef CLIENT_LOOPBACK_H
#define CLIENT_LOOPBACK_H

#include <stdint.h>

struct diag;

/* Listens on it, without waiting. The descriptor; -EADDRINUSE, or another negative errno, with |d|. */
int loopback_listen(uint16_t port, struct diag *d);

#endif
