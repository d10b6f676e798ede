"""A plan is used only when it can be run."""

from __future__ import annotations

import pytest

from agent.runtime.plans import MAX_TASKS, PlanInvalid, in_running_order
from agent.state import QueryPlan, QueryTask


def plan(*tasks: tuple[str, list[str]]) -> QueryPlan:
    made = [QueryTask(id=i, description=f"do {i}", depends_on=d) for i, d in tasks]
    return QueryPlan(plan_type="multi-sequential", confidence=0.8, tasks=made)


def test_tasks_run_after_what_they_depend_on_and_otherwise_in_the_given_order() -> None:
    ordered = in_running_order(plan(("c", ["a", "b"]), ("b", []), ("a", ["b"]), ("d", [])))
    assert [t.id for t in ordered.tasks] == ["b", "d", "a", "c"]
    assert ordered.confidence == 0.8


def test_a_plan_of_one_task_is_single_whatever_it_calls_itself() -> None:
    assert in_running_order(plan(("only", []))).plan_type == "single"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (plan(), "no task"),
        (plan(("a", []), ("a", [])), "same id"),
        (plan(("a", ["b"])), "not in the plan"),
        (plan(("a", ["b"]), ("b", ["a"])), "circle"),
        (plan(("a", ["a"])), "circle"),
        (plan((" ", [])), "no id"),
        (plan(*((str(i), []) for i in range(MAX_TASKS + 1))), "at most"),
    ],
)
def test_a_plan_that_cannot_run_is_refused_with_the_reason(broken: QueryPlan, reason: str) -> None:
    with pytest.raises(PlanInvalid, match=reason):
        in_running_order(broken)
