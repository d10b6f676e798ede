"""What people say: verdicts on answers, with the SQL that they confirmed, and terms: what words and the rows of a table
mean in their databases."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, and_, delete, func, select, update

from agent.store.base import Base, transaction
from agent.store.records import FeedbackRecord, TermRecord, Verdict
from agent.store.store_errors import NotFound, TooMany
from agent.store.tables import feedback, runs, storable, terms

CONFIRMED: tuple[Verdict, ...] = ("right", "corrected")
"""The verdicts that make the SQL of an answer an example."""
MOST = 1_000
"""Maximum number of verdicts that one call returns, latest first."""
MOST_TERMS = 500
"""Maximum number of terms of one owner for one database."""
MOST_FORGOTTEN = 100
"""Forgotten ones that are kept beside them, the latest."""
_OF_WORDS = ("word", "measure")
"""Kinds of which a word has only one."""


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

    # --- terms ---

    @transaction
    def teach(self, connection: Connection, *records: TermRecord) -> None:
        """Keep terms, each in place of what the owner taught of it before; all or none. Raises TooMany."""
        for record in records:
            _replace(connection, record)
            connection.execute(terms.insert(), record.model_dump())
            _within_bounds(connection, record)

    async def terms(self, owner: str, preset: str, *, rights: str = "", history: bool = False) -> list[TermRecord]:
        """The latest first; with `history`, the forgotten ones too."""
        of = (terms.c.owner == owner, terms.c.preset == preset, terms.c.rights == rights)
        wanted = select(terms).where(*of, *(() if history else (terms.c.forgotten.is_(None),)))
        latest = wanted.order_by(terms.c.created.desc(), terms.c.term_id).limit(MOST_TERMS + MOST_FORGOTTEN)
        return await self._all(TermRecord, latest)

    @transaction
    def forget(self, connection: Connection, owner: str, term_id: str) -> bool:
        """False when the owner has none of that id."""
        mine = and_(terms.c.owner == owner, terms.c.term_id == term_id, terms.c.forgotten.is_(None))
        found = connection.execute(select(terms).where(mine)).mappings().first()
        if found is None:
            return False
        connection.execute(update(terms).where(mine).values(forgotten=datetime.now(UTC)))
        _within_bounds(connection, TermRecord.model_validate(dict(found)))
        return True

    @transaction
    def restore(self, connection: Connection, owner: str, term_id: str, *, rights: str = "") -> TermRecord | None:
        """The term in place of what was taught of it since; None when the owner has none of that id. Raises TooMany."""
        mine = and_(terms.c.owner == owner, terms.c.term_id == term_id, terms.c.rights == rights)
        found = connection.execute(select(terms).where(mine)).mappings().first()
        if found is None:
            return None
        record = TermRecord.model_validate({**found, "forgotten": None})
        _replace(connection, record)
        connection.execute(update(terms).where(mine).values(forgotten=None))
        _within_bounds(connection, record)
        return record


def _of(record: TermRecord) -> ColumnElement[bool]:
    """The terms of the same owner and database."""
    return and_(
        terms.c.owner == record.owner, terms.c.preset == record.preset, terms.c.rights == storable(record.rights)
    )


def _replace(connection: Connection, record: TermRecord) -> None:
    """Forget what was taught of the same term."""
    kinds = _OF_WORDS if record.kind in _OF_WORDS else (record.kind,)
    same = (_of(record), terms.c.kind.in_(kinds), func.lower(terms.c.term) == storable(record.term).lower())
    others = (terms.c.term_id != record.term_id, terms.c.forgotten.is_(None))
    connection.execute(update(terms).where(*same, *others).values(forgotten=datetime.now(UTC)))


def _within_bounds(connection: Connection, record: TermRecord) -> None:
    known = select(func.count()).select_from(terms).where(_of(record), terms.c.forgotten.is_(None))
    if (connection.scalar(known) or 0) > MOST_TERMS:
        raise TooMany(f"{MOST_TERMS} terms are kept for a database. Forget one first.")
    old = select(terms.c.term_id).where(_of(record), terms.c.forgotten.is_not(None))
    old = old.order_by(terms.c.forgotten.desc(), terms.c.term_id).offset(MOST_FORGOTTEN)
    gone = connection.scalars(old).all()
    if gone:
        connection.execute(delete(terms).where(_of(record), terms.c.term_id.in_(gone)))
