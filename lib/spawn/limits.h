/* SPDX-License-Identifier: Apache-2.0 */
/* What the host's limits allow. For a child between clone and exec, which shares the host's memory and limits. */
#ifndef SPAWN_LIMITS_H
#define SPAWN_LIMITS_H

#include <stdint.h>

/*
 * 0 if the limits allow a file and a mapping of |bytes|; -EFBIG, where trying would also be a signal; -ENOMEM if it is
 * large, and more than a quarter of the address space that is left: the host needs some, too.
 */
int limits_check(uint64_t bytes);

#endif
