/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of decoding the records of perf events. */
#include "daemon/pipeline/samples/perf_record.h"

#include <check.h>
#include <string.h>

#include "tests/unit/unit.h"

#define STACK_BYTES 64
#define N_X86_REGISTERS 20

static const struct perf_layout stack_layout = {&perf_x86_64,
	PERF_SAMPLED_ALWAYS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 1001001};
static const struct perf_layout chain_layout = {
	&perf_x86_64, PERF_SAMPLED_ALWAYS | PERF_SAMPLE_CALLCHAIN, 0};
static const struct perf_layout linked_layout = {
	&perf_aarch64, PERF_SAMPLED_ALWAYS | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER, 0};

/* --- writing records -------------------------------------------------------------------------- */

/* The record that is built, at the end of its room, so that a sanitizer finds reads beyond it. */
static uint8_t record[1024];
static size_t n_record;

static void put(const void *bytes, size_t n)
{
	ck_assert_uint_le(n_record + n, sizeof record);
	memcpy(record + n_record, bytes, n);
	n_record += n;
}

static void put_u32(uint32_t v)
{
	put(&v, sizeof v);
}

static void put_u64(uint64_t v)
{
	put(&v, sizeof v);
}

static void begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {type, misc, 0};

	n_record = 0;
	put(&header, sizeof header);
}

static void set_size(size_t n)
{
	uint16_t size = (uint16_t)n;

	memcpy(record + offsetof(struct perf_event_header, size), &size, sizeof size);
}

static void end(void)
{
	set_size(n_record);
}

/* Process 10, thread 11, 5000 ns, processor 3, event 77. */
static void end_with_trailer(void)
{
	put_u32(10);
	put_u32(11);
	put_u64(5000);
	put_u32(3);
	put_u32(0);
	put_u64(77);
	end();
}

static void begin_sample(uint16_t misc)
{
	begin(PERF_RECORD_SAMPLE, misc);
	put_u64(77);
	put_u64(0x401000);
	put_u32(10);
	put_u32(11);
	put_u64(5000);
	put_u32(3);
	put_u32(0);
	put_u64(1001001);
}

/* Puts registers whose values are their positions, plus 100. */
static void put_registers(uint64_t abi, size_t n)
{
	put_u64(abi);
	for (size_t i = 0; i < n; i++)
		put_u64(100 + i);
}

static void put_stack(uint64_t n_real)
{
	uint8_t bytes[STACK_BYTES];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)i;
	put_u64(sizeof bytes);
	put(bytes, sizeof bytes);
	put_u64(n_real);
}

static void write_stack_sample(uint64_t n_real)
{
	begin_sample(PERF_RECORD_MISC_USER);
	put_registers(PERF_SAMPLE_REGS_ABI_64, N_X86_REGISTERS);
	put_stack(n_real);
	end();
}

/* Decodes a copy that ends where its memory ends. */
static int decode(const struct perf_layout *layout, struct perf_record *out)
{
	static uint8_t copy[sizeof record];
	uint8_t *p = copy + sizeof copy - n_record;

	memcpy(p, record, n_record);
	memset(out, 0xaa, sizeof *out);
	return perf_record_decode(layout, p, n_record, out);
}

