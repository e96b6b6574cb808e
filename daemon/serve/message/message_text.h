/* SPDX-License-Identifier: Apache-2.0 */
/* A message as words, for people. */
#ifndef DAEMON_MESSAGE_TEXT_H
#define DAEMON_MESSAGE_TEXT_H

#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

/*
 * What is set in |message|, in that of its members, too, by the names of the fields: "duration_ms=500 host_tracer_level=2". An entry of
 * a map is KEY=VALUE. Cut to |n| bytes, and printable, whoever wrote the message.
 */
void message_text_write(const ProtobufCMessage *message, char *out, size_t n);

#endif
