"""The offline engine as a `Model`: plan, SQL, verdict and answer without any language model.

In: the protocol's requests. Out: its replies. `engine` does the reading itself; this module connects it to the graph,
and recalls questions whose SQL a person confirmed.
"""

from __future__ import annotations

import datetime as dt
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from agent.knowledge.memory.examples import Example, shown_to, usable
from agent.knowledge.semantics.expansion import ModelView, model_view_of
from agent.knowledge.semantics.model import SemanticModel
from agent.knowledge.value_words import fold
from agent.knowledge.values import ValueHit, ValueIndex, ValueSpan, value_index
from agent.models.protocol import (
    Capabilities,
    Judgement,
    JudgeRequest,
    PlanReply,
    PlanRequest,
    SqlReply,
    SqlRequest,
    Summary,
    SummaryRequest,
    Usage,
)
from agent.parser.assumed_values import assumed_values, doubted
from agent.parser.confidence import confidence
from agent.parser.dialogue import ambiguity, may_be_ambiguous, whole_question
from agent.parser.engine import Reading, read
from agent.parser.execution_probe import looker
from agent.parser.periods import period_at
from agent.parser.sql_builder import readable
from agent.parser.summary import summary_text
from agent.parser.units import NOTE, in_whole_units
from agent.state import QueryPlan, QueryTask
from eval.databases.base import Database
from eval.language.lexicon import FUNCTION_WORDS, word_set
from eval.language.tokens import tokenize
from eval.schema import Schema
from eval.sql import parse
from eval.threads import in_turn

CONFIRMED = 0.95
"""The confidence of a query that a person confirmed for the same words."""


