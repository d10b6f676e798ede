"""Feedback: people's verdicts on answers, and the SQL that they confirmed."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, func, select, update

from agent.store.base import Base, transaction
from agent.store.records import FeedbackRecord, Verdict
from agent.store.store_errors import NotFound
from agent.store.tables import feedback, runs

CONFIRMED: tuple[Verdict, ...] = ("right", "corrected")
"""The verdicts that make the SQL of an answer an example."""
MOST = 1_000
"""Maximum number of verdicts that one call returns, latest first."""


class FeedbackStore(Base):
    @transaction
    def add_feedback(self, connection: Connection, record: FeedbackRecord) -> None:
        """Store a verdict; it becomes the verdict of its run. Raises NotFound for a run that is not the owner's."""
        its_run = update(runs).where(runs.c.owner == record.owner, runs.c.run_id == record.run_id)
        if not connection.execute(its_run.values(feedback=record.verdict)).rowcount:
            raise NotFound("There is no such run.")
        connection.execute(feedback.insert(), record.model_dump())

    @transaction
    def withdraw(self, connection: Connection, owner: str, run_id: str) -> bool:
        """Remove the verdicts on a run. False when the owner gave none."""
        mine = delete(feedback).where(feedback.c.owner == owner, feedback.c.run_id == run_id)
        connection.execute(update(runs).where(runs.c.owner == owner, runs.c.run_id == run_id).values(feedback=None))
        return bool(connection.execute(mine).rowcount)

    async def feedback(
        self,
        owner: str,
        preset: str | None = None,
        verdicts: Collection[Verdict] | None = None,
        *,
        rights: str | None = None,
    ) -> list[FeedbackRecord]:
        """The latest verdict of each run, newest first; `verdicts` filters by the latest verdict, `rights` by what the
        run was seen with."""
        newest = (feedback.c.created.desc(), feedback.c.feedback_id.desc())
        place = func.row_number().over(partition_by=feedback.c.run_id, order_by=newest).label("place")
        ranked = select(feedback, place).where(feedback.c.owner == owner).subquery()
        query = select(*(ranked.c[column.name] for column in feedback.c)).where(ranked.c.place == 1)
        if preset is not None:
            query = query.where(ranked.c.preset == preset)
        if rights is not None:
            query = query.where(ranked.c.rights == rights)
        if verdicts is not None:
            query = query.where(ranked.c.verdict.in_(verdicts))
        query = query.order_by(ranked.c.created.desc(), ranked.c.feedback_id.desc()).limit(MOST)
        return await self._all(FeedbackRecord, query)

    async def confirmed(
        self, owner: str, preset: str | None = None, *, rights: str | None = None
    ) -> list[tuple[str, str]]:
        """(question, SQL) of the answers that the owner held right or corrected."""
        records = await self.feedback(owner, preset, CONFIRMED, rights=rights)
        return [(one.question, one.sql) for one in records if one.question and one.sql]
