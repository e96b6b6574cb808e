/* SPDX-License-Identifier: Apache-2.0 */
/* What schema.c and layout.c have in common. */
#ifndef INJECT_NVTX_LAYOUT_H
#define INJECT_NVTX_LAYOUT_H

#include <stdint.h>

struct nvtx_domain;
struct nvtx_layout;

/* Makes |layout|, which is complete, findable by |id|, or by one that it gets. Returns that, or 0: it is another one's. */
uint64_t nvtx_layout_add(
	struct nvtx_layout *layout, const struct nvtx_domain *domain, int has_id, uint64_t id);

/* A copy of |name| for good, or NULL: no room. */
const char *nvtx_layout_keep_name(const char *name);

#endif
