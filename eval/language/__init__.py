"""English text processing in one place: inflection, tokens, numbers, quoted texts and word lists.

The parser, the linker, the value index and the judge use it. In: text. Out: words, their base forms, numbers. Nothing
here knows a schema, a database or a model.
"""

__all__: list[str] = []
