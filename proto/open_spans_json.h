/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenSpansReply as JSON, for both proftap ps --json and the host daemon's API
 * (docs/man/proftap-ps.1).
 */
#ifndef PROTO_OPEN_SPANS_JSON_H
#define PROTO_OPEN_SPANS_JSON_H

#include "proftap/v1/profiler.pb-c.h"

struct json;

/* Adds the members "at_unix_ns" and "processes" to the current object. */
void open_spans_json_write(struct json *j, const Proftap__V1__OpenSpansReply *reply);

#endif
