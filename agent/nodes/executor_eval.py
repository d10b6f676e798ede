"""executor_eval: a draft → one or more scored QueryResults. Steps: check and run → score → judge → blend.

Each of several candidates becomes an attempt. If the strategy has results verified, the model reviews the result and
may revise the query. Every failure gives a valid QueryResult.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Any

from agent.candidates.examination import as_read_once, examined
from agent.events import QueryResultEvent, RevisionEvent, RevisionInfo
from agent.models.protocol import SummaryRequest
from agent.nodes.opinions import NOT_CHOSEN, PERFECT, judged_relevance, may_be_reviewed, review, stands
from agent.runtime.attempts import attempts_at, doubts, of_attempt, passes
from agent.runtime.context import RunContext, SummaryAhead
from agent.runtime.probability import DOUBTFUL
from agent.state import (
    AgentState,
    Analysis,
    Draft,
    EvalReport,
    Evidence,
    Hallucinations,
    Phantom,
    QueryResult,
    QueryTask,
    Relevance,
    asked,
    standalone,
)
from agent.statements.reading import not_used
from agent.statements.spelling import as_stored
from eval.databases.types import DatabaseError
from eval.databases.values import json_rows
from eval.examination import Query, column_contents
from eval.scoring import Case, Observation, Score, final_score, observed, score
from eval.sql import References
from eval.sql.types import PhantomKind
from eval.threads import in_turn

log = logging.getLogger(__name__)

_FROM_DRAFT = {"sql", "reasoning", "confidence", "not_understood", "alternatives", "guess", "failure"}
"""The fields that an attempt takes from its draft."""
_TAUGHT = 100_000
"""Characters of what was taught that are looked through."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The data shared by all attempts of one visit to this node."""

    question: str
    task: QueryTask
    context: RunContext
    state: AgentState


async def executor_eval(state: AgentState, context: RunContext) -> dict[str, Any]:
    """Evaluate the draft. The chosen attempt comes last, because the gate examines the last one. Other candidates,
    which are shown but not judged, and revisions that are no better come before it."""
    task, draft = state["current_task"], state["draft"]
    step = _Step(asked(state), task, context, state)
    first = len(attempts_at(task.id, state.get("query_results", []))) + 1
    rivals = [await _attempt(step, rival, number, judged=False) for number, rival in enumerate(draft.rivals, first)]
    chosen = await _attempt(step, draft, first + len(rivals), replaces=[r.attempt for r in rivals])
    return {"query_results": [*rivals, *await _verified(step, chosen)]}


async def _attempt(
    step: _Step,
    draft: Draft,
    number: int,
    *,
    judged: bool = True,
    replaces: Sequence[int] = (),
    before: QueryResult | None = None,
) -> QueryResult:
    """Evaluate one draft and emit its event. A revision replaces `before` if it is no worse."""
    try:
        result = await _evaluated(step, draft, number, judged=judged)
    except DatabaseError as error:
        result = _result(step, draft, number, status="error", error=str(error))
    except Exception as error:
        log.exception("An attempt failed inside")
        result = _result(step, draft, number, status="error", error=f"internal error: {type(error).__name__}")
    if before is not None and stands(result, before):
        replaces = [before.attempt]
    verdict = of_attempt(result, passes=passes(result, step.context.threshold), executed=step.context.execute)
    result = result.model_copy(update={"verdict": verdict, "replaces": list(replaces), "agreeing": draft.agreeing})
    step.context.emit(QueryResultEvent(data=result))
    return result


