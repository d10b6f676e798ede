"""The implementation behind `text2sql`, which is the module for programs to import.

Importing this package loads nothing else.
"""

from __future__ import annotations

__all__: list[str] = []