class OfflineModel:
    """Reads questions to one database. Deterministic. It keeps the last reading, so that planning and writing read a
    question only once."""

    name = "offline"
    capabilities = Capabilities(
        remote=False, samples=False, calibrated=True, exact_summaries=True, second_opinion=False
    )

    def __init__(self, database: Database, semantics: SemanticModel | None = None) -> None:
        self._database = database
        self._semantics = semantics
        self._last: tuple[tuple[str, str, str, str, int], Reading] | None = None

    async def plan(self, request: PlanRequest) -> PlanReply:
        """One task; the confidence is that of the reading (0.0 when it abstains). Follow-ups are first rewritten as
        standalone questions."""
        started = time.perf_counter()
        question = request.question
        if request.history or request.clarified:
            question = await in_turn(whole_question, request, self._database)
        reading = await self._read(question, request.evidence, request)
        clarification = None
        if request.may_ask and may_be_ambiguous(reading):
            values = await in_turn(value_index, self._database, request.schema)
            clarification = await in_turn(ambiguity, question, reading, request.schema, values)
        task = QueryTask(id="task_1", description=question, sql=reading.sql)
        plan = QueryPlan(
            plan_type="single", confidence=0.0 if reading.abstained else round(reading.confidence, 4), tasks=[task]
        )
        return PlanReply(plan, _usage(started), "" if question == request.question else question, clarification)

    async def write_sql(self, request: SqlRequest) -> SqlReply:
        """The query. A retry with feedback gets the next best reading if there is one, otherwise the same reading
        again."""
        started = time.perf_counter()
        question = request.task.description or request.question
        place = request.attempt if request.feedback else 1
        if request.verified and place == 1:
            examples = [Example(q, sql) for q, sql in request.verified]
            values = await in_turn(value_index, self._database, request.schema)
            known = await in_turn(recalled, question, examples, request.schema, values, self._database)
            if known is not None:
                return SqlReply(known.sql, known.reasoning, CONFIRMED, usage=_usage(started))
        evidence = "; ".join(filter(None, (request.evidence, *request.definitions)))
        reading = await self._read(question, evidence, request, place)
        return SqlReply(
            reading.sql,
            reading.interpretation,
            round(reading.confidence, 4),
            reading.abstained,
            reading.not_understood,
            reading.alternatives,
            _usage(started),
            reading.guess,
            refused=reading.refused,
        )

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Neutral, unless the result contradicts the form of the question."""
        started = time.perf_counter()
        score, reasoning = judge(request)
        return Judgement(score, reasoning, _usage(started))

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:
        """The answer, in one piece."""
        started = time.perf_counter()
        text = summary_text(request)
        if on_text is not None:
            on_text(text)
        return Summary(text, _usage(started))

    async def close(self) -> None:
        self._last = None

    async def _read(self, question: str, evidence: str, request: PlanRequest | SqlRequest, place: int = 1) -> Reading:
        key = (question, evidence, request.schema.fingerprint, request.dialect, place)
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        reading = await in_turn(self._reading, question, evidence, request, place)
        self._last = (key, reading)
        return reading

    def _reading(self, question: str, evidence: str, request: PlanRequest | SqlRequest, place: int) -> Reading:
        """Blocking: it may read the values of the database, and looks at the rows of statements."""
        schema, dialect, database = request.schema, request.dialect, self._database
        rows = database.holds_rows
        index = value_index(database, schema) if rows else assumed_values([question], schema)
        look = looker(database, request.ran) if rows else None  # an empty copy's results tell nothing
        view = model_view_of(self._semantics, schema).named_in(question) if self._semantics else ModelView(schema)
        through = look if look is None or not (view.meanings or view.hidden) else lambda tree: look(view.expand(tree))
        reading = read(view.worded(question), view.schema, index, dialect, evidence=evidence, place=place, look=through)
        if reading.tree is not None and (whole := in_whole_units(reading.tree, question)) is not None:
            said = f"{reading.interpretation}; {NOTE}"
            reading = replace(reading, tree=whole, sql=readable(whole, dialect), interpretation=said)
        if not rows:
            reading = doubted(reading, index)
        if (view.meanings or view.hidden) and reading.tree is not None:
            computed = any(view.stands_for(column) for column in reading.tree.find_all(exp.Column))
            tree = view.expand(reading.tree)
            reading = replace(reading, tree=tree, sql=readable(tree, dialect))
            if computed:
                stated = dict.fromkeys(("joins", "unnamed tables", "inferred joins", "joins by chance"), 0.0)
                defined = {**reading.features, **stated, "entities": min(reading.features.get("entities", 1.0), 1.0)}
                reading = replace(reading, confidence=max(reading.confidence, confidence(defined)))
        return reading


def _usage(started: float) -> Usage:
    return Usage(seconds=time.perf_counter() - started)


NEUTRAL = 0.5
_ONE_NUMBER = re.compile(
    r"^\W*(?:how many|how much|count|what is the (?:total|average|number)|what's the total)\b", re.I
)
_PER_GROUP = re.compile(r"\b(?:each|every|per|by|grouped)\b", re.I)


def judge(request: JudgeRequest) -> tuple[float, str]:
    """Score 0..0.5 with the reason."""
    question = request.question
    if request.rows_returned == 0:
        return 0.4, "The result is empty, which may or may not answer the question."
    if request.preview and all(cell is None for row in request.preview for cell in row):
        return 0.3, "Every value of the result is NULL."
    asks_one = bool(_ONE_NUMBER.search(question)) and not _PER_GROUP.search(question)
    if asks_one and request.rows_returned > 1:
        return 0.35, "The question asks for one number, and the result has several rows."
    if asks_one and request.preview and len(request.preview[0]) == 1:
        value = request.preview[0][0]
        number = isinstance(value, int | float) or re.fullmatch(r"-?\d+(?:\.\d+)?", str(value).strip())
        if value is not None and not number:
            return 0.35, "The question asks for a number, and the result is not one."
    return NEUTRAL, "No language model is at hand; nothing in the result contradicts the question."


_POLITE = word_set("please the a an me us all show list give tell display our my")
_CAN_HIT = 0.9
"""The lowest score of a stored value that a phrase names."""
_DATE = re.compile(r"(?P<year>\d{4})(?P<rest>-.*)?")


@dataclass(frozen=True, slots=True)
class Recalled:
    sql: str
    reasoning: str
    """Says which confirmed question was used, and what was exchanged."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One unit of a question: a word, a number, or a phrase that names a stored value."""

    text: str
    lemma: str
    number: float | int | None = None
    hits: tuple[ValueHit, ...] = ()