static void check_identity(const struct perf_record *r)
{
	ck_assert_int_eq(r->pid, 10);
	ck_assert_int_eq(r->tid, 11);
	ck_assert_int_eq(r->at_ns, 5000);
	ck_assert_uint_eq(r->cpu, 3);
	ck_assert_uint_eq(r->id, 77);
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Its period is a number of switches, and not a time. */
START_TEST(tells_samples_of_switches)
{
	struct perf_layout layout = stack_layout;
	struct perf_record r;

	write_stack_sample(40);
	layout.period_ns = 3 * 1001001;
	ck_assert_int_eq(decode(&layout, &r), 0);
	ck_assert(r.sample.is_switch);
	ck_assert_uint_eq(r.sample.period, 1001001);
	layout.period_ns = 0;
	ck_assert_int_eq(decode(&layout, &r), 0);
	ck_assert(!r.sample.is_switch);
}
END_TEST

START_TEST(decodes_a_sample_with_a_stack)
{
	struct perf_record r;

	write_stack_sample(40);
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	ck_assert_int_eq(r.kind, PERF_KIND_SAMPLE);
	check_identity(&r);
	ck_assert_uint_eq(r.sample.ip, 0x401000);
	ck_assert_uint_eq(r.sample.period, 1001001);
	ck_assert(!r.sample.is_switch);
	ck_assert(!r.sample.is_in_kernel);
	ck_assert_uint_eq(r.sample.chain.n, 0);
	ck_assert_uint_eq(r.sample.registers.bits, 64);
	ck_assert_uint_eq(r.sample.registers.n, N_X86_REGISTERS);
	ck_assert_uint_eq(r.sample.registers.v[19], 119);
	ck_assert_uint_eq(r.sample.n_stack_bytes, 40);
	ck_assert_uint_eq(r.sample.stack[39], 39);
	ck_assert(!r.sample.is_stack_cut);
}
END_TEST

START_TEST(marks_a_full_copy_as_cut)
{
	struct perf_record r;

	write_stack_sample(STACK_BYTES);
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	ck_assert(r.sample.is_stack_cut);
	ck_assert_uint_eq(r.sample.n_stack_bytes, STACK_BYTES);
}
END_TEST

START_TEST(decodes_a_sample_of_a_thread_without_memory)
{
	struct perf_record r;

	begin_sample(PERF_RECORD_MISC_KERNEL);
	put_registers(PERF_SAMPLE_REGS_ABI_NONE, 0);
	put_u64(0);
	end();
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	ck_assert(r.sample.is_in_kernel);
	ck_assert_uint_eq(r.sample.registers.bits, 0);
	ck_assert_uint_eq(r.sample.registers.n, 0);
	ck_assert_uint_eq(perf_registers_get(&r.sample.registers, PERF_REGISTER_IP), 0);
	ck_assert_ptr_null(r.sample.stack);
	ck_assert_uint_eq(r.sample.n_stack_bytes, 0);
	ck_assert(!r.sample.is_stack_cut);
}
END_TEST

START_TEST(decodes_a_sample_with_a_chain)
{
	struct perf_record r;

	begin_sample(PERF_RECORD_MISC_USER);
	put_u64(3);
	put_u64((uint64_t)PERF_CONTEXT_USER);
	put_u64(0x401000);
	put_u64(0x402000);
	end();
	ck_assert_int_eq(decode(&chain_layout, &r), 0);
	check_identity(&r);
	ck_assert_uint_eq(r.sample.chain.n, 3);
	ck_assert(perf_words_get(&r.sample.chain, 0) >= (uint64_t)PERF_CONTEXT_MAX);
	ck_assert_uint_eq(perf_words_get(&r.sample.chain, 1), r.sample.ip);
	ck_assert_uint_eq(perf_words_get(&r.sample.chain, 2), 0x402000);
	ck_assert_ptr_null(r.sample.stack);
}
END_TEST

/* The kernel's numbers: <asm/perf_regs.h> of both processors. */
START_TEST(names_registers_of_x86_64)
{
	struct perf_record r;

	write_stack_sample(8);
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	ck_assert_uint_eq(perf_registers_get(&r.sample.registers, PERF_REGISTER_FP), 106);
	ck_assert_uint_eq(perf_registers_get(&r.sample.registers, PERF_REGISTER_SP), 107);
	ck_assert_uint_eq(perf_registers_get(&r.sample.registers, PERF_REGISTER_IP), 108);
	ck_assert_uint_eq(perf_registers_get(&r.sample.registers, PERF_REGISTER_LR), 0);
	/* r8 has the number 16, but the segments' bases between them are not in the record. */
	ck_assert_uint_eq(r.sample.registers.v[12], 112);
}
END_TEST

START_TEST(names_registers_of_aarch64)
{
	struct perf_record r;

	begin_sample(PERF_RECORD_MISC_USER);
	put_u64(0);
	put_registers(PERF_SAMPLE_REGS_ABI_64, 33);
	end();
	ck_assert_int_eq(decode(&linked_layout, &r), 0);
	ck_assert_uint_eq(r.sample.registers.n, 33);
	ck_assert_uint_eq(perf_registers_get(&r.sample.registers, PERF_REGISTER_FP), 129);
	ck_assert_uint_eq(perf_registers_get(&r.sample.registers, PERF_REGISTER_LR), 130);
	ck_assert_uint_eq(perf_registers_get(&r.sample.registers, PERF_REGISTER_SP), 131);
	ck_assert_uint_eq(perf_registers_get(&r.sample.registers, PERF_REGISTER_IP), 132);
}
END_TEST

START_TEST(tells_programs_of_32_bits)
{
	struct perf_record r;

	begin_sample(PERF_RECORD_MISC_USER);
	put_registers(PERF_SAMPLE_REGS_ABI_32, N_X86_REGISTERS);
	put_stack(8);
	end();
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	ck_assert_uint_eq(r.sample.registers.bits, 32);
}
END_TEST

/* --- other records ---------------------------------------------------------------------------- */

static const struct {
	uint16_t misc;
	enum perf_switch change;
} switches[] = {
	{0, PERF_SWITCH_IN},
	{PERF_RECORD_MISC_SWITCH_OUT, PERF_SWITCH_OUT},
	{PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, PERF_SWITCH_PREEMPTED},
};

START_TEST(decodes_a_switch)
{
	struct perf_record r;

	begin(PERF_RECORD_SWITCH, switches[_i].misc);
	end_with_trailer();
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	ck_assert_int_eq(r.kind, PERF_KIND_SWITCH);
	ck_assert_int_eq(r.change, switches[_i].change);
	check_identity(&r);
}
END_TEST

static void write_comm(uint16_t misc)
{
	begin(PERF_RECORD_COMM, misc);
	put_u32(20);
	put_u32(21);
	put("worker\0", 8);
	end_with_trailer();
}

/* Another thread may set the name, and the record is about the named one. */
START_TEST(decodes_a_name)
{
	struct perf_record r;

	write_comm(PERF_RECORD_MISC_USER | (_i ? PERF_RECORD_MISC_COMM_EXEC : 0));
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	ck_assert_int_eq(r.kind, PERF_KIND_COMM);
	ck_assert_str_eq(r.comm.name, "worker");
	ck_assert(r.comm.is_exec == (_i == 1));
	ck_assert_int_eq(r.pid, 20);
	ck_assert_int_eq(r.tid, 21);
	ck_assert_int_eq(r.at_ns, 5000);
}
END_TEST

static void write_task(uint32_t type)
{
	begin(type, 0);
	put_u32(30);
	put_u32(10);
	put_u32(31);
	put_u32(11);
	put_u64(4900);
	end_with_trailer();
}

START_TEST(decodes_starts_and_ends_of_threads)
{
	struct perf_record r;

	write_task(_i ? PERF_RECORD_EXIT : PERF_RECORD_FORK);
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	ck_assert_int_eq(r.kind, _i ? PERF_KIND_EXIT : PERF_KIND_FORK);
	ck_assert_int_eq(r.task.pid, 30);
	ck_assert_int_eq(r.task.tid, 31);
	ck_assert_int_eq(r.task.parent_pid, 10);
	ck_assert_int_eq(r.task.parent_tid, 11);
	ck_assert_int_eq(r.tid, 11);
	ck_assert_int_eq(r.at_ns, 4900);
}
END_TEST

static void begin_mapping(uint16_t misc)
{
	begin(PERF_RECORD_MMAP2, misc);
	put_u32(10);
	put_u32(11);
	put_u64(0x7f0000001000);
	put_u64(0x2000);
	put_u64(0x3000);
}

static void end_mapping(void)
{
	put_u32(5); /* PROT_READ | PROT_EXEC */
	put_u32(2);
	put("/lib/a.so\0\0\0\0\0\0", 16);
	end_with_trailer();
}

static void write_mapping(void)
{
	begin_mapping(PERF_RECORD_MISC_USER);
	put_u32(8);
	put_u32(1);
	put_u64(4711);
	put_u64(99);
	end_mapping();
}

static void write_mapping_with_build_id(uint8_t n)
{
	begin_mapping(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	put((uint8_t[4]){n, 0, 0, 0}, 4);
	put("0123456789abcdefghij", PERF_BUILD_ID_MAX_BYTES);
	end_mapping();
}

static void check_mapping(const struct perf_record *r)
{
	ck_assert_int_eq(r->kind, PERF_KIND_MAPPING);
	check_identity(r);
	ck_assert_uint_eq(r->mapping.address, 0x7f0000001000);
	ck_assert_uint_eq(r->mapping.n_bytes, 0x2000);
	ck_assert_uint_eq(r->mapping.file_offset, 0x3000);
	ck_assert_uint_eq(r->mapping.protection, 5);
	ck_assert_str_eq(r->mapping.path, "/lib/a.so");
}

START_TEST(decodes_a_mapping)
{
	struct perf_record r;

	write_mapping();
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	check_mapping(&r);
	ck_assert_uint_eq(r.mapping.n_build_id_bytes, 0);
	ck_assert_uint_eq(r.mapping.device_major, 8);
	ck_assert_uint_eq(r.mapping.device_minor, 1);
	ck_assert_uint_eq(r.mapping.inode, 4711);
}
END_TEST

START_TEST(decodes_a_mapping_with_a_build_id)
{
	struct perf_record r;

	write_mapping_with_build_id(16);
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	check_mapping(&r);
	ck_assert_uint_eq(r.mapping.n_build_id_bytes, 16);
	ck_assert_mem_eq(r.mapping.build_id, "0123456789abcdef", 16);
	ck_assert_uint_eq(r.mapping.inode, 0);
}
END_TEST

static void write_lost(void)
{
	begin(PERF_RECORD_LOST, 0);
	put_u64(77);
	put_u64(1234);
	end_with_trailer();
}

static void write_lost_samples(void)
{
	begin(PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(1234);
	end_with_trailer();
}

START_TEST(decodes_losses)
{
	struct perf_record r;

	if (_i)
		write_lost();
	else
		write_lost_samples();
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	ck_assert_int_eq(r.kind, PERF_KIND_LOST);
	ck_assert_uint_eq(r.n_lost, 1234);
	check_identity(&r);
}
END_TEST

static void write_throttle(uint32_t type)
{
	begin(type, 0);
	put_u64(5000);
	put_u64(77);
	put_u64(77);
	end_with_trailer();
}

START_TEST(decodes_throttling)
{
	struct perf_record r;

	write_throttle(_i ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE);
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	ck_assert_int_eq(r.kind, _i ? PERF_KIND_UNTHROTTLE : PERF_KIND_THROTTLE);
	check_identity(&r);
}
END_TEST

static const uint32_t other_types[] = {0, PERF_RECORD_MMAP, PERF_RECORD_READ,
	PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_KSYMBOL, 1000, UINT32_MAX};

START_TEST(leaves_out_other_types)
{
	struct perf_record r;

	begin(other_types[_i], 0);
	put_u64(1);
	end();
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_UNUSED);
}
END_TEST

/* --- broken records --------------------------------------------------------------------------- */

/* Records whose length is fixed. */
static void write_fixed(int i)
{
	switch (i) {
	case 0:
		write_stack_sample(40);
		break;
	case 1:
		begin(PERF_RECORD_SWITCH, 0);
		end_with_trailer();
		break;
	case 2:
		write_task(PERF_RECORD_FORK);
		break;
	case 3:
		write_lost();
		break;
	case 4:
		write_lost_samples();
		break;
	default:
		write_throttle(PERF_RECORD_THROTTLE);
		break;
	}
}

#define N_FIXED 6

START_TEST(refuses_a_record_that_is_cut)
{
	struct perf_record r;
	size_t n;

	write_fixed(_i);
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	for (n = n_record; n-- > 0;) {
		n_record = n;
		set_size(n);
		ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
	}
}
END_TEST

START_TEST(refuses_a_record_with_bytes_after_it)
{
	struct perf_record r;

	write_fixed(_i);
	n_record += 8;
	set_size(n_record);
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
}
END_TEST

START_TEST(refuses_another_size_than_it_was_given)
{
	struct perf_record r;

	write_fixed(_i);
	set_size(n_record - 8);
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
	set_size(n_record + 8);
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
}
END_TEST

/* Numbers that do not fit to the record: 2^61 addresses would be 0 bytes, for example. */
static const uint64_t wild[] = {2, 1000, UINT16_MAX, UINT64_C(1) << 61, UINT64_MAX};

START_TEST(refuses_a_chain_beyond_the_record)
{
	struct perf_record r;

	begin_sample(PERF_RECORD_MISC_USER);
	put_u64(wild[_i]);
	end();
	ck_assert_int_eq(decode(&chain_layout, &r), PERF_BROKEN);
	put_u64(0x401000);
	end();
	ck_assert_int_eq(decode(&chain_layout, &r), PERF_BROKEN);
}
END_TEST

START_TEST(refuses_a_stack_beyond_the_record)
{
	struct perf_record r;

	begin_sample(PERF_RECORD_MISC_USER);
	put_registers(PERF_SAMPLE_REGS_ABI_64, N_X86_REGISTERS);
	put_u64(wild[_i]);
	put_u64(0);
	put_u64(0);
	end();
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
}
END_TEST

START_TEST(refuses_more_bytes_of_a_stack_than_were_copied)
{
	struct perf_record r;

	write_stack_sample(STACK_BYTES + 1);
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
	write_stack_sample(UINT64_MAX);
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
}
END_TEST

START_TEST(refuses_registers_of_an_unknown_kind)
{
	struct perf_record r;

	begin_sample(PERF_RECORD_MISC_USER);
	put_registers(3, N_X86_REGISTERS);
	put_stack(8);
	end();
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
}
END_TEST

START_TEST(refuses_a_text_without_an_end)
{
	struct perf_record r;

	begin(PERF_RECORD_COMM, 0);
	put_u32(20);
	put_u32(21);
	put("no end!!", 8);
	end_with_trailer();
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
	begin(PERF_RECORD_COMM, 0);
	put_u32(20);
	put_u32(21);
	end_with_trailer();
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
	begin_mapping(PERF_RECORD_MISC_USER);
	put("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
	put("/lib/a.s", 8);
	end_with_trailer();
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
}
END_TEST

START_TEST(refuses_a_build_id_that_is_too_long)
{
	struct perf_record r;

	write_mapping_with_build_id(PERF_BUILD_ID_MAX_BYTES);
	ck_assert_int_eq(decode(&stack_layout, &r), 0);
	write_mapping_with_build_id(PERF_BUILD_ID_MAX_BYTES + 1);
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
}
END_TEST

START_TEST(refuses_a_time_that_no_clock_reaches)
{
	uint64_t at_ns = UINT64_C(1) << 63;
	struct perf_record r;

	write_stack_sample(8);
	memcpy(record + 32, &at_ns, sizeof at_ns);
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
	write_comm(0);
	memcpy(record + n_record - 24, &at_ns, sizeof at_ns);
	ck_assert_int_eq(decode(&stack_layout, &r), PERF_BROKEN);
}
END_TEST

#define N_OF(array) (int)(sizeof(array) / sizeof *(array))

static const struct unit_test tests[] = {
	UNIT_TEST(tells_samples_of_switches),
	UNIT_TEST(decodes_a_sample_with_a_stack),
	UNIT_TEST(marks_a_full_copy_as_cut),
	UNIT_TEST(decodes_a_sample_of_a_thread_without_memory),
	UNIT_TEST(decodes_a_sample_with_a_chain),
	UNIT_TEST(names_registers_of_x86_64),
	UNIT_TEST(names_registers_of_aarch64),
	UNIT_TEST(tells_programs_of_32_bits),
	UNIT_LOOP(decodes_a_switch, N_OF(switches)),
	UNIT_LOOP(decodes_a_name, 2),
	UNIT_LOOP(decodes_starts_and_ends_of_threads, 2),
	UNIT_TEST(decodes_a_mapping),
	UNIT_TEST(decodes_a_mapping_with_a_build_id),
	UNIT_LOOP(decodes_losses, 2),
	UNIT_LOOP(decodes_throttling, 2),
	UNIT_LOOP(leaves_out_other_types, N_OF(other_types)),
	UNIT_LOOP(refuses_a_record_that_is_cut, N_FIXED),
	UNIT_LOOP(refuses_a_record_with_bytes_after_it, N_FIXED),
	UNIT_LOOP(refuses_another_size_than_it_was_given, N_FIXED),
	UNIT_LOOP(refuses_a_chain_beyond_the_record, N_OF(wild)),
	UNIT_LOOP(refuses_a_stack_beyond_the_record, N_OF(wild)),
	UNIT_TEST(refuses_more_bytes_of_a_stack_than_were_copied),
	UNIT_TEST(refuses_registers_of_an_unknown_kind),
	UNIT_TEST(refuses_a_text_without_an_end),
	UNIT_TEST(refuses_a_build_id_that_is_too_long),
	UNIT_TEST(refuses_a_time_that_no_clock_reaches),
	{NULL},
};

UNIT_MAIN("perf_record", .tests = tests)
