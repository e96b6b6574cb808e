/* SPDX-License-Identifier: Apache-2.0 */
/* Explains a failed call: a sentence for people and an exit code for scripts. */
#ifndef CLIENT_FAILURE_H
#define CLIENT_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

struct address;
struct diag;

/*
 * A peer that sent less than an HTTP/2 frame header has not spoken. The kernel counts a FIN as one
 * byte.
 */
#define FAILURE_SPOKEN_BYTES 9

struct failure {
	const struct address *address;
	int status; /* gRPC's status; OK: there was no message */
	const char *text; /* gRPC's text */
	const char *fault; /* the client's reason to refuse the answer, or NULL */
	int64_t elapsed_ms; /* the duration of the call */
	int64_t received_bytes; /* the bytes that arrived on that connection; -1: not known */
	int64_t timeout_ms;
	bool is_of_session; /* the call was about a continuous session or the flight recorder */
	bool is_of_recorder; /* the call was about the flight recorder alone */
	bool is_of_proftap; /* the method is one of proftap.v1 */
	/* The user gave --wait, so the advice about a busy server leaves it out. */
	bool is_waited_for;
	bool is_of_programs; /* the call was about all programs of a host daemon */
	bool is_of_host; /* a host daemon answered, or passed on the answer of a program's server */
	bool is_connected; /* the connection outlived the call, so the server itself answered */
	bool is_partial; /* a part of the trace came, and is kept */
	bool is_silent; /* the call was cancelled because the peer sent hardly anything */
};

/* Fills |d| and returns an enum exit_code. May connect once more to find out what listens there. */
int failure_explain(const struct failure *f, struct diag *d);

/* Explains that there was no memory to make a request to |address|. Returns an enum exit_code. */
int failure_explain_no_request(const struct address *address, struct diag *d);

/*
 * Connects through the tunnel of |address|. EXIT_DONE: a gRPC server answers there; else
 * EXIT_NOBODY with |d|.
 */
int failure_explain_tunnel(const struct address *address, struct diag *d);

#endif
