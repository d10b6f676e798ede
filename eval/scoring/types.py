"""What scoring reads (`Case`) and what it says (`Score`, `Evidence`), and what kind of evidence each observation is.

`observations.txt` lists the observations: the kind of each, which way it may count, and what it is marked for. Kinds:

- `contradiction`: a conflict between question, query, data and schema that a reader can check. It counts on every
  database, and only contradictions may be given to a model as feedback. A name that begins with `PROVED` is one that
  leaves no other reading (`eval.scoring.contradictions`): it makes an answer doubtful, whatever speaks for it.
- `agreement`: other queries for the same question return the same rows, or other ones.
- `confirmation`: a part of the question that has its form in the query.
- `habit`: how queries for such questions are usually written. It counts only where the question and the query resemble
  those that the habits were learned from (`eval.scoring.evidence.features`).
- `context`: how hard the question is. It is a habit without a direction and is never shown.

The sign is fixed so that a sentence shown to the user never says the opposite of what it weighs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from sqlglot import exp

from eval.databases.types import ExecutionResult
from eval.language.lexicon import lines
from eval.schema import Schema, Table
from eval.sql.traversal import from_items
from eval.sql.types import ParsedQuery, QueryFacts, References, Verdict
from eval.statement import ReadStatement

Kind = Literal["contradiction", "agreement", "confirmation", "habit", "context"]
Mark = Literal["worded", "valued", "proves", "incomplete", "otherwise", "for"]

PROVED = "proved_"
HABITS: tuple[Kind, ...] = ("habit", "context")
_LISTED = {
    name: (cast("Kind", kind), frozenset(marks))
    for name, kind, *marks in map(str.split, lines(Path(__file__).with_name("observations.txt")))
}


def marked(mark: Mark) -> frozenset[str]:
    """The observations with this mark."""
    return frozenset(name for name, (_, marks) in _LISTED.items() if mark in marks)


def kind_of(name: str) -> Kind:
    """The kind of an observation. One that is not listed is a confirmation if it ends in `_matched`, else a habit."""
    if name.startswith(PROVED):
        return "contradiction"
    listed = _LISTED.get(name)
    return listed[0] if listed else "confirmation" if name.endswith("_matched") else "habit"


_FOR = marked("for")


def sign(name: str) -> int:
    """1 where the observation can only speak for the query, -1 where only against it, 0 where it informs."""
    kind = kind_of(name)
    if kind == "context":
        return 0
    return 1 if kind == "confirmation" or name in _FOR else -1


DIMENSIONS = (
    "correctness",
    "safety",
    "efficiency",
    "completeness",
    "semantic_accuracy",
    "best_practices",
    "plan_quality",
)


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """Another reading of the same question, made independently (the offline engine's), with its own result."""

    sql: str
    facts: QueryFacts | None
    result: ExecutionResult | None
    confidence: float
    """0..1, the reader's own."""
    unread: tuple[str, ...] = ()
    """The question's words that it found nowhere."""


Place = Literal["exactly", "otherwise", "padded", "elsewhere", "nowhere"]
"""In the column as written; there in other case only; there with spaces around it only; in another column of the
query's tables; in none."""


@dataclass(frozen=True, slots=True)
class StoredConstant:
    """Where a text that the query compares with a column is stored."""

    value: str
    table: str
    column: str
    found: Place
    among: int = 0
    """How many different texts the column holds, where that is known."""


@dataclass(frozen=True, slots=True)
class FullScan:
    """A table that the engine reads from end to end for a query."""

    table: str
    rows: int
    """Of the table, as the schema has it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One query with everything already known of it; scoring parses nothing, connects to nothing, asks no model."""

    question: str
    parsed: ParsedQuery
    verdict: Verdict
    references: References
    facts: QueryFacts
    schema: Schema
    result: ExecutionResult | None
    """None when the query was not executed (refused, unparsable)."""
    full_scans: tuple[FullScan, ...] = ()
    """Large tables that the engine's plan reads from end to end (`eval.examination`)."""
    plan_confidence: float | None = None
    """0..1, the planner's; None where nothing was planned."""
    reasoning: str = ""
    """What the writer of the SQL said about it."""
    taught: str = ""
    """In lower case, what the writer knew besides the question: evidence, terms, confirmed queries."""
    second_opinion: SecondOpinion | None = None
    candidates_agreeing: tuple[int, int] | None = None
    """(candidates with the same result as this one, candidates in all), this one counted."""
    stored: tuple[StoredConstant, ...] = ()
    """The texts that the query compares with columns, looked up (`eval.examination`); empty when nobody looked."""
    named: tuple[StoredConstant, ...] = ()
    """Texts of the question that the query has nowhere and a column of its tables stores; empty when nobody looked."""
    contents: tuple[str, ...] = ()
    """Why the answer is in doubt by what the columns hold that the query orders or computes by; empty when nobody
    looked."""
    relevance: float | None = None
    """0..1, the judge's opinion of whether the result answers the question; None where nobody was asked."""
    prior: float | None = None
    """The share (0..1) of the writer's answers that are right, where it is known; else the fitted file's."""
    own_confidence: float | None = None
    """0..1, the writer's own calibrated figure for its reading of the question (the offline engine's); None for a
    writer that has none. It takes the place of the prior and of what confirms the reading."""
    estimate: float | None = None
    """0..1: that the result is right, by whoever compared it with others for the question; it takes the place of what
    this query's evidence alone would say."""
    gold: ExecutionResult | None = None
    """The gold query's result; with it correctness is a comparison, not a probability."""
    gold_ordered: bool = False
    departures: tuple[str, ...] = ()
    """Sentences: where the query departs from what a semantic model defines; empty where there is none."""

    @property
    def runnable(self) -> ReadStatement | None:
        """What may be sent; None where the guard refuses it or a name does not exist."""
        return None if self.references.phantoms else self.verdict.statement

    @property
    def tables_read(self) -> tuple[Table, ...]:
        """The tables and views that the query reads, as the schema has them."""
        return tuple(t for name in self.references.tables if (t := self.schema.table(name)) is not None)

    @property
    def multiplied(self) -> bool:
        """Whether sources are combined without a condition and rows are multiplied by it. One row beside one row, as in
        `SELECT a, b FROM (SELECT ... ) JOIN (SELECT ...)` with one row in all, multiplies nothing."""
        return self.facts.cartesian and not self._one_beside_one

    @property
    def _one_beside_one(self) -> bool:
        tree = self.parsed.tree
        if self.result is None or len(self.result.rows) != 1 or not isinstance(tree, exp.Select):
            return False
        if any(tree.args.get(part) for part in ("where", "group", "having", "distinct", "limit", "with_")):
            return False
        sources = from_items(tree)
        aggregated = any(column.find(exp.AggFunc) for column in tree.expressions)
        loose = sum(not (join.args.get("on") or join.args.get("using")) for join in tree.find_all(exp.Join))
        derived = all(isinstance(source, exp.Subquery) for source in sources)
        return derived and not aggregated and loose == len(sources) - 1

    @property
    def ran(self) -> bool:
        """It was executed, and the database returned its rows."""
        return self.result is not None and self.result.ok


@dataclass(frozen=True, slots=True)
class Evidence:
    """One observation for or against the query being right, in words."""

    name: str
    """Stable identifier, e.g. `count_intent`."""
    supports: bool | None
    """True speaks for, False against, None only informs."""
    weight: float
    """Signed contribution to the log-odds of correctness."""
    text: str
    """One plain sentence for the user."""
    kind: Kind = "habit"
    """What it rests on; only a `contradiction` is a conflict that a reader can check."""


@dataclass(frozen=True, slots=True)
class Score:
    """The seven dimensions (0..1), what correctness rests on, and what forbids the gate whatever the sum."""

    dimensions: dict[str, float]
    weighted: float
    """Sum of weight x dimension, 0..1, after vetoes have capped it."""
    evidence: tuple[Evidence, ...] = ()
    vetoes: tuple[str, ...] = ()
    """Sentences; non-empty means that the gate must not pass and the final score stays below the threshold."""
    preset: str = "default"
    notes: dict[str, str] = field(default_factory=dict)
    """By dimension, one sentence on why it is not 1.0."""
    probability: float | None = None
    """The calibrated probability (0..1) that the result is right, the judge's opinion included: the one figure that
    every view quotes."""

    @property
    def proved(self) -> tuple[str, ...]:
        """The sentences that prove a conflict between question and query."""
        return tuple(e.text for e in self.evidence if e.name.startswith(PROVED))

    @property
    def conflicts(self) -> tuple[str, ...]:
        """What forbids the query, and what is proved against it."""
        return (*self.vetoes, *self.proved)
