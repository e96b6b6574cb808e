/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between CUPTI's versions: mistakes that were made and mended, and what became allowed. A table, see version.c. */
#ifndef PLUGINS_CUDA_VERSION_H
#define PLUGINS_CUDA_VERSION_H

#include <stdint.h>

enum version_trait {
	VERSION_TOO_OLD,
	VERSION_NEEDS_BUFFERS, /* crashes when a request for a buffer is refused */
	VERSION_DISABLE_HANGS, /* when kernels are no longer to be recorded */
	VERSION_WRONG_GRAPH_CORRELATION, /* of what graphs execute, from the second session on */
	VERSION_HAS_STATE, /* tells when it has ended itself */
	VERSION_FINALIZE_IS_SAFE,
	VERSION_OLD_SUBSCRIPTION, /* knows a shorter struct cupti_subscription */
	VERSION_HAS_SAMPLING, /* of counters */
	VERSION_OLD_SAMPLING, /* knows a shorter struct pm_set_config */
	VERSION_OLD_SUPPORT, /* and pm_support */
};

int version_has(uint32_t version, enum version_trait trait);

/* VERSION_DISABLE_HANGS of the pair with |driver|: of the older one of both. */
int version_disable_hangs(uint32_t version, int driver);

#define VERSION_BYTES 32u

/* "CUDA 13.0 update 1", or "CUPTI 77" for what is not known; returns |text|. */
const char *version_format(uint32_t version, char text[VERSION_BYTES]);
/* "CUDA 13.0", of what a driver says. */
const char *version_format_driver(int version, char text[VERSION_BYTES]);

#endif
