"""Makes a protoc plugin of gRPC's generator for Python, which grpcio-tools only builds into its own protoc."""

import sys
import tempfile
from pathlib import Path

from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc


def main() -> int:
    request = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    with tempfile.TemporaryDirectory() as folder:
        descriptors, out = Path(folder, "descriptors.binpb"), Path(folder, "out")
        descriptors.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
        out.mkdir()
        services = [file.name for file in request.proto_file if file.name in request.file_to_generate and file.service]
        status = protoc.main(["", f"--descriptor_set_in={descriptors}", f"--grpc_python_out={out}", *services])
        for path in sorted(out.rglob("*.py")):
            response.file.add(name=path.relative_to(out).as_posix(), content=path.read_text())
    sys.stdout.buffer.write(response.SerializeToString())
    return status


if __name__ == "__main__":
    sys.exit(main())
