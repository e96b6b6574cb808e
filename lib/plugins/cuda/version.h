/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The differences between CUPTI's versions: bugs and their fixes, and new features. version.c has
 * the table.
 */
#ifndef PLUGINS_CUDA_VERSION_H
#define PLUGINS_CUDA_VERSION_H

#include <stdbool.h>
#include <stdint.h>

enum version_trait {
	VERSION_TOO_OLD,
	VERSION_NEEDS_BUFFERS, /* it crashes when a request for a buffer is refused */
	VERSION_DISABLE_HANGS, /* it may hang when kernels are disabled */
	VERSION_WRONG_GRAPH_CORRELATION, /* in activities of graphs, from the second session on */
	VERSION_HAS_STATE, /* it reports its own fatal error */
	VERSION_FINALIZE_IS_SAFE,
	VERSION_OLD_SUBSCRIPTION, /* it has a shorter struct cupti_subscription */
	VERSION_HAS_SAMPLING, /* it can sample counters */
	VERSION_OLD_SAMPLING, /* it has a shorter struct pm_set_config */
	VERSION_OLD_SUPPORT, /* it has a shorter struct pm_support */
};

bool version_has(uint32_t version, enum version_trait trait);

/* VERSION_DISABLE_HANGS for the pair of CUPTI and |driver|: the older one of both decides. */
bool version_disable_hangs(uint32_t version, int driver);

#define VERSION_BYTES 32u

/* Writes "CUDA 13.0 update 1", or "CUPTI 77" for an unknown version; returns |text|. */
const char *version_format(uint32_t version, char text[VERSION_BYTES]);
/* Writes "CUDA 13.0" for a driver's version. */
const char *version_format_driver(int version, char text[VERSION_BYTES]);

#endif
