/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/peers/traced.h"

#include "tests/bench/loops.h"

__attribute__((noinline)) void peer_traced(void)
{
	barrier();
}
