/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a flame graph without its page, for programs that have a page of their own. */
#ifndef TRACE_CODEC_FLAME_H
#define TRACE_CODEC_FLAME_H

struct codec;

/* It is not in the table of codecs. docs/man/proftap-flame.1 describes the format. */
extern const struct codec codec_flame_data;

#endif
