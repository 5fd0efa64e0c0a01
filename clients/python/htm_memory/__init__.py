"""HTM: durable memory for LLM agents.

    from htm_memory import Memory

    memory = Memory()
    memory.remember("Mara prefers tabs.")
    print(memory.recall("tabs or spaces?")[0].content)
"""

from . import errors
from ._generated import models
from .client import AsyncHtm, Htm
from .errors import HtmError
from .memory import Memory
from .streams import Event, ImportedLine

__all__ = ["AsyncHtm", "Event", "Htm", "HtmError", "ImportedLine", "Memory", "errors", "models"]
