"""Writes the protocol files of src/protocols/envoy/protos, from the descriptors that xds-protos carries: the
messages of Envoy's ext_proc, with the fields that are used. Readers of protobuf skip the others.

    pip install --require-hashes --requirement requirements.txt
    pip install --no-deps xds-protos==1.85.0
    python write_envoy_protos.py ../../../src/protocols/envoy/protos
"""

import sys
from importlib.metadata import distribution
from pathlib import Path

from envoy.config.core.v3 import base_pb2
from envoy.extensions.filters.http.ext_proc.v3 import processing_mode_pb2
from envoy.service.ext_proc.v3 import external_processor_pb2
from envoy.type.v3 import http_status_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from write_protos import write_enum, write_message, write_service

LICENCE = """Copyright Envoy Project Authors

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License."""

ALL = None
# Messages by file, each with its fields.
WANTED = {
    base_pb2: {
        "HeaderMap": ALL,
        "HeaderValue": ALL,
        "HeaderValueOption": ["header", "append_action"],
    },
    http_status_pb2: {"HttpStatus": ALL},
    processing_mode_pb2: {"ProcessingMode": ALL},
    external_processor_pb2: {
        "ProtocolConfiguration": ALL,
        "ProcessingRequest": [
            *("request_headers", "response_headers", "request_body", "response_body"),
            *("request_trailers", "response_trailers", "observability_mode", "protocol_config"),
        ],
        "ProcessingResponse": [
            *("request_headers", "response_headers", "request_body", "response_body"),
            *("request_trailers", "response_trailers", "immediate_response"),
        ],
        "HttpHeaders": ["headers", "end_of_stream"],
        "HttpBody": ["body", "end_of_stream", "end_of_stream_without_message"],
        "HttpTrailers": ALL,
        "HeadersResponse": ALL,
        "BodyResponse": ALL,
        "TrailersResponse": ALL,
        "CommonResponse": ["status", "header_mutation", "body_mutation"],
        "ImmediateResponse": ["status", "headers", "body", "details"],
        "HeaderMutation": ALL,
        "StreamedBodyResponse": ["body", "end_of_stream"],
        "BodyMutation": ALL,
    },
}


def main(folder):
    version = distribution("xds-protos").version
    names = [module.DESCRIPTOR.name for module in WANTED]
    for module, wanted in WANTED.items():
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        lines = [
            *(f"// {line}".rstrip() for line in LICENCE.splitlines()),
            "//",
            f"// From the descriptors of xds-protos {version}, by test/clients/python/write_envoy_protos.py.",
            "",
            'syntax = "proto3";',
            "",
            f"package {file.package};",
            "",
            *(f'import "{name}";' for name in file.dependency if name in names),
            "",
        ]
        for service in file.service:
            lines += write_service(service)
        for enum in file.enum_type:
            if file.name.endswith("http_status.proto"):
                lines += [*write_enum(enum), ""]
        for message in file.message_type:
            if message.name in wanted:
                lines += [*write_message(chosen(message, wanted[message.name])), ""]
        path = Path(folder, file.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines).rstrip() + "\n")


def chosen(message, fields):
    """The message with these fields alone."""
    if fields is not ALL:
        kept = [field for field in message.field if field.name in fields]
        del message.field[:]
        message.field.extend(kept)
        del message.nested_type[:]
    return message


if __name__ == "__main__":
    main(sys.argv[1])
