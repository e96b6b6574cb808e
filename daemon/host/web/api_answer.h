/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of the JSON API, its refusals (docs/http-api.md, "Errors"), and the numbers in requests.
 */
#ifndef DAEMON_API_ANSWER_H
#define DAEMON_API_ANSWER_H

#include <stdint.h>

struct diag;
struct http_exchange;
struct json_text;

/* Ends |text| and answers with it. */
void api_answer(struct http_exchange *x, unsigned status, struct json_text *text);
/* Discards |text|, which may be NULL, and refuses. |rpc_status| is gRPC's. */
void api_refuse(
	struct http_exchange *x, int rpc_status, const struct diag *d, struct json_text *text);
void api_refuse_memory(struct http_exchange *x);
/*
 * Answers {"error": {"code": ..., "message": ...}} with gRPC's name for |status|, and writes the
 * line of the audit. The HTTP server calls it for each http_refuse() (http_server_options.refuse).
 */
void api_refuse_http(struct http_exchange *x, unsigned status, const char *text, void *context);

/* Parses a part of a path. Returns 0, the id of nothing, if it is no number. */
uint64_t api_parse_id(const char *text);

struct api_number {
	const char *key;
	int64_t min;
	int64_t max;
	int64_t otherwise; /* the value if the query does not have |key| */
};
/* Reads a number of the query. 0, or -EINVAL with |d| when it is not between |min| and |max|. */
int api_get_number(const struct http_exchange *x, const struct api_number *number, int64_t *out,
	struct diag *d);

#endif
