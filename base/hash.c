/* SPDX-License-Identifier: Apache-2.0 */
/* The seed; see hash.h. */
#include "base/hash.h"

#include <pthread.h>
#include <sys/random.h>

static struct hash_seed seed;

static void make_seed(void)
{
	/* Never blocks and never fails on a machine that has booted. If it does, there is no seed. */
	(void)!getrandom(&seed, sizeof seed, GRND_NONBLOCK);
	seed.start ^= 0x243f6a8885a308d3u;
	seed.factor = (seed.factor ^ 0x9e3779b97f4a7c15u) | 1;
}

const struct hash_seed *hash_seed(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_seed);
	return &seed;
}
