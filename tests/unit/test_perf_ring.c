/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading rings of perf events. Most rings are plain memory that the test writes to. */
#include "daemon/pipeline/samples/perf_ring.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define RING_BYTES 131072
#define MAX_TAKEN 64

static struct perf_event_mmap_page control;
static uint8_t *data;
static struct perf_ring ring;
static struct perf_scratch scratch;

/* The records that the ring has handed out: each has a number in it, and a size. */
static struct {
	uint64_t number;
	size_t n_bytes;
	uint64_t tail; /* in the control page at that time */
} taken[MAX_TAKEN];
static size_t n_taken;

static void set_up(void)
{
	memset(&control, 0, sizeof control);
	data = malloc(RING_BYTES);
	ck_assert_ptr_nonnull(data);
	memset(data, 0xee, RING_BYTES);
	perf_ring_init(&ring, &control, data, RING_BYTES);
	n_taken = 0;
}

/* Begins at another position: the ring is empty. */
static void set_up_at(uint64_t position)
{
	control.data_head = control.data_tail = position;
	perf_ring_init(&ring, &control, data, RING_BYTES);
}

static void tear_down(void)
{
	free(data);
}

/* Writes bytes as the kernel does, but does not move the head. */
static void write_at(uint64_t position, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		data[(position + i) % RING_BYTES] = ((const uint8_t *)bytes)[i];
}

static void write_header(uint64_t position, uint16_t size)
{
	struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, size};

	write_at(position, &header, sizeof header);
}

/* Writes a record that is filled with |number|. */
static void write_record(uint64_t number, uint16_t size)
{
	write_header(control.data_head, size);
	for (size_t i = 8; i < size; i += 8)
		write_at(control.data_head + i, &number, sizeof number);
	control.data_head += size;
}

static void take(void *context, const void *record, size_t n_bytes)
{
	uint64_t number;

	ck_assert_ptr_eq(context, &ring);
	ck_assert_uint_lt(n_taken, MAX_TAKEN);
	ck_assert_uint_eq((uintptr_t)record % 8, 0);
	memcpy(&number, (const uint8_t *)record + 8, sizeof number);
	for (size_t i = 8; i < n_bytes; i += 8)
		ck_assert_mem_eq((const uint8_t *)record + i, &number, sizeof number);
	taken[n_taken].number = number;
	taken[n_taken].n_bytes = n_bytes;
	taken[n_taken].tail = control.data_tail;
	n_taken++;
}

static int drain(void)
{
	n_taken = 0;
	return perf_ring_drain(&ring, &scratch, take, &ring);
}

START_TEST(an_empty_ring_has_no_records)
{
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(n_taken, 0);
	ck_assert_uint_eq(ring.found_bytes, 0);
}
END_TEST

START_TEST(takes_records_in_order)
{
	write_record(1, 40);
	write_record(2, 16);
	write_record(3, 65528);
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(n_taken, 3);
	ck_assert_uint_eq(taken[0].number, 1);
	ck_assert_uint_eq(taken[1].number, 2);
	ck_assert_uint_eq(taken[2].number, 3);
	ck_assert_uint_eq(taken[2].n_bytes, 65528);
	ck_assert_uint_eq(ring.found_bytes, 40 + 16 + 65528);
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(n_taken, 0);
}
END_TEST

START_TEST(gives_room_back_after_each_record)
{
	write_record(1, 40);
	write_record(2, 16);
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(taken[0].tail, 0);
	ck_assert_uint_eq(taken[1].tail, 40);
	ck_assert_uint_eq(control.data_tail, 56);
}
END_TEST

/* Each position at which a record can begin near the end of the ring. */
START_TEST(joins_a_record_that_wraps)
{
	for (uint64_t rest = 8; rest <= 4096; rest += 8) {
		set_up_at(5 * (uint64_t)RING_BYTES - rest);
		write_record(rest, 2048);
		write_record(rest + 1, 40);
		ck_assert_int_eq(drain(), 0);
		ck_assert_uint_eq(n_taken, 2);
		ck_assert_uint_eq(taken[0].number, rest);
		ck_assert_uint_eq(taken[1].number, rest + 1);
		ck_assert_uint_eq(control.data_tail, control.data_head);
	}
}
END_TEST

START_TEST(joins_the_largest_record)
{
	set_up_at(RING_BYTES - 8);
	write_record(7, 65528);
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(n_taken, 1);
	ck_assert_uint_eq(taken[0].number, 7);
}
END_TEST

START_TEST(takes_a_full_ring)
{
	set_up_at(40);
	for (int i = 0; i < 2; i++)
		write_record((uint64_t)i, 65528);
	write_record(2, 16);
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(n_taken, 3);
	ck_assert_uint_eq(ring.found_bytes, RING_BYTES);
}
END_TEST

START_TEST(positions_may_overflow)
{
	set_up_at(UINT64_MAX - 23); /* 24 bytes before 2^64 */
	write_record(1, 40);
	write_record(2, 16);
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(n_taken, 2);
	ck_assert_uint_eq(control.data_tail, 32);
}
END_TEST

static void take_and_write(void *context, const void *record, size_t n_bytes)
{
	take(context, record, n_bytes);
	write_record(100, 16);
}

/* Otherwise a thread that writes as fast as we read would keep us for ever. */
START_TEST(leaves_what_comes_meanwhile_to_the_next_drain)
{
	write_record(1, 40);
	ck_assert_int_eq(perf_ring_drain(&ring, &scratch, take_and_write, &ring), 0);
	ck_assert_uint_eq(n_taken, 1);
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(n_taken, 1);
	ck_assert_uint_eq(taken[0].number, 100);
}
END_TEST

