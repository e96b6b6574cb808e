/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a request with the output of proftap. */
#ifndef DAEMON_TOOL_ANSWER_H
#define DAEMON_TOOL_ANSWER_H

struct http_exchange;
struct web;

/* At a time. */
#define TOOL_ANSWERS_MAX 4u

struct tool_answer {
	const char *cwd;
	const char *const *argv; /* as in tool.h */
	const char *type; /* of the answer; a literal */
	const char *file_name; /* of what is to be kept as a file, or NULL */
	char *key; /* of conversions.h, taken; NULL: what it makes is not kept */
	int usage_status; /* gRPC's, when it does not take |argv|; 0: RPC_UNIMPLEMENTED */
};

/* Copies all else that it needs. The handler's part is done. */
void tool_answer_start(struct http_exchange *x, struct web *w, const struct tool_answer *what);

#endif