async def _verified(step: _Step, first: QueryResult) -> list[QueryResult]:
    """The attempt and its revisions, the chosen one last. The model reviews the rows until it accepts them, at most for
    the rounds that the strategy allows a task. A revision that is no better leaves the next round to find another, at a
    higher temperature."""
    state, context, task = step.state, step.context, step.task
    standing, others = first, list[QueryResult]()
    earlier = attempts_at(task.id, state.get("query_results", []))
    before = sum(r.verified is not None for r in earlier)
    for number_of_round in range(before, context.strategy.verify_rounds):
        if not may_be_reviewed(standing) or context.seconds_left <= 0:
            break
        opinion = await review(step.question, task, standing, state["schema_context"], context, number_of_round)
        if opinion is None:
            break
        known = {r.sql for r in (*earlier, *others, standing)}
        standing = standing.model_copy(update={"verified": opinion.accepted})
        if opinion.accepted or opinion.sql == standing.sql:
            break
        if opinion.sql in known:
            continue
        number = first.attempt + len(others) + 1
        revision = RevisionInfo(task_id=task.id, attempt=number, revises=standing.attempt, reasoning=opinion.reasoning)
        context.emit(RevisionEvent(data=revision))
        draft = Draft(sql=opinion.sql, reasoning=opinion.reasoning)
        revised = await _attempt(step, draft, number, before=standing)
        worse, standing = (standing, revised) if revised.replaces else (revised, standing)
        others.append(worse)
    return [*others, standing]


async def _evaluated(step: _Step, draft: Draft, number: int, *, judged: bool) -> QueryResult:
    """Raises DatabaseError where the structure can't be read."""
    context = step.context
    if draft.failure and draft.failure.kind == "abstained":
        return _result(step, draft, number, status="failed")
    if draft.failure or draft.error:
        return _result(
            step, draft, number, status="error", error=draft.failure.message if draft.failure else draft.error
        )
    draft, case = await _examined(step, draft)
    if not context.execute and case.runnable is not None:
        # no statement may be run: the engine's own compiler checks it if it can; without rows there is no score
        refusal = await context.database.refusal_async(case.runnable)
        status = "error" if refusal else "success"
        written = _result(step, draft, number, sql=case.runnable.sql, status=status, error=refusal)
        return written if refusal else await _as_read(step, written, case)

    with_model = context.semantics is not None
    departures, units, open_readings = await in_turn(_meaning, step, case) if with_model else _meaning(step, case)
    own = draft.confidence if draft.by_engine or context.model.capabilities.calibrated else None
    case = replace(
        case,
        candidates_agreeing=draft.agreeing,
        departures=departures,
        own_confidence=own if draft.estimate is None else None,
        estimate=draft.estimate,
    )
    seen = observed(case)
    # The retry handler quotes the parser's or the database's message. A refusal by the guard is no error.
    if (executed := case.result) is None:
        result = _result(step, draft, number, status="failed", error=case.parsed.error)
    else:
        # a column that its file did not let be read as numbers explains what the engine says
        said = "\n".join((*open_readings, executed.error)) if executed.error else None
        result = _result(
            step,
            draft,
            number,
            status="success" if case.ran else "error",
            error=case.parsed.error or said,
            data=json_rows(executed.rows),
            columns=list(executed.columns),
            units=units,
            open_readings=open_readings,
            rows_returned=len(executed.rows),
            truncated=executed.truncated,
            execution_time_ms=round(executed.execution_time_ms, 3),
        )
    relevance = NOT_CHOSEN
    if judged:
        result = await _as_read(step, result, case)
        _begin_summary(step, result, case, seen)
        relevance = await judged_relevance(step.question, step.task, case, seen, result.data, context)
    return _rated(result, case, seen, relevance)


async def _examined(step: _Step, draft: Draft) -> tuple[Draft, Case]:
    """The draft examined; with its names spelled as they are stored, where they are not found as they are."""
    context = step.context
    known = (step.state.get("evidence", ""), context.taught)
    query = Query(
        step.question,
        draft.sql,
        reasoning=draft.reasoning,
        plan_confidence=step.state["plan"].confidence,
        taught=" ".join(filter(None, known))[:_TAUGHT].casefold(),
    )
    confidence = draft.confidence if draft.by_engine else None
    case = await examined(query, context, confidence)
    fits = case.runnable is not None and not case.references.phantoms
    if context.database.dialect == "postgres" or not (draft.by_engine or fits):
        stored = await in_turn(as_stored, draft.sql, case.schema, context.database.name)
        if stored != draft.sql:
            draft = draft.model_copy(update={"sql": stored})
            case = await examined(replace(query, sql=stored), context, confidence)
    return draft, case


