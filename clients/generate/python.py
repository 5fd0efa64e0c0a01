"""The Python client: models by datamodel-code-generator, and a method for each operation."""

from __future__ import annotations

import json
import keyword
import textwrap
from pathlib import Path
from typing import Any

from datamodel_code_generator import DataModelType, InputFileType, LiteralType, PythonVersion, generate
from datamodel_code_generator.format import Formatter

from .document import Document, Operation, Schema

HEAD = '"""{about} Made by `clients/generate`; do not edit."""\n\nfrom __future__ import annotations\n\n'
WIDTH = 100


def write(document: Document, folder: Path) -> None:
    """Writes the generated modules into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text('"""Made from the description of the server. Do not edit."""\n')
    _write_models(document, folder / "models.py")
    (folder / "errors.py").write_text(_errors(document))
    for is_async in (False, True):
        (folder / f"{'asynchronous' if is_async else 'synchronous'}.py").write_text(_subjects(document, is_async))


def _write_models(document: Document, path: Path) -> None:
    generate(
        json.dumps(_without_defaults(_strict_requests(document.raw))),
        input_file_type=InputFileType.OpenAPI,
        output=path,
        output_model_type=DataModelType.PydanticV2BaseModel,
        target_python_version=PythonVersion.PY_310,
        use_standard_collections=True,
        use_union_operator=True,
        use_schema_description=True,
        use_field_description=True,
        enum_field_as_literal=LiteralType.All,
        disable_timestamp=True,
        use_annotated=True,
        collapse_root_models=True,
        # Only a request is closed (`_strict_requests`): an answer of a newer server may have more fields.
        formatters=[Formatter.BUILTIN],
        settings_path=Path(__file__).parent.parent / "python" / "pyproject.toml",
        custom_file_header=HEAD.format(about="The bodies of answers and requests.").rstrip(),
    )


def _strict_requests(raw: Schema) -> Schema:
    """The document with an object closed if only requests have it, else open."""
    operations = [operation for methods in raw["paths"].values() for operation in methods.values()]
    schemas = raw["components"]["schemas"]
    asked = _reached([it.get("requestBody") for it in operations], schemas, set())
    answered = _reached([it["responses"] for it in operations], schemas, set())

    def strict(name: str, schema: Schema) -> Schema:
        if name in asked - answered and _is_object(schema):
            return {**schema, "additionalProperties": False}
        return {key: value for key, value in schema.items() if (key, value) != ("additionalProperties", False)}

    closed = {name: strict(name, schema) for name, schema in schemas.items()}
    return {**raw, "components": {**raw["components"], "schemas": closed}}


def _reached(value: Any, schemas: Schema, names: set[str]) -> set[str]:
    """Adds the names of the schemas that a part of the document refers to, also through others."""
    if isinstance(value, list):
        for part in value:
            _reached(part, schemas, names)
    elif isinstance(value, dict):
        if (name := str(value.get("$ref", "")).split("/")[-1]) and name not in names:
            names.add(name)
            _reached(schemas[name], schemas, names)
        _reached(list(value.values()), schemas, names)
    return names


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" or "allOf" in schema


def _without_defaults(value: Any) -> Any:
    """The document without the defaults of objects, which the generator writes as dictionaries."""
    if isinstance(value, dict):
        return {
            name: _without_defaults(part)
            for name, part in value.items()
            if not (name == "default" and isinstance(part, dict))
        }
    return [_without_defaults(part) for part in value] if isinstance(value, list) else value


def _errors(document: Document) -> str:
    lines = [HEAD.format(about="An exception for each code of an error.")]
    lines.append("from ..errors import HtmError\n")
    for code in document.codes:
        lines.append(f'\n\nclass {_class_name(code["code"])}(HtmError):\n    """{code["meaning"]}"""\n')
    lines.append("\n\nBY_CODE: dict[str, type[HtmError]] = {\n")
    lines.extend(f'    "{code["code"]}": {_class_name(code["code"])},\n' for code in document.codes)
    lines.append("}\n")
    return "".join(lines)


def _class_name(code: str) -> str:
    return "".join(part.capitalize() for part in code.split("_"))


def _subjects(document: Document, is_async: bool) -> str:
    types = Types(document.raw["components"]["schemas"])
    prefix, base = ("Async", "AsyncSender") if is_async else ("", "Sender")
    lines = [
        HEAD.format(about=f"The operations, {'asynchronous' if is_async else 'synchronous'}."),
        "from collections.abc import Sequence\nfrom datetime import datetime\n",
        "from typing import Any, List, Literal\n\n",
        f"from ..calls import UNSET, Call, {base}, Unset\n",
        "from . import models as m\n",
    ]
    groups = {}
    for subject, operations in document.subjects.items():
        plain = [it for it in operations if it.is_plain]
        name = f"{prefix}{_class_name(subject)}"
        if not plain:
            continue
        groups[subject] = name
        lines.append(f"\n\nclass {name}:\n")
        lines.append(f'    """{subject.replace("_", " ").capitalize()}."""\n\n')
        lines.append(f"    def __init__(self, sender: {base}) -> None:\n        self._sender = sender\n")
        lines.extend(_method(operation, types, is_async) for operation in plain)
    lines.append(f"\n\nclass {prefix}Subjects:\n")
    lines.append('    """The operations by their subjects."""\n\n')
    lines.append(f"    def __init__(self, sender: {base}) -> None:\n")
    lines.extend(f"        self.{subject} = {name}(sender)\n" for subject, name in groups.items())
    return "".join(lines)


def _method(operation: Operation, types: Types, is_async: bool) -> str:
    keeps_null = operation.method == "PATCH"
    arguments = []
    arguments += [(_plain(it.name), types.given(it.schema), None) for it in operation.in_path]
    named = {it.name for it in operation.in_path + operation.in_query}
    # A field of the body with the name of a part of the path is its new value.
    body = {it.name: f"new_{it.name}" if it.name in named else _plain(it.name) for it in operation.in_body}
    required = [it for it in operation.in_query + operation.in_body if it.is_required]
    optional = [it for it in operation.in_query + operation.in_body if not it.is_required]
    argument = {id(it): body[it.name] for it in operation.in_body}
    arguments += [(argument.get(id(it), _plain(it.name)), types.given(it.schema), None) for it in required]
    if len(required) > 1:
        # Their order in the document is that of the alphabet.
        arguments.insert(len(operation.in_path), ("*", "", None))
    elif optional or operation.takes_key or operation.takes_revision:
        arguments.append(("*", "", None))
    for it in optional:
        name = argument.get(id(it), _plain(it.name))
        if keeps_null and id(it) in argument:
            arguments.append((name, f"{types.given(it.schema)} | Unset", "UNSET"))
        else:
            arguments.append((name, _or_none(types.given(it.schema)), "None"))
    if operation.takes_revision:
        arguments.append(("if_revision", "int | None", "None"))
    if operation.takes_key:
        arguments.append(("idempotency_key", "str | None", "None"))
    signature = "".join(
        f"        {name}{f': {kind}' if kind else ''}{f' = {default}' if default else ''},\n"
        for name, kind, default in arguments
    )
    answer = _union([types.answered(it) for it in operation.answers])
    asynchronous, awaited = ("async ", "await ") if is_async else ("", "")
    name = _plain(operation.name)
    text = f"\n    {asynchronous}def {name}(\n        self,\n{signature}    ) -> {answer}:\n"
    text += _docstring(operation, body)
    text += f"        return {awaited}self._sender.send(\n            Call(\n"
    text += f'                "{operation.method}",\n                "{operation.path}",\n                {answer},\n'
    text += _mapping("path", {it.name: _plain(it.name) for it in operation.in_path})
    text += _mapping("query", {it.name: _plain(it.name) for it in operation.in_query})
    if operation.has_body:
        text += _mapping("body", body, always=True)
    if operation.takes_revision:
        text += "                if_revision=if_revision,\n"
    if operation.takes_key:
        text += "                takes_key=True,\n                idempotency_key=idempotency_key,\n"
    if keeps_null:
        text += "                keeps_null=True,\n"
    if not operation.may_be_repeated:
        text += "                may_be_repeated=False,\n"
    return text + "            )\n        )\n"


def _mapping(name: str, arguments: dict[str, str], always: bool = False) -> str:
    if not arguments:
        return f"                {name}={{}},\n" if always else ""
    entries = "".join(f'                    "{key}": {argument},\n' for key, argument in arguments.items())
    return f"                {name}={{\n{entries}                }},\n"


def _docstring(operation: Operation, body: dict[str, str]) -> str:
    paragraphs = [" ".join(part.split()) for part in operation.about.split("\n\n")]
    parts = ["\n".join(textwrap.wrap(part, WIDTH - 8)) for part in paragraphs]
    named = [(_plain(it.name), it.about) for it in operation.in_path + operation.in_query]
    told = [(name, about) for name, about in named if about]
    told += [(body[it.name], it.about) for it in operation.in_body if it.about]
    if told:
        lines = []
        for name, about in told:
            line = f"{name}: {' '.join(about.split())}"
            lines.append(textwrap.fill(line, WIDTH - 8, initial_indent="    ", subsequent_indent="        "))
        parts.append("Args:\n" + "\n".join(lines))
    text = "\n\n".join(parts).replace("\\", "\\\\")
    end = '"""' if "\n" not in text else '\n"""'
    return textwrap.indent(f'"""{text}{end}', "        ", lambda line: bool(line.strip())) + "\n"


