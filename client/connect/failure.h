/* SPDX-License-Identifier: Apache-2.0 */
/* Why a Profile call failed: the sentence for people and the exit code for scripts. */
#ifndef CLIENT_FAILURE_H
#define CLIENT_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

struct address;
struct diag;

/* A peer that sent less than one HTTP/2 frame header did not speak. The kernel counts a FIN as one. */
#define FAILURE_SPOKEN_BYTES 9

struct failure {
	const struct address *address;
	int status; /* gRPC's; OK: and there was no message */
	const char *text; /* gRPC's */
	const char *fault; /* why the answer was refused here, or NULL */
	int64_t elapsed_ms; /* of the call */
	int64_t received_bytes; /* from the peer, on that connection; -1: not known */
	int64_t timeout_ms;
	bool is_of_session; /* the call was about a continuous session, or the flight recorder */
	bool is_of_recorder; /* about that alone */
	bool is_of_proftap; /* its method is one of proftap.v1 */
	bool is_waited_for; /* one that is busy: the user does so already */
	bool is_of_programs; /* the call was to a host daemon, and about all of its programs */
	bool is_of_host; /* a host daemon answered it, which passes on what a program's own server says */
	bool is_connected; /* the connection outlived the call: the server itself answered */
	bool is_partial; /* some of the trace came, and is kept */
	bool is_silent; /* cancelled because the peer said nothing, or hardly anything */
};

/* Fills |d| and returns an enum exit_code. May connect once more, to see who listens. */
int failure_explain(const struct failure *f, struct diag *d);

/* No call was made to |address|: there was no memory for the request. Returns an enum exit_code. */
int failure_explain_no_request(const struct address *address, struct diag *d);

/* Who is at the other end of the tunnel that |address| leads through: EXIT_DONE: a gRPC server; else EXIT_NOBODY with |d|. */
int failure_explain_tunnel(const struct address *address, struct diag *d);

/* Whether a status is how this or any other profiler server says that it is busy. */
bool failure_is_busy(int status, const char *text);

#endif
