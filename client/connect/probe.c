/* SPDX-License-Identifier: Apache-2.0 */
/* Finding out what listens on a port; see probe.h. */
#include "client/connect/probe.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "client/connect/dial.h"
#include "client/process/clock.h"
#include "client/process/interrupt.h"
#include "client/target/address.h"

/* RFC 9113 3.4: the client's preface, then a SETTINGS frame without settings. */
static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
			    "\0\0\0\4\0\0\0\0";
#define HELLO_BYTES sizeof hello /* the NUL at the end is the last byte of the stream id */

/*
 * The smallest ClientHello of TLS 1.2 (RFC 5246 7.4.1.2): no session, one cipher, no extension. A
 * TLS server answers it, if only with an alert.
 */
static const char tls_hello[] = "\x16\3\1\0\x2d" /* a handshake record of 45 bytes */
				"\1\0\0\x29\3\3" /* ClientHello of 41 bytes, version 1.2 */
				"proftap asks who listens here..." /* 32 random bytes */
				"\0\0\2\0\x2f\1"; /* TLS_RSA_WITH_AES_128_CBC_SHA */
#define TLS_HELLO_BYTES sizeof tls_hello /* the NUL at the end means no compression */
_Static_assert(TLS_HELLO_BYTES == 50, "the lengths inside are right");

#define FRAME_HEADER_BYTES 9
#define FRAME_SETTINGS 4
#define MAX_FRAME_BYTES 16384 /* a peer may not send more before we allow it */

/* Returns true if the bytes begin an alert or a handshake record of TLS. */
static bool is_tls(const unsigned char *b, size_t n_bytes)
{
	return n_bytes >= 5 && (b[0] == 0x15 || b[0] == 0x16) && b[1] == 3 && b[2] <= 4;
}

enum probe_result probe_judge(const unsigned char *b, size_t n_bytes)
{
	uint32_t length;

	if (is_tls(b, n_bytes))
		return PROBE_TLS;
	if (n_bytes < FRAME_HEADER_BYTES)
		return PROBE_SILENT;
	length = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
	if (length <= MAX_FRAME_BYTES && b[3] == FRAME_SETTINGS && (b[5] & 0x7f) == 0 &&
		b[6] == 0 && b[7] == 0 && b[8] == 0)
		return PROBE_HTTP2;
	return PROBE_OTHER;
}

/* Copies the first line; bytes that are not printable become dots. */
static void copy_printable(char *out, size_t n_out, const unsigned char *in, size_t n_in)
{
	size_t n = 0;

	while (n < n_in && n + 1 < n_out && in[n] != '\r' && in[n] != '\n') {
		out[n] = isascii(in[n]) && isprint(in[n]) ? (char)in[n] : '.';
		n++;
	}
	out[n] = '\0';
}

/* Reads until the bytes can be judged, the peer closes the connection, or the time is over. */
static enum probe_result listen_to(int fd, unsigned char *bytes, size_t size, size_t *n_out)
{
	int64_t deadline_ms = clock_monotonic_ms() + PROBE_WAIT_MS;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	enum probe_result result = PROBE_SILENT;
	size_t n = 0;

	while (result == PROBE_SILENT && n < size && interrupt_get_count() < 2) {
		int64_t left_ms = deadline_ms - clock_monotonic_ms();
		ssize_t r;

		if (left_ms <= 0 || interrupt_poll(&p, left_ms) == 0) {
			*n_out = n;
			return n ? PROBE_OTHER : PROBE_SILENT;
		}
		r = recv(fd, bytes + n, size - n, 0);
		if (r < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (r <= 0) {
			*n_out = n;
			return n ? PROBE_OTHER : PROBE_CLOSED;
		}
		n += (size_t)r;
		result = probe_judge(bytes, n);
	}
	*n_out = n;
	return result;
}

/* Connects, sends |words| and judges the answer. */
static enum probe_result send_words(const struct address *address, const char *words,
	size_t n_words, unsigned char *bytes, size_t size, size_t *n_out)
{
	struct address again = *address;
	_cleanup_close_ int fd = dial(&again, DIAL_TIMEOUT_MS, NULL);

	*n_out = 0;
	if (fd < 0)
		return PROBE_GONE;
	/* This fails if the peer has closed the connection already; listen_to() finds that out. */
	(void)!send(fd, words, n_words, MSG_NOSIGNAL);
	return listen_to(fd, bytes, size, n_out);
}

/* Many TLS servers close the connection on anything but a ClientHello. */
static bool wants_tls(const struct address *address)
{
	unsigned char bytes[128];
	size_t n_bytes;

	return send_words(address, tls_hello, TLS_HELLO_BYTES, bytes, sizeof bytes, &n_bytes) ==
	       PROBE_TLS;
}

enum probe_result probe(const struct address *address, char *said, size_t n)
{
	unsigned char bytes[128];
	size_t n_bytes;
	enum probe_result result =
		send_words(address, hello, HELLO_BYTES, bytes, sizeof bytes, &n_bytes);

	said[0] = '\0';
	if (result == PROBE_OTHER)
		copy_printable(said, n, bytes, n_bytes);
	if (result == PROBE_CLOSED && wants_tls(address))
		return PROBE_TLS;
	return result;
}
