"""Columns: things that the question lists and the query does not return.

In: a question read against its query. Out: sentences. A thing is missed only where it names a column of the query's
tables, a half of a name, a figure, or the groups.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.words import STOPWORDS, akin, name_words, question_words
from eval.scoring.evidence.question_reading import SAID, Reading, Sentences, is_key_name
from eval.sql.traversal import every

_ITEMS = re.compile(r",(?: and)? | and | as well as | along with | together with ")
_OPENING = re.compile(
    r"^\W*(?:please )?(?:what (?:is|are|was|were)|show|list|give|find(?: out)?|return|get|tell|display"
    r"|i (?:want|need))\b(?: me| us)?"
)
_LIST_ENDS = re.compile(
    r"\b(?:of|for|between|among|than|where|who|that|which|with|whose|from|in|ordered|sorted|by|at|on|have|has|when|if|as|under)\b|[.?;:(]"
    r"|\b(?:the )?[^\W\d_]+(?:est|st recent) first\b"
)
_MOST_ITEMS = 8
_SHORT_ITEM = 2
"""Words of each item of a list that nothing opens (`name and age of each dog`)."""
_SAYS_LITTLE = frozenset({"id", "name", "the", "code", "all", "each", "their", "its"})


def column_missing(r: Reading) -> Sentences:
    """More things of the question's opening list are columns of the query's tables, or figures, than are returned."""
    if r.case.facts.projects_star or r.select is None or not r.output or every(r.select, exp.DPipe, exp.Concat):
        return
    for sentence in _SENTENCES.split(r.question):
        opening = _OPENING.match(sentence)
        items = _items(sentence[opening.end() if opening else 0 :])
        if opening is None and any(len(i.split()) > _SHORT_ITEM for i in items):
            continue
        if not len(r.output) < len(items) <= _MOST_ITEMS:
            continue
        named = [(item, columns) for item in items if (columns := _columns_of(item, r))]
        if len(named) > len(r.output):
            returned = {c.name.casefold() for e in r.output for c in every(e, exp.Column)}
            yield _missing(next((item for item, columns in named if not columns & returned), named[-1][0]))
            return


def _items(text: str) -> list[str]:
    """`The start and end date` are two dates; in `the names of parties and their regions` the regions count, and in
    `codes with their cities and phones` the three."""
    text = _WITH_THEIR.sub(", ", text, count=1)
    found = _LIST_ENDS.search(text)
    listed = text[: found.start()] if found else text
    items = [i.strip() for i in _ITEMS.split(listed) if i.strip()]
    of = _OF_AND.match(text)
    if of is not None and len(items) == 1:
        items = [of[1], of[2]]
    last = items[-1].split()[-1:] if items else []
    return [f"{i} {last[0]}" if _HALF.search(i) and last and last[0] not in i else i for i in items]


_SENTENCES = re.compile(r"[.?!] +(?=[^\W\d_])")
_WITH_THEIR = re.compile(r",? (?:along |together )?with (?:their|its) (?:corresponding |respective )?")
_OF_AND = re.compile(
    r"^ ?((?:[^\W\d_]+ ){1,3})of [^\W\d_]+(?: [^\W\d_]+)? and (?:also )?(?:the |their |its )"
    r"(?:corresponding |respective )?((?:[^\W\d_]+ )?[^\W\d_]+)"
)
_HALF = re.compile(r"^(?:the )?(?:first|last|start|end|home|away)$")


def _columns_of(item: str, r: Reading) -> frozenset[str]:
    """The columns of the query's tables that an item may name, folded; the figure that it names."""
    words = [w for w in question_words(item) if w not in _ARTICLES]
    if not words:
        return frozenset()
    figure = next(
        (call for call, said in SAID.items() if call is not exp.Max and call is not exp.Min and set(words) & set(said)),
        None,
    )
    if figure is not None:
        return frozenset({f"{figure.__name__.casefold()}()"})
    if words[-1] in ("id", "identifier"):
        return frozenset(c.name.casefold() for t in r.case.tables_read for c in t.columns if is_key_name(c.name))
    return frozenset(c.name.casefold() for t in r.case.tables_read for c in t.columns if _names(c.name, words, r))


