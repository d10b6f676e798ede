"""Validation of a plan before it is used: at least one task, unique ids, known and acyclic dependencies.

In: a plan from a model. Out: the same plan with its tasks in a runnable order, or PlanInvalid.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from agent.state import QueryPlan, QueryTask
from eval.errors import InputError

MAX_TASKS = 8
"""Maximum number of tasks; no sensible question needs more."""


class PlanInvalid(InputError):
    """The plan cannot be run; the message says why."""


def single_task_plan(question: str, confidence: float) -> QueryPlan:
    """The plan that asks the whole question in one query."""
    return QueryPlan(plan_type="single", confidence=confidence, tasks=[QueryTask(id="t1", description=question)])


def in_running_order(plan: QueryPlan) -> QueryPlan:
    """Check a plan and sort its tasks by dependency, keeping the given order otherwise. Raises PlanInvalid."""
    if not plan.tasks:
        raise PlanInvalid("the plan has no task")
    if len(plan.tasks) > MAX_TASKS:
        raise PlanInvalid(f"the plan has {len(plan.tasks)} tasks; at most {MAX_TASKS} are run")
    by_id = {task.id: task for task in plan.tasks}
    if len(by_id) != len(plan.tasks):
        raise PlanInvalid("two tasks of the plan have the same id")
    for task in plan.tasks:
        if not task.id.strip() or not task.description.strip():
            raise PlanInvalid("a task of the plan has no id or no description")
        for dependency in task.depends_on:
            if dependency not in by_id:
                raise PlanInvalid(f"task {task.id} depends on {dependency}, which is not in the plan")
    sorter = TopologicalSorter({task.id: task.depends_on for task in plan.tasks})
    try:
        sorter.prepare()
    except CycleError as error:
        raise PlanInvalid(f"tasks depend on each other in a circle: {' → '.join(error.args[1])}") from None
    ordered: list[QueryTask] = []
    while sorter.is_active():
        ready = set(sorter.get_ready())
        ordered += [task for task in plan.tasks if task.id in ready]
        sorter.done(*ready)
    kind = "single" if len(ordered) == 1 else "multi-sequential"
    return plan.model_copy(update={"tasks": ordered, "plan_type": kind})
