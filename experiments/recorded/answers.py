"""Recorded answers, one SQL text per system and question, returned as the replies of one model.

In: a file of questions `{id, question}` and one of answers `{system, id, sql}`, or `{systems, id, sql}` for a query
that several gave. Out: `Answers`, which replies to any of the agent's five prompts. It keeps no state between requests.
The request determines the next answer: the prompt of a retry quotes the rejected query. Any number of runs can
therefore proceed at once.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.jsonl import read_line
from experiments.recorded.asked import Asked, asked
from experiments.recorded.chat import Sent, completion, failure

NO_OPINION = "recorded model has no opinion"
SUMMARY = "The rows of the result are the answer."
NEUTRAL = 0.5
MODEL = "recorded"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Answer:
    system: str
    sql: str
    steps: tuple[str, ...] = ()
    """The queries of a recorded trace, in order; the last is `sql`. Empty without a trace."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One question and its answers, in the order of the attempts that receive them."""

    id: str
    question: str
    answers: tuple[Answer, ...]

    def after(self, failed_sql: str) -> Answer:
        """The answer that follows the failed one: the first for an unknown or empty text, the last when all are used
        up.

        If several recorded answers have the failed text, the first counts."""
        for form in (_exact, plain):
            texts = [form(answer.sql) for answer in self.answers]
            if form(failed_sql) in texts:
                return self.answers[min(texts.index(form(failed_sql)) + 1, len(texts) - 1)]
        return self.answers[0]


class Answers:
    """Replies to chat requests from recorded answers. `relevance` (0..1) is its verdict on every result."""

    def __init__(self, recorded: Iterable[Recorded], *, relevance: float = NEUTRAL) -> None:
        self._by_text: dict[str, list[Recorded]] = defaultdict(list)
        for one in recorded:
            self._by_text[plain(one.question)].append(one)
        self._relevance = relevance
        self.models: tuple[str, ...] = (MODEL,)

    def __len__(self) -> int:
        return sum(map(len, self._by_text.values()))

    def reply(self, body: dict[str, Any]) -> Sent:
        try:
            request = asked(body)
        except ValueError as error:
            return failure(400, str(error), "no_question")
        recorded = self._recorded(request)
        if recorded is None:
            return failure(404, "No recorded question occurs in this request.", "question_not_recorded")
        text = self._text(request, recorded)
        return completion(text, str(body.get("model") or MODEL), stream=body.get("stream") is True)

    def _text(self, request: Asked, recorded: Recorded) -> str:
        if request.kind == "plan":
            task = {"id": "task_1", "description": request.question, "depends_on": []}
            return json.dumps({"plan_type": "single", "confidence": 1.0, "tasks": [task]}, ensure_ascii=False)
        if request.kind == "judge":
            return json.dumps({"reasoning": NO_OPINION, "score": self._relevance})
        if request.kind == "review":
            return json.dumps({"reasoning": NO_OPINION, "accept": True, "sql": ""})
        if request.kind == "summary":
            return SUMMARY
        if request.kind == "step":
            return json.dumps(_step(recorded.answers[0], request), ensure_ascii=False)
        if request.failed_sql:
            answer = recorded.after(request.failed_sql)
        else:
            answer = recorded.answers[min(request.candidate, len(recorded.answers) - 1)]
        if not request.structured:
            return f"```sql\n{answer.sql}\n```"
        return json.dumps({"reasoning": f"recorded answer of {answer.system}", "sql": answer.sql}, ensure_ascii=False)

    def _recorded(self, request: Asked) -> Recorded | None:
        """The question of the request: an exact match, otherwise the longest recorded question contained in it."""
        text = plain(request.question)
        if text not in self._by_text:
            within = (known for known in self._by_text if _stands_in(known, text))
            text = max(within, key=len, default="")
        same = self._by_text.get(text, [])
        return max(same, key=lambda one: _named(one, request.prompt), default=None)


