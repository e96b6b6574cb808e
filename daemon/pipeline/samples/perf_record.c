/* SPDX-License-Identifier: Apache-2.0 */
/* Records of perf events; see perf_record.h and perf_event_open(2). */
#include "daemon/pipeline/samples/perf_record.h"

#include <string.h>

/* Since Linux 4.17 and 5.12. */
#ifndef PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT (1 << 14)
#endif
#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

const struct perf_processor perf_x86_64 = {
	.mask = 0xff0fff, /* all but the bases of segments */
	.number = {[PERF_REGISTER_IP] = 8,
		[PERF_REGISTER_SP] = 7,
		[PERF_REGISTER_FP] = 6,
		[PERF_REGISTER_LR] = PERF_NO_REGISTER},
};

const struct perf_processor perf_aarch64 = {
	.mask = 0x1ffffffff,
	.number = {[PERF_REGISTER_IP] = 32,
		[PERF_REGISTER_SP] = 31,
		[PERF_REGISTER_FP] = 29,
		[PERF_REGISTER_LR] = 30},
};

const struct perf_processor *perf_processor_get_own(void)
{
#if defined(__x86_64__)
	return &perf_x86_64;
#elif defined(__aarch64__)
	return &perf_aarch64;
#else
	return NULL;
#endif
}

