/* SPDX-License-Identifier: Apache-2.0 */
/* A protobuf message as a line of text, for people. */
#ifndef DAEMON_MESSAGE_TEXT_H
#define DAEMON_MESSAGE_TEXT_H

#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

/*
 * Writes the fields that are set in |message| and in its members: "duration_ms=500
 * host_tracer_level=2". An entry of a map is written as KEY=VALUE. The text is cut to |n| bytes,
 * and is printable even if the message is not.
 */
void message_text_write(const ProtobufCMessage *message, char *out, size_t n);

#endif
