"""Writes the protocol files of src/protocols/open-inference/grpc/protos, from the descriptors that
tritonclient carries: the package has no .proto files of its own.

    pip install --require-hashes --requirement requirements.txt
    python write_protos.py ../../../src/protocols/open-inference/grpc/protos
"""

import sys
from importlib.metadata import distribution
from pathlib import Path

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from tritonclient.grpc import model_config_pb2, service_pb2

TYPES = {
    value: name.removeprefix("TYPE_").lower()
    for name, value in FieldDescriptorProto.Type.items()
}


def main(folder):
    package = distribution("tritonclient")
    licence = next(file for file in package.files if file.name == "LICENSE.txt")
    for module in (service_pb2, model_config_pb2):
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        text = licence.read_text().strip().splitlines()
        lines = [
            *(f"// {line.lstrip('# ')}".rstrip() for line in text),
            "//",
            f"// From the descriptors of tritonclient {package.version}, by test/clients/python/write_protos.py.",
            "",
            'syntax = "proto3";',
            "",
            f"package {file.package};",
            "",
            *(f'import "{name}";' for name in file.dependency),
            *([""] if file.dependency else []),
        ]
        for service in file.service:
            lines += write_service(service)
        for enum in file.enum_type:
            lines += [*write_enum(enum), ""]
        for message in file.message_type:
            lines += [*write_message(message), ""]
        Path(folder, file.name).write_text("\n".join(lines).rstrip() + "\n")


def write_service(service):
    lines = [f"service {service.name} {{"]
    for method in service.method:
        given = ("stream " if method.client_streaming else "") + short(method.input_type)
        answer = ("stream " if method.server_streaming else "") + short(method.output_type)
        lines.append(f"  rpc {method.name}({given}) returns ({answer}) {{}}")
    return [*lines, "}", ""]


def write_enum(enum):
    return [
        f"enum {enum.name} {{",
        *(f"  {value.name} = {value.number};" for value in enum.value),
        "}",
    ]


def write_message(message):
    entries = {nested.name: nested for nested in message.nested_type if nested.options.map_entry}
    body = []
    for enum in message.enum_type:
        body += write_enum(enum)
    for nested in message.nested_type:
        if not nested.options.map_entry:
            body += write_message(nested)
    for index, oneof in enumerate(message.oneof_decl):
        members = [f for f in message.field if f.HasField("oneof_index") and f.oneof_index == index]
        body += [f"oneof {oneof.name} {{", *(f"  {write_field(f, entries)}" for f in members), "}"]
    body += [write_field(f, entries) for f in message.field if not f.HasField("oneof_index")]
    return [f"message {message.name} {{", *(f"  {line}" for line in body), "}"]


def write_field(field, entries):
    entry = entries.get(field.type_name.rsplit(".", 1)[-1])
    if entry:
        key, value = entry.field
        return f"map<{type_of(key)}, {type_of(value)}> {field.name} = {field.number};"
    repeated = "repeated " if field.label == FieldDescriptorProto.LABEL_REPEATED else ""
    return f"{repeated}{type_of(field)} {field.name} = {field.number};"


def type_of(field):
    return short(field.type_name) if field.type_name else TYPES[field.type]


def short(name):
    return name.removeprefix(".inference.")


if __name__ == "__main__":
    main(sys.argv[1])
