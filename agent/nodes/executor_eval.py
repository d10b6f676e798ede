"""executor_eval: a draft → one or more scored QueryResults. Steps: check and run → score → judge → blend.

Each of several candidates becomes an attempt. If the strategy has results verified, the model reviews the result and
may revise the query. Every failure gives a valid QueryResult.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Any

from agent.candidates.examination import as_read_once, examined
from agent.candidates.verification import may_be_reviewed, review, stands
from agent.events import QueryResultEvent, RevisionEvent, RevisionInfo
from agent.knowledge.schema_context import PREVIEW_ROWS
from agent.models.protocol import JudgeRequest, ModelError, SummaryRequest
from agent.nodes.opinions import why_it_does_not_count
from agent.runtime.attempts import attempts_at, doubts, passes
from agent.runtime.context import RunContext
from agent.runtime.probability import DOUBTFUL, SETTLED
from agent.runtime.summary_ahead import SummaryAhead
from agent.runtime.verdict import of_attempt
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
from eval.databases.types import DatabaseError, ExecutionResult
from eval.databases.values import json_rows
from eval.examination import Query, column_contents
from eval.scoring import Case, Observation, Score, final_score, observed, score
from eval.sql import References
from eval.sql.types import PhantomKind
from eval.threads import in_turn

log = logging.getLogger(__name__)

NOT_JUDGED = Relevance(score=0.5, reasoning="Not judged: there is no result to look at.")
NOT_CHOSEN = Relevance(score=0.5, reasoning="Not judged: another candidate was chosen.")
NO_JUDGE = Relevance(score=0.5, reasoning="Not judged: the strategy has no judge.")
SETTLED_BY_EVIDENCE = Relevance(score=0.5, reasoning="Not judged: the evidence settles it.")
PERFECT = Relevance(score=1.0, reasoning="The best that a judge may say.")
NO_OPINION = Relevance(score=0.5, reasoning="Not judged: the model gave no usable opinion.")

_FROM_DRAFT = {"sql", "reasoning", "confidence", "not_understood", "alternatives", "guess", "failure"}
"""The fields that an attempt takes from its draft."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The data shared by all attempts of one visit to this node."""

    question: str
    task: QueryTask
    plan_confidence: float
    context: RunContext
    state: AgentState


async def executor_eval(state: AgentState, context: RunContext) -> dict[str, Any]:
    """Evaluate the draft. The chosen attempt comes last, because the gate examines the last one. Other candidates,
    which are shown but not judged, and revisions that are no better come before it."""
    task, draft = state["current_task"], state["draft"]
    step = _Step(asked(state), task, state["plan"].confidence, context, state)
    first = len(attempts_at(task.id, state.get("query_results", []))) + 1
    rivals = [await _shown(step, rival, number, judged=False) for number, rival in enumerate(draft.rivals, first)]
    chosen = await _shown(step, draft, first + len(rivals), replaces=[r.attempt for r in rivals])
    return {"query_results": [*rivals, *await _verified(step, state, chosen)]}


async def _shown(
    step: _Step,
    draft: Draft,
    number: int,
    *,
    judged: bool = True,
    replaces: Sequence[int] = (),
    before: QueryResult | None = None,
) -> QueryResult:
    """Evaluate one attempt and emit its event. A revision replaces `before` if it is no worse."""
    try:
        result = await _attempt(step, draft, number, judged=judged)
    except Exception as error:
        log.exception("An attempt failed inside")
        result = _without_statement(step, draft, number, f"internal error: {type(error).__name__}")
    if before is not None and stands(result, before):
        replaces = [before.attempt]
    verdict = of_attempt(result, passes=passes(result, step.context.threshold), executed=step.context.execute)
    result = result.model_copy(update={"verdict": verdict, "replaces": list(replaces), "agreeing": draft.agreeing})
    step.context.emit(QueryResultEvent(data=result))
    return result


async def _verified(step: _Step, state: AgentState, first: QueryResult) -> list[QueryResult]:
    """The attempt and its revisions, the chosen one last. The model reviews the rows until it accepts them, at most for
    the rounds that the strategy allows a task. A revision that is no better leaves the next round to find another, at a
    higher temperature."""
    context, task = step.context, step.task
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
        revised = await _shown(step, draft, number, before=standing)
        worse, standing = (standing, revised) if revised.replaces else (revised, standing)
        others.append(worse)
    return [*others, standing]


async def _attempt(step: _Step, draft: Draft, number: int, *, judged: bool) -> QueryResult:
    if draft.failure:
        abstained = draft.failure.kind == "abstained"
        return _without_statement(step, draft, number, None if abstained else draft.failure.message)
    if draft.error:
        return _without_statement(step, draft, number, draft.error)
    known = (step.state.get("evidence", ""), step.context.taught)
    query = Query(
        step.question,
        draft.sql,
        reasoning=draft.reasoning,
        plan_confidence=step.plan_confidence,
        taught=" ".join(filter(None, known))[:_TAUGHT].casefold(),
    )
    try:
        confidence = draft.confidence if draft.by_engine else None
        case = await examined(query, step.context, confidence)
        fits = case.runnable is not None and not case.references.phantoms
        if step.context.database.dialect == "postgres" or not (draft.by_engine or fits):
            stored = await in_turn(as_stored, draft.sql, case.schema, step.context.database.name)
            if stored != draft.sql:
                draft = draft.model_copy(update={"sql": stored})
                case = await examined(replace(query, sql=stored), step.context, confidence)
    except DatabaseError as error:
        return _without_statement(step, draft, number, str(error))
    if not step.context.execute and case.runnable is not None:
        # no statement may be run: the engine's own compiler checks it if it can; without rows there is no score
        refusal = await step.context.database.refusal_async(case.runnable)
        status = "error" if refusal else "success"
        written = _result(step, draft, number, sql=case.runnable.sql, status=status, error=refusal)
        return written if refusal else await _as_read(step, written, case)
    return await _scored(step, draft, number, case, judged=judged)


