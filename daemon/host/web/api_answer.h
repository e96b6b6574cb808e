/* SPDX-License-Identifier: Apache-2.0 */
/* How handlers of the JSON API answer, and read what was asked. */
#ifndef DAEMON_API_ANSWER_H
#define DAEMON_API_ANSWER_H

#include <stddef.h>
#include <stdint.h>

struct diag;
struct http_exchange;
struct json_text;

/* Ends |text| and answers with it. */
void api_answer(struct http_exchange *x, unsigned status, struct json_text *text);
/* Gives |text| up, and refuses: |rpc_status| is gRPC's. |text| may be NULL. */
void api_refuse(
	struct http_exchange *x, int rpc_status, const struct diag *d, struct json_text *text);
void api_refuse_memory(struct http_exchange *x);

/* The number that a part of a path is; 0, which nothing has: it is none. */
uint64_t api_parse_id(const char *text);

/*
 * The number that the query says for |key|; |otherwise| where it says none. 0, or -EINVAL with |d| when it is none between |min| and
 * |max|.
 */
struct api_number {
	const char *key;
	int64_t min;
	int64_t max;
	int64_t otherwise;
};
int api_get_number(const struct http_exchange *x, const struct api_number *number, int64_t *out,
	struct diag *d);

#endif
