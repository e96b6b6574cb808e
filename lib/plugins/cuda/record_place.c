/* SPDX-License-Identifier: Apache-2.0 */
/* Where work is done: contexts, which belong to a device, and the streams in them. */
#include "lib/plugins/cuda/contexts.h"
#include "lib/plugins/cuda/record_layout.h"
#include "lib/plugins/cuda/records.h"

int record_read_context(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct context_record *c = record;

	(void)to;
	contexts_note(r->contexts, c->context, c->device);
	return 0;
}

int record_read_stream(struct records *r, const void *record, struct ptap_device_record *to)
{
	const struct stream_record *s = record;
	uint32_t device = contexts_find(r->contexts, s->context);

	/* Where it is will be seen by what is done in it. */
	if (device == CONTEXTS_UNKNOWN || device > UINT16_MAX || device >= r->n_devices)
		return 0;
	to->device = (uint16_t)device;
	to->context = s->context;
	to->stream = s->stream;
	to->of.stream = (struct ptap_device_stream){.priority = s->priority, .flags = s->flags};
	return 1;
}