uint64_t perf_registers_get(const struct perf_registers *r, enum perf_register which)
{
	unsigned number = r->n ? r->processor->number[which] : PERF_NO_REGISTER;
	uint64_t bit = number < PERF_NO_REGISTER ? UINT64_C(1) << number : 0;

	if (!r->n || !(r->processor->mask & bit))
		return 0;
	return r->v[__builtin_popcountll(r->processor->mask & (bit - 1))];
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* The part of a record that was not read yet. */
struct perf_bytes {
	const uint8_t *p;
	size_t n;
	bool is_broken; /* more was asked for than there is, or a field makes no sense */
};

/* Takes |n| bytes; NULL, and nothing is left, if there are fewer. */
static const uint8_t *bytes_take(struct perf_bytes *b, uint64_t n)
{
	const uint8_t *p = b->p;

	if (n > b->n) {
		b->is_broken = true;
		b->n = 0;
		return NULL;
	}
	b->p += n;
	b->n -= n;
	return p;
}

static uint32_t bytes_take_u32(struct perf_bytes *b)
{
	const uint8_t *p = bytes_take(b, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof v);
	return v;
}

static uint64_t bytes_take_u64(struct perf_bytes *b)
{
	const uint8_t *p = bytes_take(b, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof v);
	return v;
}

/* Takes the rest, which is a text and its padding; "" if it is not terminated. */
static const char *bytes_take_text(struct perf_bytes *b)
{
	const char *text = (const char *)b->p;

	if (!b->n || !memchr(text, '\0', b->n)) {
		b->is_broken = true;
		text = "";
	}
	b->n = 0;
	return text;
}

/* --- fields of all records -------------------------------------------------------------------- */

static void take_thread(struct perf_bytes *b, struct perf_record *out)
{
	out->pid = (pid_t)bytes_take_u32(b);
	out->tid = (pid_t)bytes_take_u32(b);
}

/* No clock reaches a time beyond INT64_MAX. */
static void take_time(struct perf_bytes *b, struct perf_record *out)
{
	uint64_t at_ns = bytes_take_u64(b);

	b->is_broken |= at_ns > INT64_MAX;
	out->at_ns = (int64_t)at_ns;
}

static void take_cpu(struct perf_bytes *b, struct perf_record *out)
{
	out->cpu = bytes_take_u32(b);
	bytes_take_u32(b); /* reserved */
}

/* All records but samples end with these (sample_id_all), so that they are read from the end. */
#define TRAILER_BYTES 32

static void take_trailer(struct perf_bytes *b, struct perf_record *out)
{
	struct perf_bytes trailer = {b->p, b->n, false};

	if (b->n < TRAILER_BYTES) {
		b->is_broken = true;
		return;
	}
	b->n -= TRAILER_BYTES;
	trailer.p += b->n;
	trailer.n = TRAILER_BYTES;
	take_thread(&trailer, out);
	take_time(&trailer, out);
	take_cpu(&trailer, out);
	out->id = bytes_take_u64(&trailer);
	b->is_broken |= trailer.is_broken;
}

/* --- samples ---------------------------------------------------------------------------------- */

static void take_chain(struct perf_bytes *b, struct perf_words *out)
{
	uint64_t n = bytes_take_u64(b);

	/* A record has less than 64 KiB, so a larger number would only overflow here. */
	out->bytes = bytes_take(b, n > UINT16_MAX ? UINT64_MAX : 8 * n);
	out->n = out->bytes ? (size_t)n : 0;
}

static void take_registers(
	struct perf_bytes *b, const struct perf_processor *processor, struct perf_registers *out)
{
	static const unsigned bits[] = {[PERF_SAMPLE_REGS_ABI_NONE] = 0,
		[PERF_SAMPLE_REGS_ABI_32] = 32,
		[PERF_SAMPLE_REGS_ABI_64] = 64};
	uint64_t abi = bytes_take_u64(b);

	out->processor = processor;
	if (abi >= sizeof bits / sizeof *bits) {
		b->is_broken = true;
		return;
	}
	out->bits = bits[abi];
	out->n = out->bits ? (size_t)__builtin_popcountll(processor->mask) : 0;
	for (size_t i = 0; i < out->n; i++)
		out->v[i] = bytes_take_u64(b);
}

/* The copy always has the size that was asked for; the number of its real bytes stands behind. */
static void take_stack(struct perf_bytes *b, struct perf_sample *out)
{
	uint64_t size = bytes_take_u64(b);
	uint64_t n_real;

	if (!size) /* a kernel thread, or one whose memory is gone */
		return;
	out->stack = bytes_take(b, size);
	n_real = bytes_take_u64(b);
	if (!out->stack || n_real > size) {
		b->is_broken = true;
		return;
	}
	out->n_stack_bytes = (size_t)n_real;
	out->is_stack_cut = n_real == size;
}

static bool mode_is_kernel(uint16_t misc)
{
	unsigned mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_HYPERVISOR ||
	       mode == PERF_RECORD_MISC_GUEST_KERNEL;
}

static void decode_sample(const struct perf_layout *layout, struct perf_bytes *b, uint16_t misc,
	struct perf_record *out)
{
	struct perf_sample *sample = &out->sample;

	memset(sample, 0, sizeof *sample);
	sample->is_in_kernel = mode_is_kernel(misc);
	out->id = bytes_take_u64(b);
	sample->ip = bytes_take_u64(b);
	take_thread(b, out);
	take_time(b, out);
	take_cpu(b, out);
	sample->period = bytes_take_u64(b);
	sample->is_switch = sample->period < layout->period_ns / 2;
	if (layout->sample_type & PERF_SAMPLE_CALLCHAIN)
		take_chain(b, &sample->chain);
	if (layout->sample_type & PERF_SAMPLE_REGS_USER)
		take_registers(b, layout->processor, &sample->registers);
	if (layout->sample_type & PERF_SAMPLE_STACK_USER)
		take_stack(b, sample);
}

/* --- other records ---------------------------------------------------------------------------- */

static void decode_switch(struct perf_bytes *b, uint16_t misc, struct perf_record *out)
{
	(void)b;
	out->change = !(misc & PERF_RECORD_MISC_SWITCH_OUT)	   ? PERF_SWITCH_IN
		      : misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? PERF_SWITCH_PREEMPTED
								   : PERF_SWITCH_OUT;
}

static void decode_comm(struct perf_bytes *b, uint16_t misc, struct perf_record *out)
{
	take_thread(b, out);
	out->comm.name = bytes_take_text(b);
	out->comm.is_exec = misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void decode_task(struct perf_bytes *b, uint16_t misc, struct perf_record *out)
{
	(void)misc;
	out->task.pid = (pid_t)bytes_take_u32(b);
	out->task.parent_pid = (pid_t)bytes_take_u32(b);
	out->task.tid = (pid_t)bytes_take_u32(b);
	out->task.parent_tid = (pid_t)bytes_take_u32(b);
	take_time(b, out);
}

static void take_build_id(struct perf_bytes *b, struct perf_mapping *out)
{
	const uint8_t *size = bytes_take(b, 4); /* one byte, the others are reserved */
	const uint8_t *id = bytes_take(b, PERF_BUILD_ID_MAX_BYTES);

	if (!id || *size > PERF_BUILD_ID_MAX_BYTES) {
		b->is_broken = true;
		return;
	}
	memcpy(out->build_id, id, *size);
	out->n_build_id_bytes = *size;
}

static void take_inode(struct perf_bytes *b, struct perf_mapping *out)
{
	out->device_major = bytes_take_u32(b);
	out->device_minor = bytes_take_u32(b);
	out->inode = bytes_take_u64(b);
	bytes_take_u64(b); /* the inode's generation */
}

static void decode_mapping(struct perf_bytes *b, uint16_t misc, struct perf_record *out)
{
	struct perf_mapping *mapping = &out->mapping;

	memset(mapping, 0, sizeof *mapping);
	take_thread(b, out);
	mapping->address = bytes_take_u64(b);
	mapping->n_bytes = bytes_take_u64(b);
	mapping->file_offset = bytes_take_u64(b);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		take_build_id(b, mapping);
	else
		take_inode(b, mapping);
	mapping->protection = bytes_take_u32(b);
	bytes_take_u32(b); /* MAP_… */
	mapping->path = bytes_take_text(b);
}

static void decode_lost(struct perf_bytes *b, uint16_t misc, struct perf_record *out)
{
	(void)misc;
	bytes_take_u64(b); /* the id of the event that found the ring full */
	out->n_lost = bytes_take_u64(b);
}

static void decode_lost_samples(struct perf_bytes *b, uint16_t misc, struct perf_record *out)
{
	(void)misc;
	out->n_lost = bytes_take_u64(b);
}

/* THROTTLE and UNTHROTTLE repeat the time and the id that stand in the trailer. */
static void decode_throttle(struct perf_bytes *b, uint16_t misc, struct perf_record *out)
{
	(void)misc, (void)out;
	bytes_take(b, 24);
}

static const struct {
	uint32_t type;
	enum perf_kind kind;
	void (*decode)(struct perf_bytes *b, uint16_t misc, struct perf_record *out);
} types[] = {
	{PERF_RECORD_SWITCH, PERF_KIND_SWITCH, decode_switch},
	{PERF_RECORD_COMM, PERF_KIND_COMM, decode_comm},
	{PERF_RECORD_FORK, PERF_KIND_FORK, decode_task},
	{PERF_RECORD_EXIT, PERF_KIND_EXIT, decode_task},
	{PERF_RECORD_MMAP2, PERF_KIND_MAPPING, decode_mapping},
	{PERF_RECORD_LOST, PERF_KIND_LOST, decode_lost},
	{PERF_RECORD_LOST_SAMPLES, PERF_KIND_LOST, decode_lost_samples},
	{PERF_RECORD_THROTTLE, PERF_KIND_THROTTLE, decode_throttle},
	{PERF_RECORD_UNTHROTTLE, PERF_KIND_UNTHROTTLE, decode_throttle},
};

/* Returns 0 or PERF_UNUSED. */
static int decode_other(
	const struct perf_event_header *header, struct perf_bytes *b, struct perf_record *out)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (types[i].type != header->type)
			continue;
		out->kind = types[i].kind;
		take_trailer(b, out);
		types[i].decode(b, header->misc, out);
		return 0;
	}
	return PERF_UNUSED;
}

int perf_record_decode(
	const struct perf_layout *layout, const void *bytes, size_t n, struct perf_record *out)
{
	struct perf_bytes b = {bytes, n, false};
	struct perf_event_header header;
	const uint8_t *p = bytes_take(&b, sizeof header);
	int r = 0;

	if (!p)
		return PERF_BROKEN;
	memcpy(&header, p, sizeof header);
	if (header.size != n)
		return PERF_BROKEN;
	if (header.type == PERF_RECORD_SAMPLE) {
		out->kind = PERF_KIND_SAMPLE;
		decode_sample(layout, &b, header.misc, out);
	} else {
		r = decode_other(&header, &b, out);
	}
	if (r)
		return r;
	return b.is_broken || b.n ? PERF_BROKEN : 0;
}
