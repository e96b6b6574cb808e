/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a request with the output of proftap. */
#ifndef DAEMON_TOOL_ANSWER_H
#define DAEMON_TOOL_ANSWER_H

struct http_exchange;
struct web;

/* So many answers are made at a time. */
#define TOOL_ANSWERS_MAX 4u

struct tool_answer {
	const char *cwd;
	const char *const *argv; /* as in tool.h */
	const char *type; /* media type of the answer; a literal */
	const char *file_name; /* under which browsers save the answer; NULL: none */
	char *key; /* of conversions.h, taken; NULL: the output is not kept */
	int usage_status; /* gRPC status for wrong arguments; 0: RPC_UNIMPLEMENTED */
};

/* Answers |x| later; the handler returns after this call. Copies |what|, except the key. */
void tool_answer_start(struct http_exchange *x, struct web *w, const struct tool_answer *what);

#endif
