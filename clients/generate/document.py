"""The operations of an OpenAPI document, in the form that the clients are made of."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

# A repeated request would make a second key, or is a stream that the caller has used up.
NOT_REPEATED = {"keys_create", "memories_import"}


@dataclass
class Parameter:
    """An argument of an operation: a part of the path, a parameter of the query, or a field of the body."""

    name: str
    schema: Schema
    is_required: bool
    about: str = ""


@dataclass
class Operation:
    subject: str
    name: str
    method: str
    path: str
    about: str
    in_path: list[Parameter] = field(default_factory=list)
    in_query: list[Parameter] = field(default_factory=list)
    in_body: list[Parameter] = field(default_factory=list)
    has_body: bool = False
    takes_key: bool = False
    takes_revision: bool = False
    # The media type of the answer, and the schemas of its successes.
    media_type: str = ""
    answers: list[Schema] = field(default_factory=list)

    @property
    def is_plain(self) -> bool:
        """Whether it sends and receives JSON; otherwise it is a stream, which each client has by hand."""
        return self.media_type == "application/json"

    @property
    def may_be_repeated(self) -> bool:
        return f"{self.subject}_{self.name}" not in NOT_REPEATED


@dataclass
class Document:
    raw: Schema
    operations: list[Operation]

    @property
    def subjects(self) -> dict[str, list[Operation]]:
        found: dict[str, list[Operation]] = {}
        for operation in self.operations:
            found.setdefault(operation.subject, []).append(operation)
        return dict(sorted(found.items()))

    @property
    def codes(self) -> list[Schema]:
        return self.raw["components"]["schemas"]["Problem"]["properties"]["code"]["x-codes"]


def read(path: Path) -> Document:
    raw = json.loads(path.read_text())
    schemas = raw["components"]["schemas"]
    operations = [
        _operation(path, method, described, schemas)
        for path, methods in raw["paths"].items()
        for method, described in methods.items()
    ]
    return Document(raw, sorted(operations, key=lambda it: (it.subject, it.name)))


def _operation(path: str, method: str, described: Schema, schemas: Schema) -> Operation:
    subject = described["tags"][0].replace(" ", "_")
    made = Operation(
        subject=subject,
        name=described["operationId"].removeprefix(f"{subject}_"),
        method=method.upper(),
        path=path,
        about="\n\n".join(filter(None, [described.get("summary"), described.get("description")])),
    )
    for given in described.get("parameters", []):
        parameter = Parameter(
            given["name"], given["schema"], given.get("required", False), given.get("description", "")
        )
        match given["in"], given["name"]:
            case "path", _:
                made.in_path.append(parameter)
            case "query", _:
                made.in_query.append(parameter)
            case _, "Idempotency-Key":
                made.takes_key = True
            case _, "If-Match":
                made.takes_revision = True
    if body := described.get("requestBody"):
        made.has_body = True
        ((media_type, content),) = body["content"].items()
        if media_type == "application/json":
            made.in_body = _fields(content["schema"], schemas)
    for status, answer in described["responses"].items():
        if status.startswith("2"):
            ((made.media_type, content),) = answer["content"].items()
            if content["schema"] not in made.answers:
                made.answers.append(content["schema"])
    return made


def _fields(schema: Schema, schemas: Schema) -> list[Parameter]:
    """The fields of an object, also of one that is made of several."""
    if reference := schema.get("$ref"):
        return _fields(schemas[reference.split("/")[-1]], schemas)
    fields = [part for all_of in schema.get("allOf", []) for part in _fields(all_of, schemas)]
    required = schema.get("required", [])
    for name, described in schema.get("properties", {}).items():
        fields.append(Parameter(name, described, name in required, _about(described)))
    return fields


def _about(schema: Schema) -> str:
    parts = [schema, *schema.get("oneOf", [])]
    return next((part["description"] for part in parts if "description" in part), "")
