"""How each engine's own catalogue becomes a `Schema`: one module an engine, few statements, nothing of the user's."""
