"""The TypeScript client: a type for each schema, and a method for each operation."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

from .document import Document, Operation, Parameter, Schema

HEAD = "// {about} Made by `clients/generate`; do not edit.\n"
WIDTH = 100

# What a strict module refuses as the name of an argument. Methods may have these names.
RESERVED = frozenset(
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends"
    " false finally for function if implements import in instanceof interface let new null package private protected"
    " public return static super switch this throw true try typeof var void while with yield".split()
)


def write(document: Document, folder: Path) -> None:
    """Writes the generated modules into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "models.ts").write_text(_models(document))
    (folder / "codes.ts").write_text(_codes(document))
    (folder / "subjects.ts").write_text(_subjects(document))


def _codes(document: Document) -> str:
    lines = [HEAD.format(about="The codes of the server's errors.")]
    lines.append("\n/** The code of an error that this version of the server may answer with. */\n")
    lines.append("export type ServerCode =\n")
    for code in document.codes:
        about = f"{code['status']}: {code['meaning']}"
        lines.append(f"{_doc(about, 2)}  | {json.dumps(code['code'])}\n")
    return "".join(lines).rstrip() + ";\n"


def _models(document: Document) -> str:
    types = Types(document.raw["components"]["schemas"])
    lines = [HEAD.format(about="The bodies of requests and answers.")]
    lines.extend(types.declared(name) for name in types.schemas)
    return "".join(lines)


def _subjects(document: Document) -> str:
    types = Types(document.raw["components"]["schemas"], prefix="models.")
    lines = [
        HEAD.format(about="The operations of the server by their subjects."),
        '\nimport type { Call, EditOptions, Options, Sender, WriteOptions } from "../calls.js";\n',
        'import { path } from "../calls.js";\n',
        'import type * as models from "./models.js";\n',
    ]
    groups = {}
    for subject, operations in document.subjects.items():
        plain = [it for it in operations if it.is_plain]
        if not plain:
            continue
        name = _pascal(subject)
        groups[_camel(subject)] = name
        lines.append(f"\n/** {subject.replace('_', ' ').capitalize()}. */\nexport class {name} {{\n")
        lines.append("  readonly #sender: Sender;\n\n")
        lines.append("  constructor(sender: Sender) {\n    this.#sender = sender;\n  }\n")
        lines.extend(_method(document, operation, types) for operation in plain)
        lines.append("}\n")
    lines.append("\n/** The operations by their subjects. */\nexport abstract class Subjects implements Sender {\n")
    lines.extend(f"  readonly {subject} = new {name}(this);\n" for subject, name in groups.items())
    lines.append("\n  abstract send<Answer>(call: Call, options?: EditOptions): Promise<Answer>;\n}\n")
    return "".join(lines)


def _method(document: Document, operation: Operation, types: Types) -> str:
    arguments = [f"{_argument(it.name)}: {types.of(it.schema)}" for it in operation.in_path]
    if operation.in_query or operation.has_body:
        is_optional = not any(it.is_required for it in operation.in_query + operation.in_body)
        arguments.append(f"fields: {_fields(document, operation, types)}{' = {}' if is_optional else ''}")
    arguments.append(f"options: {_options(operation)} = {{}}")
    answer = " | ".join(dict.fromkeys(types.of(it) for it in operation.answers))
    text = f"\n{_doc(operation.about, 2, _parameters(operation))}"
    text += _wrapped(f"  async {_camel(operation.name)}(", arguments, f"): Promise<{answer}> {{\n")
    if operation.in_query and operation.has_body:
        # The fields of the query are taken out of those of the body.
        taken = ", ".join(_taken(it.name) for it in operation.in_query)
        text += f"    const {{ {taken}, ...body }} = fields;\n"
    call = _call(operation)
    line = f"    return this.#sender.send({{ {', '.join(call)} }}, options);\n"
    if len(line) > WIDTH:
        call = [f"        {it},\n" for it in call]
        line = f"    return this.#sender.send(\n      {{\n{''.join(call)}      }},\n      options,\n    );\n"
    return f"{text}{line}  }}\n"


def _fields(document: Document, operation: Operation, types: Types) -> str:
    """The type of the fields of an operation: those of its body, those of its query, or both."""
    parts = []
    if operation.has_body:
        described = document.raw["paths"][operation.path][operation.method.lower()]["requestBody"]
        parts.append(types.of(described["content"]["application/json"]["schema"]))
    if operation.in_query:
        assert not {it.name for it in operation.in_query} & {it.name for it in operation.in_body}, operation
        # Neither null nor undefined is sent, so that `next` of the last page may be given.
        query = "".join(types.field(it, 6, or_none=not it.is_required) for it in operation.in_query)
        parts.append(f"{{\n{query}    }}")
    return " & ".join(parts)


def _options(operation: Operation) -> str:
    if operation.takes_revision:
        return "EditOptions"
    return "WriteOptions" if operation.takes_key else "Options"


def _call(operation: Operation) -> list[str]:
    """The fields of a `Call`."""
    parts = [f'method: "{operation.method}"']
    template = re.sub(r"\{(\w+)\}", lambda found: f"${{{_argument(found[1])}}}", operation.path)
    parts.append(f"path: path`{template}`" if operation.in_path else f'path: "{template}"')
    match bool(operation.in_query), operation.has_body:
        case True, True:
            parts += [f"query: {{ {', '.join(_taken(it.name) for it in operation.in_query)} }}", "body"]
        case True, False:
            parts.append("query: fields")
        case False, True:
            parts.append("body: fields")
    if operation.takes_key:
        parts.append("takesKey: true")
    if not operation.may_be_repeated:
        parts.append("mayBeRepeated: false")
    return parts


