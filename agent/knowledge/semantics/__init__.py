"""The semantic model: what a team says once about its business, in an open format.

In: a file (Apache Ossie, dbt's semantic manifest, or our glossary). Out: a
`SemanticModel`; its check against a database; its view of a schema, in which metrics and fields are columns that
`expand` replaces on the syntax tree. docs/semantic-model.md has the formats.
"""
