/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a request with the output of proftap. */
#ifndef DAEMON_TOOL_ANSWER_H
#define DAEMON_TOOL_ANSWER_H

struct http_exchange;
struct web;

/* At most this many answers are made at the same time. */
#define TOOL_ANSWERS_MAX 4u

struct tool_answer {
	const char *cwd;
	const char *const *argv; /* as in tool.h */
	const char *type; /* media type of the answer; a literal */
	const char *file_name; /* name under which browsers save the answer; NULL: none */
	char *key; /* conversions_find() key, owned by the callee; NULL: the output is not kept */
	int usage_status; /* gRPC status for wrong arguments; 0: RPC_UNIMPLEMENTED */
};

/*
 * Answers |x|, as a rule after this call has returned, so the handler needs to do nothing more.
 * Copies |what|, except the key.
 */
void tool_answer_start(struct http_exchange *x, struct web *w, const struct tool_answer *what);

#endif
