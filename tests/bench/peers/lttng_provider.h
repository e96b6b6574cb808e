/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracepoints of peer_lttng.c, without fields, as LTTng-UST wants them declared: it reads this
 * file many times.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER proftap_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/peers/lttng_provider.h"

#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	proftap_bench, span_begin, LTTNG_UST_TP_ARGS(void), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(proftap_bench, span_end, LTTNG_UST_TP_ARGS(void), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(proftap_bench, instant, LTTNG_UST_TP_ARGS(void), LTTNG_UST_TP_FIELDS())

#endif

#include <lttng/tracepoint-event.h>