def _step(answer: Answer, request: Asked) -> dict[str, str]:
    """The next step of a recorded trace: its next query, which runs regardless of objections, or the end."""
    steps = answer.steps or (answer.sql,)
    tool, sql = request.allowed[0] if request.allowed else "finish", ""
    if "run_sql" in request.allowed:
        tool = "run_sql"
    elif "finish" not in request.allowed or request.written < len(steps):
        tool = next((one for one in request.allowed if one != "finish"), tool)
        sql = steps[min(request.written, len(steps) - 1)]
    return {"thought": f"recorded step of {answer.system}", "tool": tool, "sql": sql}


def plain(text: str) -> str:
    """The text with single spaces, and with the prompt's escaping undone: there the `<` of a tag is written `‹`."""
    return " ".join(text.replace("‹", "<").split()).rstrip("; ")


def _exact(sql: str) -> str:
    return sql.replace("‹", "<").strip().rstrip("; \n\t")


def _stands_in(known: str, text: str) -> bool:
    """Whether it occurs in the text, without starting or ending inside a word."""
    return known in text and re.search(rf"(?<!\w){re.escape(known)}(?!\w)", text) is not None


def _named(one: Recorded, prompt: str) -> float:
    """The share (0..1) of the words of the first recorded query that occur in the prompt. When several databases have
    the same question, the schema in the prompt shows which one is meant."""
    words = set(_WORD.findall(one.answers[0].sql.lower()))
    return len(words & set(_WORD.findall(prompt.lower()))) / max(1, len(words))


def load_answers(
    recording: Path, questions: Path, systems: Sequence[str] = (), *, distinct: bool = False
) -> list[Recorded]:
    """Read both files. Attempt k gets the answer of the k-th of `systems`; the default is all systems, in file order.
    With `distinct`, an answer with the text of an earlier one is skipped. Questions without any answer are left out.
    Raises OSError; ValueError for an unreadable line, an unknown system, or when nothing is left."""
    by_question: dict[str, dict[str, Answer]] = defaultdict(dict)
    known: dict[str, None] = {}
    for line in records(recording):
        sql = str(line.get("sql") or "")
        for system in line.get("systems") or [_text(line, "system", recording)]:
            known[str(system)] = None
            answer = Answer(str(system), sql, _queries(line.get("trace"), sql))
            by_question[str(line.get("id"))][str(system)] = answer
    if unknown := [name for name in systems if name not in known]:
        raise ValueError(f"{recording.name} has no system {', '.join(unknown)}; it has {', '.join(known)}")
    recorded = []
    for line in records(questions):
        given = by_question.get(str(line.get("id")), {})
        answers = [given[name] for name in systems or known if name in given]
        if distinct:
            first: dict[str, Answer] = {}
            for answer in answers:
                first.setdefault(plain(answer.sql), answer)
            answers = list(first.values())
        if answers:
            recorded.append(Recorded(str(line["id"]), _text(line, "question", questions), tuple(answers)))
    if not recorded:
        raise ValueError(f"{recording.name} answers none of the questions of {questions.name}")
    return recorded


def _queries(trace: object, sql: str) -> tuple[str, ...]:
    """The queries of a trace `[{action: "query", sql}, …]`, followed by the answer if it differs."""
    steps = [step for step in trace if isinstance(step, dict)] if isinstance(trace, list) else []
    queries = [str(step["sql"]) for step in steps if step.get("action") == "query" and step.get("sql")]
    if not queries:
        return ()
    return tuple(queries if plain(queries[-1]) == plain(sql) else [*queries, sql])


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file. Raises OSError; ValueError for one that is no JSON object."""
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            line = read_line(number, raw)
            if line is None:
                continue
            if line.record is None:
                raise ValueError(f"{path.name}: {line.problem}")
            yield line.record


def _text(line: dict[str, Any], name: str, path: Path) -> str:
    value = line.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{path.name}: a line without {name!r}")
    return value
