"""Declining: what the engine says about a question that it does not answer, or answers with a doubt.

In: the text of a question; or a reading with its words that were understood and those that were not. Out: sentences
that name these words, or the tables and columns that the question asks about. Each doubt names a word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.knowledge.vocabulary import Vocabulary
from agent.parser.question import LinkedQuestion
from agent.parser.state import Draft
from eval.language.inflection import lemma
from eval.language.lexicon import word_set

_SMALL_TALK = re.compile(
    r"(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|thanks?|thank you|thx|bye|goodbye|see you|ok|okay|"
    r"cool|great|nice|sorry|please|help|test|how are you|how(?:'s| is) it going|who are you|what are you|"
    r"what(?:'s| is) your name|what can (?:you|i) (?:do|ask)|are you (?:a )?(?:human|robot|bot|real|there)|"
    r"tell me a joke)"
    r"(?: there| you| all| a lot| so much| very much| everyone| today| doing| for (?:that|your help))?[\s!.?]*",
    re.IGNORECASE,
)
_ABOUT_TABLES = re.compile(
    r"(?:please )?(?:list|show|give|name|display|what|which)(?: me)?(?: are| is)?(?: all| the| my| your| of)* tables?"
    r"(?: names?)?(?: (?:are there|do (?:you|we|i) have|exist|can i (?:ask|query)[\w ]*))?"
    r"(?: (?:are )?(?:in|of) (?:the|this|my) (?:database|db|schema))?[\s!.?]*"
    r"|(?:what|which) (?:data|information) (?:do you have|is (?:there|here|available)|can i ask (?:about|for))[\s!.?]*"
    r"|what(?:'s| is) in (?:the|this|my) (?:database|db|data|schema)[\s!.?]*",
    re.IGNORECASE,
)
_ABOUT_COLUMNS = re.compile(
    r"(?:list|show|give|what|which)(?: me)?(?: are| is)?(?: all| the)* (?:columns?|fields?)(?: names?)?"
    r"(?: are)?(?: (?:of|in|for|does|do|from|has))(?: the)?(?: table)? (?P<table>[\w ]+?)(?: table)?(?: have)?[\s!.?]*"
    r"|describe (?:the )?(?:table )?(?P<described>[\w ]+?)(?: table)?[\s!.?]*",
    re.IGNORECASE,
)

_FIGURE = r"(?:revenue|sales|turnover|profit|income|costs?|demand|orders|bookings)"
_FORECAST = re.compile(
    r"^(?:how (?:much|many)|what)\b.*\b(?:will|shall|are) (?:we|i|they) (?:be |probably |likely )?(?:going |likely )?"
    r"(?:to )?(?:make|earn|sell|get|have|need|lose|gain|spend|take in|turn over)\b"
    rf"|\bwill (?:(?:our|the|my) )?(?:[a-z]+ )?{_FIGURE}\b(?: .{{0,40}})? (?:be|grow|rise|fall|increase|drop)\b"
    rf"|^(?:please )?(?:can you )?(?:predict|forecast|extrapolate) (?:the |our |my )?(?:[a-z]+ )?{_FIGURE}\b"
    r"|^how (?:much|many)\b.*\bwill there be\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"^(?:so |and |but )?(?:why\b|how come\b|what (?:caused|explains)\b|for what reason\b)", re.IGNORECASE
)
_REASONS = word_set("reason cause why explanation")
"""Words of columns that may hold reasons."""


def not_about_rows(text: str, words: Vocabulary) -> str:
    """The reply to small talk, and to a question about the tables themselves; empty for any other text."""
    if _SMALL_TALK.fullmatch(text):
        return f"This is no question about the data. You can ask about {_listed(_tables(words))}."
    if _FORECAST.search(text):
        return "This asks for a forecast; the data only says what has happened. Ask for a past period instead."
    if _REASON.search(text) and not _REASONS & words.holders.keys():
        return "This asks for a reason; the data only says what has happened. Ask for the figures behind it instead."
    if _ABOUT_TABLES.fullmatch(text) and not any("table" in t.words for t in words.tables.values()):
        return f"The database has the tables {_listed(sorted(words.tables))}."
    if match := _ABOUT_COLUMNS.fullmatch(text):
        named = [lemma(w) for w in (match["table"] or match["described"]).lower().split()]
        for name, table in words.tables.items():
            if [lemma(w) for w in table.words] == named or "_".join(named) == name.lower():
                return f"The table {name} has the columns {_listed([c.name for c in words.by_table[name]])}."
    return ""


def _tables(words: Vocabulary) -> list[str]:
    """The tables that a newcomer would ask about: those with most rows that are more than a link."""
    tables = [t for t in words.tables.values() if not t.bridge] or list(words.tables.values())
    return [t.plural for t in sorted(tables, key=lambda t: -(t.table.row_count or 0))[:5]]


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:30], *(["…"] if len(names) > 30 else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def nothing_shown(q: LinkedQuestion, unread: Sequence[str]) -> str:
    """Why a question gave no query."""
    about = f"; I do not know {_quoted(unread[:5])} here" if unread else ""
    why = f"I could not tell what to show{about}."
    if any(i.mention is not None or i.meanings for i in q.items):
        return why
    return (
        f"{why} Nothing in this question is the name of a table, a column or a stored value of this database. "
        f"You can ask about {_listed(_tables(q.vocabulary))}."
    )


def not_sure(q: LinkedQuestion, draft: Draft, unread: Sequence[str], meaning: str) -> str:
    """Why a reading is withheld: what was understood, what was not, and the best guess."""
    linked = [i for i in q.items if i.mention is not None and i.start in draft.used and i.lower not in unread]
    used = [" ".join(t.text for t in q.tokens[i.start : i.end]) for i in linked]
    known = f" I understood {_quoted(used[:6])}." if used else ""
    missing = (
        f"I did not understand {_quoted(unread)}." if unread else f"I am least sure of “{least_certain(q, draft)}”."
    )
    return f"I am not sure enough to answer.{known} {missing} My best guess was: {meaning}."


def least_certain(q: LinkedQuestion, draft: Draft) -> str:
    """The word that the reading is least sure of: the first one in doubt, otherwise the weakest match."""
    if draft.doubtful:
        return draft.doubtful[0]
    scores = {i.lower: max(i.mention.schema_score, i.mention.value_score) for i in q.items if i.mention is not None}
    return min(scores, key=lambda w: scores[w], default="") or next((i.lower for i in q.items), "")


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{w}”" for w in words)
