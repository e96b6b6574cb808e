/* SPDX-License-Identifier: Apache-2.0 */
/* All .proto files of this folder: a serialised google.protobuf.FileDescriptorSet. */
#ifndef PROTO_DESCRIPTORS_H
#define PROTO_DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>

extern const uint8_t proto_descriptors[];
extern const size_t n_proto_descriptors;

#endif