_ARTICLES = frozenset(
    question_words("the a an all each every different distinct their its of unique and also corresponding")
)


def companion_missing(r: Reading) -> Sentences:
    """`The city and its GDP`, and the query uses one of them."""
    if r.case.facts.projects_star or not r.output:
        return
    for found in _COMPANION.finditer(r.question):
        if _not_used(found[1], r):
            yield _missing(found[1])
            return


_COMPANION = re.compile(
    r"\band (?:also )?(?:their|its|his|her|the corresponding|corresponding|the respective) "
    r"((?:[^\W\d_]+ )?[^\W\d_]+)"
)


def _missing(item: str) -> str:
    return f"The question asks for “{item}”, which the query does not return."


def _not_used(item: str, r: Reading) -> bool:
    """Whether an item names columns of the query's tables of which the query uses none."""
    words = [w for w in question_words(item) if w not in STOPWORDS]
    if not words:
        return False
    named = [c.name for t in r.case.tables_read for c in t.columns if _names(c.name, words, r)]
    used = {c.casefold() for _, c in r.case.references.columns}
    if not named or any(c.casefold() in used for c in named):
        return False
    returned = {w for e in r.output for c in every(e, exp.Column) for w in name_words(c.name)}
    aliases = (e.alias for e in (r.select.expressions if r.select is not None else ()) if e.alias)
    return not any(akin(words[-1], w) for w in (*returned, *(w for a in aliases for w in name_words(a))))


def _names(column: str, words: list[str], r: Reading) -> bool:
    """The item's last word is in the column's name, and the column's other words are in the question."""
    parts = list(name_words(column))
    telling = [p for p in parts if p not in _SAYS_LITTLE] or parts
    if "name" in parts and "name" not in words and any(akin(words[-1], w) for t in r.tables for w in name_words(t)):
        return False  # the thing itself
    return words[-1] in parts and all(any(akin(p, w) for w in (*r.all_words, *words)) for p in telling)


_FIRST_HALF = re.compile(r"^(?:f|first|fore|given)_?name$|_(?:f|first|fore|given)_?name$|^name_?first$")
_LAST_HALF = re.compile(r"^(?:l|last|sur|family)_?name$|_(?:l|last|sur|family)_?name$|^name_?last$")
_HALF_ASKED = re.compile(r"\b(?:first|last|given|family)[- ]names?\b|\b(?:fore|sur|f|l)names?\b|\binitials?\b")
_BOTH_ASKED = re.compile(
    r"\b(?:first|last|given|family)(?: names?)?(?:,| and| &|/)+ (?:their |the )?(?:first|last|family)\b|\bfull names?\b"
)


def half_a_name(r: Reading) -> Sentences:
    """The first or the last name alone, where the question asks for both or for people."""
    if r.case.facts.projects_star or (r.case.facts.group_by and not r.output_columns):
        return
    returned = [c.casefold() for c in r.output_columns]
    first, last = (any(half.search(c) for c in returned) for half in (_FIRST_HALF, _LAST_HALF))
    if first == last or any("full" in c or is_key_name(c) for c in returned):
        return
    other = _LAST_HALF if first else _FIRST_HALF
    halves = [t for t in r.case.tables_read if any(other.search(c.name.casefold()) for c in t.columns)]
    asked_both, asked_one = _BOTH_ASKED.search(r.question), _HALF_ASKED.search(r.question)
    if not halves or (asked_one and not asked_both):
        return
    half = "first" if first else "last"
    yield f"The query returns the {half} name only; the question asks for the whole name."


def group_untold(r: Reading) -> Sentences:
    """Figures of groups without what tells the groups apart."""
    facts = r.case.facts
    if not facts.group_by or len(r.rows) < 2 or r.select is None or r.select.args.get("limit"):
        return
    group = r.select.args.get("group")
    keys = list(group.expressions) if group is not None else []
    shown = {e.sql() for e in r.output} | {e.alias_or_name for e in r.select.expressions}
    if facts.having and len(r.output) > len(facts.output_aggregates):
        return
    if not keys or len(r.output) > len(facts.output_aggregates):
        keys = [k for k in keys if isinstance(k, exp.Column) and _asked_group(k, r)]
        untold = [k for k in keys if not any(k.name.casefold() in s.casefold() for s in shown) and not _described(k, r)]
    else:
        untold = keys if all(every(e, exp.AggFunc) for e in r.output) else []
    if untold:
        yield "The query returns figures of groups without saying which group each is of."


