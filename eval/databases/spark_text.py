"""What a Spark text may not contain, read without a parser: names that reach code, files, secrets or settings.

In: SQL. Out: the words that are refused, or None. This is the barrier below the guard for what Spark, Sail and
Databricks cannot be told to refuse. Strings are taken out first; a name counts with and without backquotes.
"""

from __future__ import annotations

import re

_STRING = re.compile(r"r'[^']*'|r\"[^\"]*\"|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.S | re.I)
_FORMATS = (
    r"(?:text|csv|json|parquet|orc|avro|xml|binaryfile|image|libsvm|delta|iceberg|hudi|jdbc|kafka|socket|rate|excel|"
    r"arrow|vortex|lance|statestore|state-metadata|geojson|geoparquet|noop|console|memory|files?|https?|hive|python|"
    r"(?:com|org|io)\s*\.[\w\s.]+)"
)
_REFUSED = re.compile(
    r"\$|--|/\*|(?<!\w)(?:"
    r"(?:try_)?reflect|java_method|execute\s+immediate|using\s*''|"
    r"(?:identifier|read_\w+|list_\w+|(?:try_)?secret|ai_\w+|event_log|user|version)(?=\s*\()|"
    r"input_file_\w+|cloud_files\w*|http_request|remote_query|vector_search|python_udf\w*|"
    r"current_user|session_user|current_(?:metastore|recipient)|is_(?:account_group_)?member|"
    r"_metadata|information_schema|global_temp|xpath\w*|(?:schema_of|from|to)_(?:avro|protobuf|xml)"
    r")(?!\w)"
)
_PATH_TABLE = re.compile(
    rf"(?<!\w)(?:from|join|table)[\s(]*(?:{_FORMATS}|system)\s*\.|[,(]\s*{_FORMATS}\s*\.\s*[^\s,()]*[/\\:*]"
)
_LISTED_TABLE = re.compile(rf"[,(]\s*({_FORMATS})\s*\.")


def refused(sql: str) -> str | None:
    """The first words of a text that no query needs."""
    if "${" in sql:
        return "${"
    code = _STRING.sub("''", sql).lower().replace("`", "")
    match = _REFUSED.search(code) or _PATH_TABLE.search(code) or _unnamed_format(code)
    return " ".join(match.group().split()) if match else None


def _unnamed_format(code: str) -> re.Match[str] | None:
    """`, csv.x` names a file where nothing in the text is called `csv`, otherwise a column."""
    for match in _LISTED_TABLE.finditer(code):
        named = rf"(?:(?<!\w)(?:from|join|as|{_FORMATS}\s+as)|[,)\w])\s+{re.escape(match[1])}(?![\w.(])"
        if not re.search(named, code):
            return match
    return None
