"""Values of frameworks as HTM can keep and compare them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

# The server compares the short values at the top of an item. The rest is compared here.
MAX_TEXT: Final = 256
MAX_WHOLE: Final = 2**53
MAX_FIELDS: Final = 32 << 10

# A key of HTM has at most 512 bytes.
MAX_KEY: Final = 500


def key_of(key: str) -> str:
    """The key in HTM: one sign and the key, or the hash of one that is no key there."""
    encoded = key.encode(errors="surrogatepass")
    is_key = len(encoded) <= MAX_KEY and key.isprintable()
    return f"={key}" if is_key else hash_of(encoded)


def hash_of(key: bytes) -> str:
    """The stand-in for a key that HTM does not accept."""
    return f"#{hashlib.sha256(key).hexdigest()}"


def fields_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the server can compare."""
    fields = {name: it for name, it in value.items() if is_plain(name) and is_plain(it)}
    if len(json.dumps(fields)) > MAX_FIELDS:
        raise ValueError(f"the value has more than {MAX_FIELDS} bytes of short fields; put them into one field")
    return fields


def is_plain(value: Any) -> bool:
    """Whether the server compares a value as Python does, but for truth values and numbers."""
    match value:
        case None | bool():
            return True
        case int() | float():
            return -MAX_WHOLE < value < MAX_WHOLE
        case str():
            return len(value) <= MAX_TEXT and "\0" not in value and not any("\ud800" <= it <= "\udfff" for it in value)
        case _:
            return False


def json_of(value: Any) -> str:
    """The JSON of a value, as a text that HTM keeps as it is."""
    text = json.dumps(value, ensure_ascii=False)
    # Half of a pair of surrogates is no text.
    return json.dumps(value) if any("\ud800" <= it <= "\udfff" for it in text) else text


def text_of(text: str) -> str:
    """The text without what HTM does not keep. It may be blank."""
    return text.replace("\0", "").encode(errors="replace").decode()
