"""What is known of the functions that make long values: which argument is a length, and how results grow."""

from __future__ import annotations

import re
from collections import Counter

from sqlglot import exp

from eval.language.lexicon import word_set

REPEATING = {
    "arraywithconstant": 0,
    **dict.fromkeys(word_set("repeat array_repeat list_resize array_resize arrayresize bitstring"), 1),
}
"""Functions whose result holds an argument so many times; the position of the number."""
PADDING = {
    **dict.fromkeys(word_set("space zeroblob randomblob randstr"), 0),
    **dict.fromkeys(word_set("lpad rpad leftpad rightpad leftpadutf8 rightpadutf8 tofixedstring"), 1),
    **dict.fromkeys(("to_base", "equi_width_bins"), 2),
    "bar": 3,
}
"""Functions whose result has a given length; the position of the length."""
LENGTHS = REPEATING | PADDING
QUOTING = word_set("hex quote json_quote quote_literal quote_nullable quote_ident to_hex")
ESCAPING = QUOTING | word_set(
    """
    base64 base64encode base64urlencode to_base64 to_json to_jsonb tojsonstring bin url_encode encodeurlcomponent
    encodexmlcomponent base32encode base58encode to_csv quotestring encode row_to_json array_to_json to_base32
    regexp_escape regexpquotemeta
    """
)
"""Functions that write a value in more characters."""
REPLACING = frozenset({"replace", "regexp_replace", "replaceall", "replaceregexpall", "array_replace"})
FORMATS = frozenset({"printf", "format", "format_string"})
SEPARATING = frozenset({"concat_ws", "concatwithseparator"})
JOINING_LISTS = frozenset({"array_to_string", "array_join", "arraystringconcat", "list_string_agg"})
SERIES = frozenset({"generate_series", "generateseries", "range", "sequence"})
FOLDS = frozenset({"aggregate", "reduce", "arrayfold", "list_reduce", "array_reduce"})
MAPPING = word_set(
    """
    transform list_transform list_apply apply array_apply array_transform arraymap zip_with transform_values
    transform_keys map_zip_with mapapply
    """
)
STRUCTS = frozenset({"struct", "named_struct", "struct_pack", "row", "tuple"})
BUILDING = word_set(
    """
    concat array list_value list_pack array_cat array_concat list_concat list_cat insert arrayconcat array_append
    array_prepend list_append list_prepend array_push_back array_insert array_push_front arraypushback
    arraypushfront array_union arrayzip arrays_zip list_zip json_array json_object json_set json_insert json_replace
    json_array_append json_patch json_array_insert json_merge_patch json_merge_preserve json_build_array
    json_build_object jsonb_build_array jsonb_build_object jsonb_set jsonb_set_lax jsonb_insert jsonb_object
    make_set map map_concat mapconcat map_from_arrays mapfromarrays mapupdate struct_insert struct_update
    struct_concat overlay overlayutf8 concatassumeinjective multirange to_variant_object variant_array_append
    variant_insert variant_set json_extract_path
    """
)
"""Functions whose result holds all of their arguments."""
SHORT = word_set(
    """
    length len lengthutf8 char_length character_length octet_length size cardinality count bit_length instr strpos
    position locate ascii unicode md5 sha1 sha2 sha256 hash crc32 xxhash64 cityhash64 array_length json_array_length
    empty notempty sign typeof
    """
)
"""Functions whose result is short, whatever they are given."""
_POSITION = re.compile(r"%(\d+)\$|\{(\d+)")


def argument(call: exp.Expr, place: int) -> exp.Expr | None:
    return call.expressions[place] if isinstance(call, exp.Anonymous) and len(call.expressions) > place else None


def whole_number(node: exp.Expr | None) -> int | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Neg):
        value = whole_number(node.this)
        return None if value is None else -value
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal() and len(node.name) < 20:
        return int(node.name)
    return None


def most_number(node: exp.Expr | None) -> int | None:
    """The largest value that a length can have: a written number, or the smallest one that `least` is given."""
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    if isinstance(node, exp.Anonymous) and node.name.lower() == "least":
        return min((number for a in node.expressions if (number := most_number(a)) is not None), default=None)
    return whole_number(node)


def replacement_factor(call: exp.Expr) -> int:
    """How many times as long a text can become by `replace`."""
    by = argument(call, 2)
    if not isinstance(by, exp.Literal):
        return 1 if by is None else 100
    searched = argument(call, 1)
    literal = str(call.this).lower() in ("replace", "replaceall") and isinstance(searched, exp.Literal)
    wanted = max(len(searched.name), 1) if literal and searched is not None else 1
    return max(-(-len(by.name) // wanted), 1)


def copies_in_template(template: exp.Expr | None) -> int:
    """How often a template puts in the same argument: twice in `%1$s%1$s`."""
    if not isinstance(template, exp.Literal):
        return 1
    return max(Counter(_POSITION.findall(template.name)).values(), default=1)
