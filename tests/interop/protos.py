# SPDX-License-Identifier: Apache-2.0
"""The messages of proto/, read by protobuf's own compiler; the peers' own copies of the messages are not used."""
import os
import pathlib
import subprocess
import tempfile

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

ROOT = pathlib.Path(os.environ["top_srcdir"]) / "proto"


def compile_all():
    files = sorted(ROOT.rglob("*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", f"-I{ROOT}", f"--descriptor_set_out={out.name}",
                        *map(str, files)], check=True)
        return descriptor_pb2.FileDescriptorSet.FromString(out.read())


def load():
    pool = descriptor_pool.DescriptorPool()
    pending = list(compile_all().file)
    while pending:  # protobuf wants a file after its imports
        known = [f for f in pending if not {p.name for p in pending} & set(f.dependency)]
        for file in known:
            pool.Add(file)
            pending.remove(file)
    return pool


POOL = load()


def message(name):
    return message_factory.GetMessageClass(POOL.FindMessageTypeByName(name))


ProfileRequest = message("tensorflow.ProfileRequest")
ProfileResponse = message("tensorflow.ProfileResponse")
TerminateRequest = message("tensorflow.TerminateRequest")
TerminateResponse = message("tensorflow.TerminateResponse")
XSpace = message("tensorflow.profiler.XSpace")