def _asked_group(key: exp.Column, r: Reading) -> bool:
    """`Per origin and year`: the groups are named after the word for it."""
    if is_key_name(key.name):
        return False
    found = re.search(r"\b(?:per|for each|by each|by|of each|in each|for every)\b (.*)", r.question)
    words = frozenset(question_words(found[1])) if found else frozenset()
    parts = [p for p in name_words(key.name) if p not in _SAYS_LITTLE]
    return bool(parts) and all(p in words for p in parts)


def _described(key: exp.Column, r: Reading) -> bool:
    """Whether the row that the key refers to is told by another of its columns (`GROUP BY planet`, and its name)."""
    shown = {table for table, _ in r.output_places}
    pairs = (*r.case.facts.join_columns, *(pair[::-1] for pair in r.case.facts.join_columns))
    return any(own[1].casefold() == key.name.casefold() and other[0] in shown for own, other in pairs)


_KINDS: dict[type[exp.Expr], str] = {
    exp.Avg: r"averages?|avg|mean",
    exp.Max: r"max(?:imum|imal)?|highest|largest|greatest",
    exp.Min: r"min(?:imum|imal)?|lowest|smallest",
    exp.Sum: r"total|sum",
}
_ANY = "|".join(_KINDS.values())
_SIDE_BY_SIDE = re.compile(
    rf"\b(?:{_ANY})(?:(?: [^\W\d_]+){{0,2}},? (?:and|as well as) (?:the )?|, (?:the )?)(?:{_ANY})\b"
)


def figures_missing(r: Reading) -> Sentences:
    """`The minimum and maximum amount`, and one of them is computed."""
    found = _SIDE_BY_SIDE.search(r.question)
    if found is None or r.case.facts.window_functions or not every(r.tree, *_KINDS):
        return
    text = r.question[found.start() : found.end() + 1]
    asked = [kind for kind, words in _KINDS.items() if re.search(rf"\b(?:{words})\b", text)]
    lacking = [k for k in asked if not every(r.tree, k)]
    if len(asked) > 1 and len(lacking) == 1 and not (r.case.facts.order_by or every(r.tree, exp.Div, exp.Count)):
        yield f"The question asks for two figures; the query computes no {lacking[0].__name__.upper()}."


def thing_untold(r: Reading) -> Sentences:
    """`Which genre sells most?`, `the top 5 customers`, and the query returns the figure alone."""
    facts = r.case.facts
    asked = _WHICH.match(r.question) or (
        r.intent.superlative and facts.limit is not None and not _FIGURE_ASKED.search(r.question)
    )
    if not asked or not facts.group_by or not r.output:
        return
    if all(every(e, exp.AggFunc) and not every(e, exp.Case) for e in r.output):
        yield "The question asks which; the query returns a figure without what it is of."


_WHICH = re.compile(r"^\W*(?:which|who|whose)\b")
_FIGURE_ASKED = re.compile(
    r"\b(?:how|what (?:is|was|are|were)|when|percent\w*|share|ratio)\b"
    r"|^\W*(?:find|show|give|return|list|compute|calculate)\b.{0,12}\b(?:number|count|average|total|max|min|sum)"
)


def figure_untold(r: Reading) -> Sentences:
    """`Tips by day`, and the query returns the days alone."""
    facts = r.case.facts
    if not facts.group_by or facts.aggregates or facts.window_functions or facts.having or facts.distinct:
        return
    if _BY_GROUP.search(r.question) and not any(every(e, exp.Binary) for e in r.output):
        yield "The question asks for something of each group; the query returns the groups alone."


_BY_GROUP = re.compile(
    r"\b(?:by|per|each|every|over the|vs|versus|compared?|monthly|yearly|daily|weekly|quarterly|share|percent\w*"
    r"|trend)\b"
)
