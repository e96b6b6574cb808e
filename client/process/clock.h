/* SPDX-License-Identifier: Apache-2.0 */
/* The monotonic clock in milliseconds, the unit of the client's timeouts. */
#ifndef CLIENT_CLOCK_H
#define CLIENT_CLOCK_H

#include "base/clock.h"

static inline int64_t clock_monotonic_ms(void)
{
	return monotonic_ns() / NS_PER_MS;
}

#endif
