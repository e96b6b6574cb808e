/* SPDX-License-Identifier: Apache-2.0 */
/* Who answers on a port of this machine. */
#ifndef CLIENT_PORT_H
#define CLIENT_PORT_H

#include <stddef.h>

enum port_answer {
	PORT_NOBODY, /* the connection is refused */
	PORT_GRPC, /* HTTP/2 */
	PORT_WEB, /* HTTP/1 */
	PORT_OTHER, /* |said| has what it is, or said */
};

/* Connects to 127.0.0.1:|port|. An enum port_answer. */
int port_ask(unsigned port, char *said, size_t n);

#endif
