/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a database that tell of the trace and of its parts, not of its events. */
#ifndef TRACE_CODEC_SQLITE_FACTS_H
#define TRACE_CODEC_SQLITE_FACTS_H

#include "trace/codec/sqlite_rows.h"

struct names;
struct view;

void sqlite_put_facts(struct sqlite_rows *r, const struct view *v);
/* A row for each text, whose id is its index. */
void sqlite_put_names(struct sqlite_rows *r, enum sqlite_table table, const struct names *names);

#endif