def _parameters(operation: Operation) -> list[str]:
    return [f"@param {_argument(it.name)} - {' '.join(it.about.split())}" for it in operation.in_path if it.about]


def _wrapped(start: str, arguments: list[str], end: str) -> str:
    line = f"{start}{', '.join(arguments)}{end}"
    if len(line) <= WIDTH + 1 and line.count("\n") == 1:
        return line
    return start + "\n" + "".join(f"    {it},\n" for it in arguments) + f"  {end}"


def _doc(about: str, indent: int, tags: list[str] | None = None) -> str:
    """A comment of TSDoc."""
    space = " " * indent
    paragraphs = [" ".join(part.split()).replace("*/", "*\\/") for part in about.split("\n\n") if part.strip()]
    if not paragraphs and not tags:
        return ""
    if len(paragraphs) == 1 and not tags and len(paragraphs[0]) + indent + 7 <= WIDTH:
        return f"{space}/** {paragraphs[0]} */\n"
    blocks = [textwrap.wrap(part, WIDTH - indent - 3) for part in paragraphs]
    if tags:
        blocks.append([line for tag in tags for line in textwrap.wrap(tag, WIDTH - indent - 3, subsequent_indent="  ")])
    text = "\n\n".join("\n".join(block) for block in blocks)
    lines = "".join(f"{space} *{' ' if line else ''}{line}\n" for line in text.split("\n"))
    return f"{space}/**\n{lines}{space} */\n"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _argument(name: str) -> str:
    """The name of a part of the path as an argument."""
    made = _camel(name)
    return f"{made}_" if made in RESERVED or made in ("fields", "options") else made


def _taken(name: str) -> str:
    """A field of the query as a variable, and back."""
    assert name not in RESERVED and name not in ("body", "fields", "options"), name
    return name


class Types:
    """The types of values in TypeScript."""

    def __init__(self, schemas: Schema, prefix: str = "") -> None:
        self.schemas = schemas
        self._prefix = prefix

    def declared(self, name: str) -> str:
        """The declaration of a schema."""
        schema = self.schemas[name]
        doc = "\n" + _doc(schema.get("description", ""), 0)
        if not self._is_interface(schema):
            line = f"{doc}export type {name} = {self.of(schema)};\n"
            if "enum" in schema and len(line) - len(doc) > WIDTH:
                line = line.replace(" = ", " =\n  | ").replace('" | "', '"\n  | "')
            return line
        parts = schema.get("allOf", [schema])
        bases = [self.of(part) for part in parts if "$ref" in part]
        extends = f" extends {', '.join(bases)}" if bases else ""
        fields = "".join(self._properties(part, 2) for part in parts)
        return f"{doc}export interface {name}{extends} {{\n{fields}}}\n"

    def field(self, field: Parameter, indent: int, or_none: bool = False) -> str:
        """A field of an object, with its comment."""
        kind = self.of(field.schema, indent)
        if or_none:
            # Also with `exactOptionalPropertyTypes`.
            kind = f"{kind.removesuffix(' | null')} | null | undefined"
        name = field.name if field.name.isidentifier() else json.dumps(field.name)
        mark = "" if field.is_required else "?"
        return f"{_doc(field.about, indent)}{' ' * indent}{name}{mark}: {kind};\n"

    def of(self, schema: Schema, indent: int = 0) -> str:
        """A type as it is written in an expression."""
        if reference := schema.get("$ref"):
            return self._prefix + reference.split("/")[-1]
        if "allOf" in schema:
            parts = [(part, self.of(part, indent)) for part in schema["allOf"]]
            return " & ".join(f"({kind})" if "oneOf" in part else kind for part, kind in parts)
        for name in ("oneOf", "anyOf"):
            if name in schema:
                return " | ".join(dict.fromkeys(self.of(part, indent) for part in schema[name]))
        if "enum" in schema:
            return " | ".join(json.dumps(value) for value in schema["enum"])
        kind = schema.get("type")
        if isinstance(kind, list):
            return " | ".join(self.of({**schema, "type": it}, indent) for it in kind)
        match kind:
            case "string" | "boolean" | "null":
                return kind
            case "integer" | "number":
                return "number"
            case "array":
                items = self.of(schema["items"], indent)
                return f"({items})[]" if " | " in items or " & " in items else f"{items}[]"
            case "object" if "properties" in schema:
                return f"{{\n{self._properties(schema, indent + 2)}{' ' * indent}}}"
            case "object":
                values = schema.get("additionalProperties")
                return f"Record<string, {self.of(values, indent) if isinstance(values, dict) else 'unknown'}>"
        return "unknown"

    def _properties(self, schema: Schema, indent: int) -> str:
        required = schema.get("required", [])
        fields = [
            Parameter(name, described, name in required, _about(described))
            for name, described in schema.get("properties", {}).items()
        ]
        return "".join(self.field(it, indent) for it in fields)

    def _is_interface(self, schema: Schema) -> bool:
        """Whether it is an object, and not one of several."""
        if reference := schema.get("$ref"):
            return self._is_interface(self.schemas[reference.split("/")[-1]])
        if "allOf" in schema:
            return all(self._is_interface(part) for part in schema["allOf"])
        return schema.get("type") == "object" and "properties" in schema


def _about(schema: Schema) -> str:
    """What a field is: its own description, or that of the value that it may have besides null."""
    parts = [schema, *schema.get("oneOf", [])]
    return next((part["description"] for part in parts if "description" in part), "")
