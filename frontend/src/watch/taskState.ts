/** How far a task of the plan is. */
import type { RunState } from "../run/state";

export type TaskState = "waiting" | "running" | "done" | "failed";

export function taskState(run: RunState, taskId: string): TaskState {
  const attempts = run.attempts.filter((attempt) => attempt.task_id === taskId);
  const open = run.steps.some((step) => step.taskId === taskId && !step.done);
  const last = attempts.at(-1);
  if (open && run.status === "running") return "running";
  if (!last) return run.steps.some((step) => step.taskId === taskId) && run.status === "running" ? "running" : "waiting";
  const retried = run.retries.some((retry) => retry.taskId === taskId && retry.attempt > last.attempt);
  if (retried && run.status === "running") return "running";
  return attempts.some((attempt) => attempt.status === "success") ? "done" : "failed";
}