def _meaning(step: _Step, case: Case) -> tuple[tuple[str, ...], list[str], list[str]]:
    """Where the query computes a metric of the question otherwise than the semantic model defines it; what the result's
    columns are counted in; what is open in how they were read from a file."""
    semantics, tree = step.context.semantics, case.parsed.tree
    if tree is None:
        return (), [], []
    departed: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    if semantics is not None:
        from agent.knowledge.semantics.check import departures, units_of

        units = units_of(tree, semantics, case.schema) if case.result else ()
        departed = departures(step.question, tree, semantics, case.schema)
    of_file = column_contents.units(tree, case.schema) if case.result else ()
    both = [one or other for one, other in zip_longest(units, of_file, fillvalue="")]
    return departed, both, [*column_contents.open_readings(tree, case.schema), *case.contents]


async def _as_read(step: _Step, result: QueryResult, case: Case) -> QueryResult:
    """With what the query says and what it leaves out; without, where that can't be told."""
    if step.context.execute and not case.ran:
        return result
    try:
        said, missing = await as_read_once(step.question, case, step.context)
        if case.second_opinion is not None:
            said = [*said, *await in_turn(not_used, case)]
    except Exception:  # what is said of an answer must not cost the answer
        log.exception("The reading failed inside")
        return result
    date = ", and another date may be meant"
    unsaid = [f"{one.text}{date if one.kind == 'unknown' else ''}" for one in missing if one.open]
    return result.model_copy(
        update={"reading": said, "left_out": missing, "open_readings": [*result.open_readings, *unsaid]}
    )


def _rated(result: QueryResult, case: Case, seen: tuple[Observation, ...], relevance: Relevance) -> QueryResult:
    """The attempt with its score, the judge's opinion included."""
    scored = score(replace(case, relevance=relevance.score), seen=seen)
    report = _report(scored, case.references, relevance)
    if result.open_readings and report.probability is not None:
        report = report.model_copy(update={"probability": min(report.probability, DOUBTFUL)})
    return result.model_copy(update={"score": report.overall, "eval_report": report})


def _result(step: _Step, draft: Draft, number: int, **fields: Any) -> QueryResult:
    """An attempt with the fields of its draft; `fields` take precedence."""
    kept = draft.model_dump(include=_FROM_DRAFT)
    return QueryResult(task_id=step.task.id, attempt=number, **(kept | fields))


def _report(scored: Score, references: References, relevance: Relevance) -> EvalReport:
    def named(kind: PhantomKind) -> list[Phantom]:
        return [Phantom(name=p.name, nearest=list(p.nearest)) for p in references.named(kind)]

    return EvalReport(
        overall=round(final_score(scored, relevance.score), 4),
        overall_before_relevance=round(scored.weighted, 4),
        probability=scored.probability,
        dimensions={name: round(value, 4) for name, value in scored.dimensions.items()},
        relevance=relevance,
        analysis=Analysis(
            hallucinations=Hallucinations(
                tables=named("table"),
                columns=named("column"),
                functions=named("function"),
                ambiguous=named("ambiguous"),
            ),
            evidence=[Evidence(**asdict(e)) for e in scored.evidence],
            notes=dict(scored.notes),
        ),
        vetoes=list(scored.vetoes),
    )


def _begin_summary(step: _Step, result: QueryResult, case: Case, seen: tuple[Observation, ...]) -> None:
    """Start the summary of an attempt with the best score that a judge can give it. Does so only if the strategy would
    otherwise call the judge and the summarizing model one after the other."""
    state, context = step.state, step.context
    strategy, threshold = context.strategy, context.threshold
    capable = context.model.capabilities.remote and not context.model.capabilities.exact_summaries
    asked_for = strategy.summary_ahead and strategy.summary and strategy.judge and not strategy.verify_rounds
    single = len(state["plan"].tasks) == 1 and context.summary_ahead is None
    if not (capable and asked_for and single and context.execute):
        return
    expected = _rated(result, case, seen, PERFECT)
    if passes(expected, threshold):
        request = SummaryRequest(standalone(state), state["plan"], (expected,), doubts((expected,), threshold))
        context.summary_ahead = SummaryAhead(request, context.model)
