/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy; see occupancy.h. */
#include "daemon/pipeline/devices/occupancy.h"

#include <limits.h>
#include <stdbool.h>

/* Newer architectures are treated as the newest known one. */
#define OLDEST_MAJOR 3
#define REGISTER_UNIT 256

/* No device has larger numbers. */
#define MAX_THREADS 65536u
#define MAX_AMOUNT (1u << 26)

/* The resources of a block, whatever its size. */
struct block_use {
	uint64_t warp_registers;
	uint64_t shared;
	uint64_t shared_limit;
};

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_amount(uint32_t n)
{
	return n > 0 && n <= MAX_AMOUNT;
}

static bool is_known(const struct device_info *i)
{
	return i->compute_major >= OLDEST_MAJOR && i->warp_threads && i->warp_threads <= 1024 &&
	       i->max_threads_per_block && i->max_threads_per_block <= MAX_THREADS &&
	       i->max_threads_per_core && i->max_threads_per_core <= MAX_THREADS &&
	       is_amount(i->registers_per_block) && is_amount(i->registers_per_core) &&
	       is_amount(i->shared_per_block) && is_amount(i->shared_per_core) &&
	       is_amount(i->core_count) && i->shared_per_block_optin <= MAX_AMOUNT &&
	       i->reserved_shared_per_block <= MAX_AMOUNT;
}

/* --- architectures ------------------------------------------------------------------------- */

static uint64_t find_shared_unit(const struct device_info *i)
{
	return i->compute_major < 8 ? 256 : 128;
}

/* Parts of a multiprocessor, each with registers of its own. */
static uint64_t find_partitions(const struct device_info *i)
{
	return i->compute_major == 6 && i->compute_minor == 0 ? 2 : 4;
}

static uint32_t find_max_registers(const struct device_info *i)
{
	return i->compute_major < 7 ? 255 : 256;
}

static uint64_t find_max_blocks(const struct device_info *i)
{
	if (i->max_blocks_per_core)
		return i->max_blocks_per_core;
	return i->compute_major == 3 ? 16 : 32;
}

/* --- limits, in blocks on one multiprocessor ----------------------------------------------- */

static uint64_t limit_by_registers(const struct device_info *i, const struct block_use *use,
	uint64_t warps, uint64_t partitions)
{
	/* The hardware checks as if each partition got the same number of warps of the block. */
	if (use->warp_registers * round_up(warps, partitions) > i->registers_per_block)
		return 0;
	if (!use->warp_registers)
		return INT_MAX;
	return i->registers_per_core / partitions / use->warp_registers * partitions / warps;
}

/* Code for one Pascal device runs on all of them, so the block must also fit 4 partitions. */
static uint64_t limit_by_all_registers(
	const struct device_info *i, const struct block_use *use, uint64_t warps)
{
	uint64_t partitions = find_partitions(i);

	if (partitions != 4 && !limit_by_registers(i, use, warps, 4))
		return 0;
	return limit_by_registers(i, use, warps, partitions);
}

static uint64_t limit_by_shared(const struct device_info *i, const struct block_use *use)
{
	if (use->shared > use->shared_limit)
		return 0;
	return use->shared ? i->shared_per_core / use->shared : INT_MAX;
}

static uint64_t count_blocks(
	const struct device_info *i, const struct block_use *use, uint64_t block_size)
{
	uint64_t warps = (block_size + i->warp_threads - 1) / i->warp_threads;
	uint64_t n = find_max_blocks(i);

	if (!block_size || block_size > i->max_threads_per_block)
		return 0;
	n = min(n, i->max_threads_per_core / i->warp_threads / warps);
	n = min(n, limit_by_all_registers(i, use, warps));
	return min(n, limit_by_shared(i, use));
}

/* --- a launch ------------------------------------------------------------------------------ */

/* A block has more shared memory than the default only if its kernel was allowed to have it. */
static uint64_t find_shared_limit(const struct device_info *i, const struct device_kernel *k)
{
	uint64_t reserved = i->compute_major >= 8 ? i->reserved_shared_per_block : 0;

	if (i->compute_major >= 7 && k->dynamic_shared > i->shared_per_block)
		return i->shared_per_block_optin + reserved;
	return i->shared_per_block + reserved;
}

static struct block_use find_use(const struct device_info *i, const struct device_kernel *k)
{
	uint64_t shared =
		(uint64_t)k->static_shared + k->dynamic_shared + i->reserved_shared_per_block;

	return (struct block_use){
		.warp_registers = round_up((uint64_t)k->registers * i->warp_threads, REGISTER_UNIT),
		.shared = round_up(shared, find_shared_unit(i)),
		.shared_limit = find_shared_limit(i, k),
	};
}

/* Finds the block size with the most threads at once; of several the largest. */
static void suggest_block_size(
	const struct device_info *i, const struct block_use *use, struct occupancy *o)
{
	uint64_t most = 0;

	for (uint64_t warps = (i->max_threads_per_block + i->warp_threads - 1) / i->warp_threads;
		warps && most < i->max_threads_per_core; warps--) {
		uint64_t size = min(warps * i->warp_threads, i->max_threads_per_block);
		uint64_t n_blocks = count_blocks(i, use, size);

		if (size * n_blocks <= most)
			continue;
		most = size * n_blocks;
		o->block_size = (int)size;
		o->min_grid = (int)min(n_blocks * i->core_count, INT_MAX);
	}
}

struct occupancy occupancy_find(const struct device_info *info, const struct device_kernel *kernel)
{
	uint64_t size = (uint64_t)kernel->block[0] * kernel->block[1] * kernel->block[2];
	struct occupancy o = {0, 0, 0};
	struct block_use use;

	if (!is_known(info) || kernel->registers > find_max_registers(info))
		return o;
	use = find_use(info, kernel);
	o.percent =
		(double)(count_blocks(info, &use, size) * size) * 100 / info->max_threads_per_core;
	suggest_block_size(info, &use, &o);
	return o;
}
