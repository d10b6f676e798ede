"""Feedback: what people said of answers, and the SQL they held right."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, select, update

from agent.store.base import Base, micros, moment, storable
from agent.store.errors import NotFound
from agent.store.records import FeedbackRecord, Verdict
from agent.store.tables import feedback, runs

MOST = 1_000
"""Verdicts that one look returns, the latest."""


class FeedbackStore(Base):
    async def add_feedback(self, said: FeedbackRecord) -> None:
        """Keep a verdict; it becomes its run's. Raises NotFound for a run that is not the owner's."""
        values = said.model_dump() | {"created": micros(said.created)}
        values |= {name: storable(value) for name, value in values.items() if isinstance(value, str)}
        async with self._write() as connection:
            its_run = update(runs).where(runs.c.owner == said.owner, runs.c.run_id == values["run_id"])
            done = await connection.execute(its_run.values(feedback=said.verdict))
            if not done.rowcount:
                raise NotFound("There is no such run.")
            await connection.execute(feedback.insert().values(**values))

    async def feedback(
        self, owner: str, preset: str | None = None, verdicts: Collection[Verdict] | None = None
    ) -> list[FeedbackRecord]:
        """The latest verdict of each run, newest first; `verdicts` keeps runs whose latest is one of them."""
        latest = func.row_number().over(
            partition_by=feedback.c.run_id, order_by=(feedback.c.created.desc(), feedback.c.feedback_id.desc())
        )
        ranked = select(feedback, latest.label("place")).where(feedback.c.owner == owner).subquery()
        query = select(*(ranked.c[column.name] for column in feedback.c)).where(ranked.c.place == 1)
        if preset is not None:
            query = query.where(ranked.c.preset == storable(preset))
        if verdicts is not None:
            query = query.where(ranked.c.verdict.in_(list(verdicts)))
        query = query.order_by(ranked.c.created.desc(), ranked.c.feedback_id.desc()).limit(MOST)
        async with self._read() as connection:
            found = (await connection.execute(query)).mappings().all()
        return [FeedbackRecord.model_validate(dict(one) | {"created": moment(one["created"])}) for one in found]
