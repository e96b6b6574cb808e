/* SPDX-License-Identifier: Apache-2.0 */
/* The codecs in the table of codec.c. */
#ifndef TRACE_CODEC_FORMATS_H
#define TRACE_CODEC_FORMATS_H

#include "trace/codec/codec.h"

extern const struct codec codec_chrome;
extern const struct codec codec_csv;
extern const struct codec codec_csv_kernel_stats;
extern const struct codec codec_csv_kernels;
extern const struct codec codec_csv_summary;
extern const struct codec codec_folded;
extern const struct codec codec_ndjson;
extern const struct codec codec_perfetto;
extern const struct codec codec_pprof;
extern const struct codec codec_speedscope;
extern const struct codec codec_sqlite;

#endif
