"""`python -m generate python|typescript FOLDER`: writes the generated part of a client."""

import sys
from pathlib import Path

from . import python, typescript
from .document import read

DOCUMENT = Path(__file__).parent.parent / "openapi.json"

match sys.argv[1:]:
    case ["python", folder]:
        python.write(read(DOCUMENT), Path(folder))
    case ["typescript", folder]:
        typescript.write(read(DOCUMENT), Path(folder))
    case _:
        sys.exit(__doc__)
