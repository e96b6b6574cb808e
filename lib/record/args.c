/* SPDX-License-Identifier: Apache-2.0 */
/* Writes arguments into slots; see args.h. */
#define PTAP_IMPL_BUILDING
#include "lib/record/args.h"

#include <proftap/proftap.h>
#include <string.h>

#include "base/utf8.h"
#include "lib/record/emit.h"
#include "lib/record/slow_path.h"

/* bytes; a run-time name of this length takes 1 + 16 slots */
#define NAME_MAX_BYTES 255u

static uint32_t write_cut_text(struct ring *ring, struct slot *slots, uint32_t room, uint32_t key,
	enum slot_type type, const char *text, uint32_t max_bytes)
{
	uint32_t fits = room ? 8u + (room - 1u) * SLOT_BYTES : 0;
	uint32_t limit = fits < max_bytes ? fits : max_bytes;
	uint32_t n_mark = 0;
	uint32_t n;
	uint32_t count;

	if (!text)
		text = "(null)";
	n = (uint32_t)strnlen(text, limit + 1u);
	if (n > limit)
		count_loss(ring, LOSS_CUT);
	if (!room)
		return 0;
	if (n > limit) {
		n_mark = UTF8_CUT_BYTES;
		n = (uint32_t)utf8_cut(text, limit - n_mark);
	}
	count = slot_count_for_text(n + n_mark);
	slots[0].word[0] = slot_word0(key, type, n + n_mark);
	slots[0].word[1] = 0;
	memset(slots + 1, 0, (count - 1u) * sizeof *slots);
	memcpy(&slots[0].word[1], text, n);
	memcpy((char *)&slots[0].word[1] + n, UTF8_CUT, n_mark);
	return count;
}

uint32_t args_write_text(
	struct ring *ring, struct slot *slots, uint32_t room, uint32_t key, const char *text)
{
	return write_cut_text(
		ring, slots, room, key, SLOT_TEXT, text, RECORD_MAX_EXTRA * SLOT_BYTES);
}

uint32_t args_write_name(struct ring *ring, struct slot *slots, const char *name)
{
	return write_cut_text(
		ring, slots, RECORD_MAX_EXTRA, 0, SLOT_NAME, name ? name : "", NAME_MAX_BYTES);
}

static uint32_t get_key_id(struct ptap_impl_site *site, unsigned i, const char *key)
{
	uint32_t id = __atomic_load_n(&site->arg_ids[i], __ATOMIC_ACQUIRE);

	return unlikely(!id) ? site_register(&site->arg_ids[i], key) : id;
}

uint32_t args_write(struct ring *ring, struct slot *slots, struct ptap_impl_site *site,
	const struct ptap_impl_arg *args, unsigned n_args)
{
	uint32_t n = 0;

	if (n_args > PTAP_IMPL_MAX_ARGS) {
		count_loss(ring, LOSS_CUT);
		n_args = PTAP_IMPL_MAX_ARGS;
	}
	/* If the word changes the caller drops the entry, so the loop may stop early. */
	for (unsigned i = 0; i < n_args && word_is_current(thread_self.word); i++) {
		uint32_t key = get_key_id(site, i, args[i].key);
		/*
		 * One slot stays free for each later argument, so that a long text cuts only
		 * itself.
		 */
		uint32_t room = RECORD_MAX_EXTRA - n - (n_args - 1u - i);

		if (args[i].type == PTAP_IMPL_STR)
			n += args_write_text(ring, slots + n, room, key, args[i].value.s);
		else
			slots[n++] = args_number(key, &args[i]);
	}
	return n;
}
