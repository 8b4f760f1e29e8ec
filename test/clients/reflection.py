"""A client that is given only the address: it reads the interface by server reflection.

Usage: reflection.py ADDRESS
Reads calls from the standard input, each a line of JSON {"token", "method", "request"}, and prints for each a line
{"ok": message} or {"error": {"code", "reason", "message", "fields"}}.
"""

import json
import sys

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from google.rpc import error_details_pb2, status_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase


def main(address: str) -> None:
    channel = grpc.insecure_channel(address)
    pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
    for line in sys.stdin:
        print(json.dumps(answer(channel, pool, **json.loads(line))), flush=True)


def answer(channel: grpc.Channel, pool: descriptor_pool.DescriptorPool, token: str, method: str, request: dict) -> dict:
    service_name, _, rpc_name = method.rpartition("/")
    descriptor = pool.FindServiceByName(service_name).FindMethodByName(rpc_name)
    request_class = message_factory.GetMessageClass(descriptor.input_type)
    response_class = message_factory.GetMessageClass(descriptor.output_type)
    call = channel.unary_unary(
        f"/{method}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=response_class.FromString,
    )
    message = json_format.ParseDict(request, request_class(), descriptor_pool=pool)
    try:
        response = call(message, metadata=[("authorization", f"Bearer {token}")], timeout=20)
        return {"ok": json_format.MessageToDict(response, descriptor_pool=pool)}
    except grpc.RpcError as error:
        return {"error": describe(error)}


def describe(error: grpc.RpcError) -> dict:
    """Reads the rich status of an error: google.rpc.Status in `grpc-status-details-bin`."""
    described = {"code": error.code().name, "message": error.details(), "reason": None, "fields": []}
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        for name, raw in details_of(value):
            if name == "google.rpc.ErrorInfo":
                described["reason"] = parse(name, raw).reason
            if name == "google.rpc.BadRequest":
                violations = parse(name, raw).field_violations
                described["fields"] = [violation.field for violation in violations]
    return described


def details_of(status: bytes):
    for detail in status_pb2.Status.FromString(status).details:
        yield detail.type_url.rpartition("/")[2], detail.value


def parse(name: str, raw: bytes):
    return getattr(error_details_pb2, name.rpartition(".")[2]).FromString(raw)


if __name__ == "__main__":
    main(*sys.argv[1:])
