# SPDX-License-Identifier: Apache-2.0
"""pprof's Profile for Google's decoder, as github.com/google/pprof/blob/main/proto/profile.proto numbers it."""
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto
# {message: {field: (number, type, or the name of a message)}}; lists have a *.
MESSAGES = {
    "ValueType": {"type": (1, FIELD.TYPE_INT64), "unit": (2, FIELD.TYPE_INT64)},
    "Label": {"key": (1, FIELD.TYPE_INT64), "str": (2, FIELD.TYPE_INT64), "num": (3, FIELD.TYPE_INT64),
              "num_unit": (4, FIELD.TYPE_INT64)},
    "Sample": {"location_id*": (1, FIELD.TYPE_UINT64), "value*": (2, FIELD.TYPE_INT64), "label*": (3, "Label")},
    "Mapping": {"id": (1, FIELD.TYPE_UINT64), "filename": (5, FIELD.TYPE_INT64),
                "has_functions": (7, FIELD.TYPE_BOOL)},
    "Line": {"function_id": (1, FIELD.TYPE_UINT64), "line": (2, FIELD.TYPE_INT64)},
    "Location": {"id": (1, FIELD.TYPE_UINT64), "mapping_id": (2, FIELD.TYPE_UINT64), "address": (3, FIELD.TYPE_UINT64),
                 "line*": (4, "Line")},
    "Function": {"id": (1, FIELD.TYPE_UINT64), "name": (2, FIELD.TYPE_INT64),
                 "system_name": (3, FIELD.TYPE_INT64), "filename": (4, FIELD.TYPE_INT64)},
    "Profile": {"sample_type*": (1, "ValueType"), "sample*": (2, "Sample"), "mapping*": (3, "Mapping"),
                "location*": (4, "Location"), "function*": (5, "Function"),
                "string_table*": (6, FIELD.TYPE_STRING), "time_nanos": (9, FIELD.TYPE_INT64),
                "duration_nanos": (10, FIELD.TYPE_INT64), "comment*": (13, FIELD.TYPE_INT64),
                "default_sample_type": (14, FIELD.TYPE_INT64)},
}


def add_field(message, name, number, kind):
    field = message.field.add(name=name.rstrip("*"), number=number)
    field.label = FIELD.LABEL_REPEATED if name.endswith("*") else FIELD.LABEL_OPTIONAL
    if isinstance(kind, str):
        field.type, field.type_name = FIELD.TYPE_MESSAGE, f".perftools.profiles.{kind}"
    else:
        field.type = kind


def make_class():
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="perftools.profiles", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            add_field(message, field, number, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(
        pool.FindMessageTypeByName("perftools.profiles.Profile"))


Profile = make_class()
