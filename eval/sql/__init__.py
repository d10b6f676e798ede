"""One parse of a query, the read-only guard, scope-aware references, and the facts of a query's form."""
