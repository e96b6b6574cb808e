/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a flame graph, which trace/codec/flame_page makes of the host daemon's page. */
#ifndef TRACE_CODEC_FLAME_PAGE_H
#define TRACE_CODEC_FLAME_PAGE_H

#include <stddef.h>

/* The page's bytes before and behind its data. */
extern const unsigned char flame_page_head[];
extern const size_t n_flame_page_head;
extern const unsigned char flame_page_tail[];
extern const size_t n_flame_page_tail;

#endif