def _plain(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _or_none(kind: str) -> str:
    return kind if kind.endswith("| None") else f"{kind} | None"


def _union(kinds: list[str]) -> str:
    return " | ".join(dict.fromkeys(kinds))


class Types:
    """The types of values in Python."""

    def __init__(self, schemas: Schema) -> None:
        self._schemas = schemas

    def answered(self, schema: Schema) -> str:
        # Not `list`: methods have this name.
        return self._of(schema, array="List", body="{}")

    def given(self, schema: Schema) -> str:
        return self._of(schema, array="Sequence", body="{} | dict[str, Any]")

    def _of(self, schema: Schema, array: str, body: str) -> str:
        if reference := schema.get("$ref"):
            name = reference.split("/")[-1]
            found = self._schemas[name]
            return body.format(f"m.{name}") if _is_object(found) else self._of(found, array, body)
        if "oneOf" in schema:
            kinds = [self._of(part, array, body) for part in schema["oneOf"] if part != {"type": "null"}]
            return _union(kinds) + (" | None" if {"type": "null"} in schema["oneOf"] else "")
        if "enum" in schema:
            values = ", ".join(json.dumps(value) for value in schema["enum"])
            return f"Literal[{values}]"
        kind = schema.get("type")
        if isinstance(kind, list):
            (kind,) = [it for it in kind if it != "null"]
            return f"{self._of({**schema, 'type': kind}, array, body)} | None"
        match kind:
            case "string":
                return "datetime" if schema.get("format") == "date-time" else "str"
            case "integer":
                return "int"
            case "number":
                return "float"
            case "boolean":
                return "bool"
            case "array":
                return f"{array}[{self._of(schema['items'], array, body)}]"
            case "object":
                values = schema.get("additionalProperties")
                of = self._of(values, array, body) if isinstance(values, dict) else "Any"
                return f"dict[str, {of}]"
        return "Any"
