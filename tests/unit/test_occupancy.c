/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how full a launch makes a multiprocessor, against the results of NVIDIA's own calculator
 * (cuda_occupancy.h of CUDA 13.0).
 */
#include "daemon/pipeline/devices/occupancy.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

/* Devices with the numbers that the driver reports. */
#define DEVICE(major, minor, cores, threads, blocks, optin, shared, reserved)              \
	{                                                                                  \
		.compute_major = (major), .compute_minor = (minor), .core_count = (cores), \
		.warp_threads = 32, .max_threads_per_block = 1024,                         \
		.max_threads_per_core = (threads), .max_blocks_per_core = (blocks),        \
		.registers_per_block = 65536, .registers_per_core = 65536,                 \
		.shared_per_block = 49152, .shared_per_block_optin = (optin),              \
		.shared_per_core = (shared), .reserved_shared_per_block = (reserved),      \
	}

static const struct device_info h100 = DEVICE(9, 0, 132, 2048, 32, 232448, 233472, 1024);
static const struct device_info a100 = DEVICE(8, 0, 108, 2048, 32, 166912, 167936, 1024);
static const struct device_info l4 = DEVICE(8, 9, 58, 1536, 24, 101376, 102400, 1024);
static const struct device_info t4 = DEVICE(7, 5, 40, 1024, 16, 65536, 65536, 0);
static const struct device_info p100 = DEVICE(6, 0, 56, 2048, 32, 49152, 65536, 0);
static const struct device_info k80 = {.compute_major = 3,
	.compute_minor = 7,
	.core_count = 13,
	.warp_threads = 32,
	.max_threads_per_block = 1024,
	.max_threads_per_core = 2048,
	.max_blocks_per_core = 16,
	.registers_per_block = 65536,
	.registers_per_core = 131072,
	.shared_per_block = 49152,
	.shared_per_core = 114688};
static const struct device_info rtx5090 = DEVICE(12, 0, 170, 1536, 24, 101376, 102400, 1024);

static const struct {
	const struct device_info *info;
	uint16_t block;
	uint16_t registers;
	uint32_t static_shared;
	uint32_t dynamic_shared;
	double percent;
	int min_grid;
	int block_size;
} rows[] = {
	{&h100, 256, 32, 0, 0, 100, 264, 1024},
	{&h100, 256, 64, 0, 0, 50, 132, 1024},
	{&h100, 1024, 65, 0, 0, 0, 132, 896},
	{&h100, 128, 255, 0, 0, 12.5, 132, 256},
	{&h100, 96, 40, 1000, 0, 75, 264, 768},
	{&h100, 128, 168, 0, 200000, 6.25, 132, 384},
	{&h100, 384, 168, 1024, 98304, 18.75, 132, 384},
	{&h100, 32, 16, 0, 0, 50, 264, 1024},
	{&h100, 512, 32, 0, 49152, 100, 264, 1024},
	{&h100, 1000, 33, 48, 0, 48.828125, 264, 768},
	{&h100, 64, 0, 0, 0, 100, 264, 1024},
	{&h100, 64, 16, 0, 7200, 87.5, 264, 1024},
	{&k80, 800, 80, 0, 0, 0, 26, 768},
	{&k80, 256, 64, 0, 0, 100, 26, 1024},
	{&a100, 128, 168, 0, 200000, 0, 0, 0},
	{&a100, 384, 168, 1024, 98304, 18.75, 108, 384},
	{&a100, 512, 32, 0, 49152, 75, 216, 1024},
	{&l4, 256, 32, 0, 0, 100, 116, 768},
	{&l4, 256, 64, 0, 0, 66.66666667, 58, 1024},
	{&l4, 384, 168, 1024, 98304, 25, 58, 384},
	{&l4, 1000, 33, 48, 0, 65.10416667, 116, 768},
	{&t4, 256, 64, 0, 0, 100, 40, 1024},
	{&t4, 96, 40, 1000, 0, 93.75, 40, 1024},
	{&t4, 1000, 33, 48, 0, 97.65625, 40, 1024},
	{&p100, 128, 255, 0, 0, 12.5, 56, 256},
	{&p100, 96, 40, 1000, 0, 75, 112, 800},
	{&p100, 512, 32, 0, 49152, 25, 56, 1024},
	{&rtx5090, 256, 64, 0, 0, 66.66666667, 170, 1024},
	{&rtx5090, 32, 16, 0, 0, 50, 340, 768},
};

static struct occupancy find(const struct device_info *info, uint16_t block)
{
	struct device_kernel kernel = {.block = {block, 1, 1}, .registers = 32};

	return occupancy_find(info, &kernel);
}

START_TEST(equals_the_result_of_the_vendors_calculator)
{
	struct device_kernel kernel = {
		.block = {rows[_i].block, 1, 1},
		.registers = rows[_i].registers,
		.static_shared = rows[_i].static_shared,
		.dynamic_shared = rows[_i].dynamic_shared,
	};
	struct occupancy o = occupancy_find(rows[_i].info, &kernel);

	ck_assert_double_eq_tol(o.percent, rows[_i].percent, 1e-6);
	ck_assert_int_eq(o.min_grid, rows[_i].min_grid);
	ck_assert_int_eq(o.block_size, rows[_i].block_size);
}
END_TEST

START_TEST(counts_all_threads_of_a_block)
{
	struct device_kernel kernel = {.block = {16, 8, 2}, .registers = 64};

	ck_assert_double_eq(occupancy_find(&h100, &kernel).percent, 50);
}
END_TEST

START_TEST(knows_nothing_of_an_unknown_device)
{
	struct device_info info = {.core_count = 0};
	struct occupancy o = find(&info, 256);

	ck_assert_double_eq(o.percent, 0);
	ck_assert_int_eq(o.min_grid, 0);
	ck_assert_int_eq(o.block_size, 0);
}
END_TEST

/* A device newer than the newest known one is treated like that one. */
START_TEST(takes_a_newer_device_for_the_newest)
{
	struct device_info info = h100;

	info.compute_major = 40;
	ck_assert_double_eq(find(&info, 256).percent, 100);
}
END_TEST

START_TEST(cannot_run_a_block_that_is_too_large)
{
	ck_assert_double_eq(find(&h100, 1025).percent, 0);
	ck_assert_double_eq(find(&h100, 0).percent, 0);
}
END_TEST

/* Any values of a program give a number, and no trap. */
START_TEST(survives_any_numbers)
{
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct device_info info;
		struct device_kernel kernel;
		uint8_t *bytes = (uint8_t *)&info;

		for (size_t k = 0; k < sizeof info; k++)
			bytes[k] = (uint8_t)(rand() % 4 ? rand() : 0);
		bytes = (uint8_t *)&kernel;
		for (size_t k = 0; k < sizeof kernel; k++)
			bytes[k] = (uint8_t)rand();
		if (i % 2)
			info = h100;
		if (i % 4 == 1)
			info.max_threads_per_core = (uint32_t)rand() % 70000;
		ck_assert(isfinite(occupancy_find(&info, &kernel).percent));
	}
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_LOOP(equals_the_result_of_the_vendors_calculator, sizeof rows / sizeof *rows),
	UNIT_TEST(counts_all_threads_of_a_block),
	UNIT_TEST(knows_nothing_of_an_unknown_device),
	UNIT_TEST(takes_a_newer_device_for_the_newest),
	UNIT_TEST(cannot_run_a_block_that_is_too_large),
	UNIT_TEST(survives_any_numbers),
	{NULL},
};

UNIT_MAIN("occupancy", .tests = tests)
