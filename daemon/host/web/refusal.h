/* SPDX-License-Identifier: Apache-2.0 */
/* The answers to refused requests (docs/http-api.md, "Errors"). */
#ifndef DAEMON_REFUSAL_H
#define DAEMON_REFUSAL_H

struct http_exchange;

/*
 * {"error": {"code": …, "message": …}}, with gRPC's name for |status|. For http_server_options.refuse: so all that http_refuse() says,
 * which the audit hears, too.
 */
void refusal_write(struct http_exchange *x, unsigned status, const char *text, void *context);

/* The same with another |code| than |status| has. */
void refusal_write_code(
	struct http_exchange *x, unsigned status, const char *code, const char *text);

#endif
