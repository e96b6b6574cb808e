/* SPDX-License-Identifier: Apache-2.0 */
/* The audit's lines; see audit.h. */
#include "daemon/host/calls/audit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/programs.h"
#include "daemon/serve/message/message_text.h"

/* systemd's catalogue identifies messages by such a number: journalctl MESSAGE_ID=… */
#define MESSAGE_ID "e57064807e3e40929c3a1f7438727385"

static void describe_request(
	struct audit *a, const struct host_method *m, const uint8_t *bytes, size_t n)
{
	ProtobufCMessage *message =
		m->request ? protobuf_c_message_unpack(m->request, NULL, n, bytes) : NULL;

	if (!message)
		return;
	message_text_write(message, a->options, sizeof a->options);
	protobuf_c_message_free_unpacked(message, NULL);
}

void audit_begin(struct rpc_call *call, const uint8_t *bytes, size_t n)
{
	const char *path = rpc_call_get_method(call)->path;
	struct audit *a = calloc(1, sizeof *a);

	if (!a) {
		log_error(LOG_AUDIT, "%s: out of memory", path);
		return;
	}
	a->what = strrchr(path, '/') + 1;
	a->begun_ns = monotonic_ns();
	a->is_read_only = (host_method_of(call)->traits & HOST_METHOD_READS) != 0;
	a->is_caller_known = !caller_know(&a->caller, rpc_call_get_connection(call));
	describe_request(a, host_method_of(call), bytes, n);
	rpc_call_set_note(call, a);
}

void audit_add_target(struct audit *a, const struct program *program)
{
	size_t n = strlen(a->target);

	snprintf(a->target + n, sizeof a->target - n, "%s%.64s (%d)", n ? ", " : "",
		program->status.name, (int)program->pid);
}

void audit_note_refusal(const struct rpc_call *call, const char *why)
{
	struct audit *a = rpc_call_get_note(call);

	if (a)
		snprintf(a->refusal, sizeof a->refusal, "%s", why);
}

void audit_note_target(const struct rpc_call *call, const struct program *program)
{
	struct audit *a = rpc_call_get_note(call);

	if (a)
		audit_add_target(a, program);
}

/* A caller gets RPC_NOT_FOUND for programs that it may not see, too. */
static bool is_refusal(enum rpc_status status)
{
	return status == RPC_NOT_FOUND || status == RPC_PERMISSION_DENIED;
}

void audit_on_answer(struct rpc_call *call, enum rpc_status status, const char *text, void *context)
{
	struct audit *a = rpc_call_get_note(call);

	(void)context;
	if (!a)
		return;
	if (status == RPC_OK && a->refusal[0]) {
		status = RPC_NOT_FOUND;
		text = a->refusal;
	}
	a->n_bytes = rpc_call_get_bytes(call);
	a->result = rpc_status_name(status);
	a->reason = text;
	rpc_call_set_note(call, NULL);
	if (!a->is_read_only || is_refusal(status))
		audit_write(a);
	free(a);
}

/* Texts of callers are printed on one line, without control characters. */
static const char *copy_printable(const char *text, char *out, size_t n)
{
	snprintf(out, n, "%s", text);
	printable_clean(out);
	return out;
}

void audit_write(const struct audit *a)
{
	char options_text[AUDIT_OPTIONS_BYTES];
	char reason_text[AUDIT_REASON_BYTES];
	char target_text[AUDIT_TARGET_BYTES];
	const char *options = copy_printable(a->options, options_text, sizeof options_text);
	const char *reason = copy_printable(a->reason, reason_text, sizeof reason_text);
	const char *target = copy_printable(a->target, target_text, sizeof target_text);
	char uid[16] = "unknown";
	char bytes[24];
	char took[24];
	const struct log_field fields[] = {
		{"MESSAGE_ID", MESSAGE_ID},
		{"PROFTAP_CALL", a->what},
		{"PROFTAP_TARGET", target},
		{"PROFTAP_UID", uid},
		{"PROFTAP_PEER", a->caller.peer},
		{"PROFTAP_OPTIONS", options},
		{"PROFTAP_RESULT", a->result},
		{"PROFTAP_REASON", reason},
		{"PROFTAP_TOOK_MS", took},
		{"PROFTAP_BYTES", bytes},
	};

	if (a->is_caller_known)
		snprintf(uid, sizeof uid, "%u", (unsigned)a->caller.uid);
	snprintf(bytes, sizeof bytes, "%" PRIu64, a->n_bytes);
	snprintf(took, sizeof took, "%" PRId64, (monotonic_ns() - a->begun_ns) / NS_PER_MS);
	log_write_fields(LOG_LEVEL_INFO, LOG_AUDIT, fields, sizeof fields / sizeof *fields,
		"%s of %s by uid %s (%s): %s%s%s; %s bytes, %s ms%s%s", a->what,
		target[0] ? target : "no program", uid, a->caller.peer, a->result,
		reason[0] ? ": " : "", reason, bytes, took, options[0] ? "; " : "", options);
}
