/* SPDX-License-Identifier: Apache-2.0 */
/* Ports; see port.h. */
#include "client/doctor/port.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "client/connect/probe.h"
#include "client/target/address.h"

static enum port_answer judge(enum probe_result result, char *said, size_t n)
{
	switch (result) {
	case PROBE_HTTP2:
		return PORT_GRPC;
	case PROBE_OTHER:
		return strncmp(said, "HTTP/1.", 7) == 0 ? PORT_WEB : PORT_OTHER;
	case PROBE_TLS:
		snprintf(said, n, "TLS");
		return PORT_OTHER;
	case PROBE_CLOSED:
		snprintf(said, n, "it hangs up");
		return PORT_OTHER;
	case PROBE_SILENT:
		snprintf(said, n, "it says nothing");
		return PORT_OTHER;
	case PROBE_GONE:
		break;
	}
	return PORT_NOBODY;
}

int port_ask(unsigned port, char *said, size_t n)
{
	struct address address;
	struct diag d = DIAG_INIT;
	char text[32];

	said[0] = '\0';
	snprintf(text, sizeof text, "127.0.0.1:%u", port);
	if (address_parse(text, NULL, &address, &d))
		return PORT_NOBODY;
	return judge(probe(&address, said, n), said, n);
}