def recalled(
    question: str, examples: Sequence[Example], schema: Schema, values: ValueIndex, reader: Database | None = None
) -> Recalled | None:
    """The first example that asks the same and that the reader of the database may see; one without any exchange comes
    first."""
    parts = _parts(question, values)
    matches = [(pairs, e) for e in examples if (pairs := _exchanged(_parts(e.question, values), parts)) is not None]
    for pairs, example in sorted(matches, key=lambda match: len(match[0])):
        if usable(example, schema) is not None or (reader is not None and not shown_to(reader, example)):
            continue
        tree = parse(example.sql, schema.dialect).tree
        # A period may depend on today (`last month`): dates in a confirmed query do not move
        tokens = tokenize(question)
        periods = (period_at(tokens, k, dt.date(2000, 1, 1)) for k in range(len(tokens)))
        moves = any(period is not None and period.relative for period in periods)
        if tree is None or (moves and any(_DATE.fullmatch(x.name) for x in tree.find_all(exp.Literal))):
            continue
        tree = tree.copy()
        if all(_replace(tree, old, new) for old, new in pairs):
            exchanged = "".join(f", with “{new.text}” for “{old.text}”" for old, new in pairs)
            sql = tree.sql(dialect=schema.dialect) if pairs else example.sql
            return Recalled(sql, f"as in the confirmed question “{example.question}”{exchanged}")
    return None


def _parts(question: str, values: ValueIndex) -> list[_Part]:
    tokens = [t for t in tokenize(question) if t.kind != "punct" and t.lower not in _POLITE]
    spans: dict[int, ValueSpan] = {}
    for span in values.spans([t.text for t in tokens]):
        hits = tuple(h for h in span.hits if h.score >= _CAN_HIT)
        if hits and any(t.lower not in FUNCTION_WORDS and t.number is None for t in tokens[span.start : span.end]):
            longest = spans.get(span.start)
            spans[span.start] = longest if longest is not None and longest.end > span.end else span
    parts: list[_Part] = []
    at = 0
    while at < len(tokens):
        named = spans.get(at)
        end = named.end if named is not None else at + 1
        text, lemma = (" ".join(words) for words in zip(*((t.text, t.lemma) for t in tokens[at:end]), strict=True))
        number = tokens[at].number if end == at + 1 else None
        parts.append(_Part(text, lemma, number, named.hits if named is not None else ()))
        at = end
    return parts


def _exchanged(example: Sequence[_Part], question: Sequence[_Part]) -> list[tuple[_Part, _Part]] | None:
    """The values that differ between two questions in the same words; None for different words."""
    if len(example) != len(question):
        return None
    pairs = []
    for old, new in zip(example, question, strict=True):
        if old.lemma == new.lemma:
            continue
        columns = {(h.table, h.column) for h in old.hits} & {(h.table, h.column) for h in new.hits}
        if not columns and (old.number is None or new.number is None):
            return None
        pairs.append((old, new))
    return pairs


def _replace(tree: exp.Expression, old: _Part, new: _Part) -> bool:
    """Exchange one value in the query. False when it does not stand there, or stands there more than once."""
    if old.number is not None and new.number is not None:
        return _replace_number(tree, old.number, new.number)
    stored = {(h.table, h.column): h.value for h in new.hits}
    options = [(h.value, stored[h.table, h.column]) for h in old.hits if (h.table, h.column) in stored]
    for before, after in options:
        literals = [x for x in tree.find_all(exp.Literal) if x.is_string and fold(x.name.strip("%")) == fold(before)]
        if len(literals) == 1:
            wild = literals[0].name
            literals[0].replace(exp.Literal.string(wild.replace(wild.strip("%"), after)))
            return True
    return False


def _replace_number(tree: exp.Expression, old: float | int, new: float | int) -> bool:
    literals = list(tree.find_all(exp.Literal))
    same = [x for x in literals if not x.is_string and float(x.name) == old]
    if len(same) == 1:
        same[0].replace(exp.Literal.number(new))
        return True
    dates = [(x, m) for x in literals if x.is_string and (m := _DATE.fullmatch(x.name))]
    if same or not all(isinstance(y, int) and 1500 <= y <= 2200 for y in (old, new)):
        return False
    moved = [(x, m) for x, m in dates if int(m["year"]) in (old, old + 1)]
    for literal, match in moved:
        literal.replace(exp.Literal.string(f"{int(match['year']) + int(new - old):04}{match['rest'] or ''}"))
    return bool(moved) and len(moved) == len(dates)
