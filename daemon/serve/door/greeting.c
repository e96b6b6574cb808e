/* SPDX-License-Identifier: Apache-2.0 */
/* The first bytes of a client; see greeting.h. */
#include "daemon/serve/door/greeting.h"

#include <stdbool.h>
#include <string.h>

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const char greeting_notice[] = "PROFTAP CHILD NOTICE 1\r\n";

_Static_assert(sizeof greeting_notice - 1 == GREETING_BYTES, "the length of the preface");
_Static_assert(sizeof preface - 1 == GREETING_BYTES, "the length in RFC 9113");

const char greeting_http1_answer[] =
	"HTTP/1.1 400 Bad Request\r\n"
	"Content-Type: text/plain\r\n"
	"Connection: close\r\n\r\n"
	"this port speaks gRPC (tensorflow.ProfilerService), not HTTP/1.1; "
	"record with: proftap capture HOST:PORT MILLISECONDS\n";

/* A request line begins with a method: capital letters, then a space. */
static bool is_http1(const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && bytes[i] >= 'A' && bytes[i] <= 'Z')
		i++;
	return i > 1 && i < n && bytes[i] == ' ';
}

enum greeting greeting_judge(const uint8_t *bytes, size_t n)
{
	if (memcmp(bytes, preface, n < GREETING_BYTES ? n : GREETING_BYTES) == 0)
		return GREETING_HTTP2;
	if (n >= GREETING_BYTES && memcmp(bytes, greeting_notice, GREETING_BYTES) == 0)
		return GREETING_NOTICE;
	return is_http1(bytes, n) ? GREETING_HTTP1 : GREETING_OTHER;
}