async def _scored(step: _Step, draft: Draft, number: int, case: Case, *, judged: bool) -> QueryResult:
    with_model = step.context.semantics is not None
    departures, units, open_readings = await in_turn(_meaning, step, case) if with_model else _meaning(step, case)
    own = draft.confidence if draft.by_engine or step.context.model.capabilities.calibrated else None
    case = replace(
        case,
        candidates_agreeing=draft.agreeing,
        departures=departures,
        own_confidence=own if draft.estimate is None else None,
        estimate=draft.estimate,
    )
    seen = observed(case)
    executed = case.result
    data = json_rows(executed.rows) if executed else []
    result = _result(
        step,
        draft,
        number,
        status="success" if case.ran else "failed" if executed is None else "error",
        # The retry handler quotes this message from the parser or the database. A refusal by the guard is not an error.
        error=case.parsed.error or _engine_error(executed, open_readings),
    )
    if executed is not None:
        result = result.model_copy(
            update={
                "data": data,
                "columns": list(executed.columns),
                "units": units,
                "open_readings": open_readings,
                "rows_returned": len(data),
                "truncated": executed.truncated,
                "execution_time_ms": round(executed.execution_time_ms, 3),
            }
        )
    relevance = NOT_CHOSEN
    if judged:
        result = await _as_read(step, result, case)
        _begin_summary(step, result, case, seen)
        relevance = await _relevance(step, case, seen, data)
    return _rated(result, case, seen, relevance)


_TAUGHT = 100_000
"""Characters of what was taught that are looked through."""


def _meaning(step: _Step, case: Case) -> tuple[tuple[str, ...], list[str], list[str]]:
    """Where the query computes a metric of the question otherwise than the semantic model defines it; what the result's
    columns are counted in; what is open in how they were read from a file."""
    semantics, tree = step.context.semantics, case.parsed.tree
    if tree is None:
        return (), [], []
    departed: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    if semantics is not None:
        from agent.knowledge.semantics.conformity import departures, units_of

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


def _engine_error(executed: ExecutionResult | None, open_readings: Sequence[str]) -> str | None:
    """What the engine says, behind what explains it: a column that its file did not let be read as numbers."""
    if executed is None or not executed.error:
        return None
    return "\n".join((*open_readings, executed.error))


def _rated(result: QueryResult, case: Case, seen: tuple[Observation, ...], relevance: Relevance) -> QueryResult:
    """The attempt with its score, the judge's opinion included."""
    scored = score(replace(case, relevance=relevance.score), seen=seen)
    report = _report(scored, case.references, relevance)
    if result.open_readings and report.probability is not None:
        report = report.model_copy(update={"probability": min(report.probability, DOUBTFUL)})
    return result.model_copy(update={"score": report.overall, "eval_report": report})


def _without_statement(step: _Step, draft: Draft, number: int, error: str | None) -> QueryResult:
    """An attempt without a statement."""
    return _result(step, draft, number, status="failed" if error is None else "error", error=error)


def _result(step: _Step, draft: Draft, number: int, **fields: Any) -> QueryResult:
    """An attempt with the fields of its draft; `fields` take precedence."""
    kept = {name: getattr(draft, name) for name in _FROM_DRAFT}
    return QueryResult(task_id=step.task.id, attempt=number, **(kept | fields))


async def _relevance(step: _Step, case: Case, seen: tuple[Observation, ...], data: list[list[Any]]) -> Relevance:
    """The model's judgement of the result; neutral if there is no result or no usable judgement."""
    context, executed = step.context, case.result
    if executed is None or not executed.ok:
        return NOT_JUDGED
    if not context.strategy.judge:
        return NO_JUDGE
    if not context.strategy.judge_settled:
        scored = score(case, seen=seen)
        if (scored.probability or 0.0) >= SETTLED and not scored.vetoes:
            return SETTLED_BY_EVIDENCE
    preview = tuple(tuple(row) for row in data[:PREVIEW_ROWS])
    request = JudgeRequest(
        step.question,
        step.task,
        case.parsed.text,
        executed.columns,
        preview,
        len(executed.rows),
        context.database.dialect,
    )
    try:
        async with asyncio.timeout(context.seconds_left):
            judgement = await context.model.judge(request)
    except (ModelError, TimeoutError) as error:
        why = str(error) or "the time for this question ran out"
        log.warning("The result was not judged: %s", why)
        context.trouble(f"the result was not judged: {why}")
        context.spend_failed(error)
        return NO_OPINION
    context.spend(judgement.usage)
    if why := why_it_does_not_count(judgement, request, context.model):
        return Relevance(score=0.5, reasoning=f"Not judged: {why}.")
    return Relevance(score=min(1.0, max(0.0, judgement.score)), reasoning=judgement.reasoning)


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