/* --- broken rings ----------------------------------------------------------------------------- */

/* After a skip, the ring goes on at the head. */
static void check_that_it_recovers(void)
{
	ck_assert_uint_eq(control.data_tail, control.data_head);
	control.data_head = (control.data_head + 7) / 8 * 8;
	set_up_at(control.data_head);
	write_record(9, 40);
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(n_taken, 1);
	ck_assert_uint_eq(taken[0].number, 9);
}

/* No record has these sizes: shorter than its header, odd, or longer than what was written. */
static const uint16_t wild_sizes[] = {0, 4, 7, 12, 41, 48, 65535};

START_TEST(skips_a_record_of_a_wrong_size)
{
	write_record(1, 16);
	write_record(2, 40);
	write_header(16, wild_sizes[_i]);
	ck_assert_int_eq(drain(), PERF_RING_BROKEN);
	ck_assert_uint_eq(n_taken, 1);
	ck_assert_uint_eq(taken[0].number, 1);
	check_that_it_recovers();
}
END_TEST

/* Behind the tail, too far ahead of it, or in the middle of a header. */
static const uint64_t wild_heads[] = {992, RING_BYTES + 1008, UINT64_MAX, 1004, 1001};

START_TEST(skips_to_a_wrong_head)
{
	set_up_at(1000);
	write_header(1000, 16);
	control.data_head = wild_heads[_i];
	ck_assert_int_eq(drain(), PERF_RING_BROKEN);
	ck_assert_uint_eq(n_taken, 0);
	check_that_it_recovers();
}
END_TEST

/* A header there could reach beyond the end of the memory. */
START_TEST(reads_nothing_at_an_odd_tail)
{
	set_up_at(RING_BYTES - 4);
	control.data_head += 16;
	ck_assert_int_eq(drain(), PERF_RING_BROKEN);
	ck_assert_uint_eq(n_taken, 0);
	check_that_it_recovers();
}
END_TEST

/* Nothing but the reader moves the tail, so another one in the control page changes nothing. */
START_TEST(keeps_its_own_tail)
{
	write_record(1, 16);
	control.data_tail = 4711;
	ck_assert_int_eq(drain(), 0);
	ck_assert_uint_eq(n_taken, 1);
	ck_assert_uint_eq(control.data_tail, 16);
}
END_TEST

/* --- the kernel's rings ----------------------------------------------------------------------- */

/* Returns an event that counts nothing, or -1. */
static int open_event(void)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.comm = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		fprintf(stderr, "not tested: perf events are refused here\n");
	return fd;
}

static void take_comm(void *context, const void *record, size_t n_bytes)
{
	struct perf_event_header header;

	memcpy(&header, record, sizeof header);
	ck_assert_uint_eq(header.size, n_bytes);
	*(size_t *)context += header.type == PERF_RECORD_COMM;
}

START_TEST(maps_a_ring_of_the_kernel)
{
	int fd = open_event();
	struct perf_ring mapped;
	size_t n_comms = 0;

	if (fd < 0)
		return;
	ck_assert_int_eq(perf_ring_map(&mapped, fd, (size_t)sysconf(_SC_PAGESIZE) * 2), 0);
	for (unsigned i = 0; i < 10000; i++) {
		char name[16];

		snprintf(name, sizeof name, "name %08x", i);
		ck_assert_int_eq(prctl(PR_SET_NAME, name), 0);
		ck_assert_int_eq(perf_ring_drain(&mapped, &scratch, take_comm, &n_comms), 0);
	}
	ck_assert_uint_eq(n_comms, 10000);
	perf_ring_unmap(&mapped);
	ck_assert_ptr_null(mapped.control);
	close(fd);
}
END_TEST

START_TEST(tells_why_a_ring_cannot_be_mapped)
{
	int fd = open_event();
	struct perf_ring mapped = {.control = NULL};

	if (fd < 0)
		return;
	ck_assert_int_eq(perf_ring_map(&mapped, fd, (size_t)sysconf(_SC_PAGESIZE) * 3), -EINVAL);
	perf_ring_unmap(&mapped);
	close(fd);
}
END_TEST

#define N_OF(array) (int)(sizeof(array) / sizeof *(array))

static const struct unit_test tests[] = {
	UNIT_TEST(an_empty_ring_has_no_records),
	UNIT_TEST(takes_records_in_order),
	UNIT_TEST(gives_room_back_after_each_record),
	UNIT_TEST(joins_a_record_that_wraps),
	UNIT_TEST(joins_the_largest_record),
	UNIT_TEST(takes_a_full_ring),
	UNIT_TEST(positions_may_overflow),
	UNIT_TEST(leaves_what_comes_meanwhile_to_the_next_drain),
	UNIT_LOOP(skips_a_record_of_a_wrong_size, N_OF(wild_sizes)),
	UNIT_LOOP(skips_to_a_wrong_head, N_OF(wild_heads)),
	UNIT_TEST(reads_nothing_at_an_odd_tail),
	UNIT_TEST(keeps_its_own_tail),
	UNIT_TEST(maps_a_ring_of_the_kernel),
	UNIT_TEST(tells_why_a_ring_cannot_be_mapped),
	{NULL},
};

UNIT_MAIN("perf_ring", .set_up = set_up, .tear_down = tear_down, .tests = tests)
