"""Runs the statement of a kept answer anew, under the same guard and limits as every other.

In: a kept answer, the client whose rights it is read with, and values for its parameters. Out: its first rows.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime

from sqlglot import exp

from agent.results import SqlOutcome
from agent.server.errors import ApiError
from agent.server.replies import first_rows
from agent.server.services import ClientServices
from agent.server.table_lookups import ValuesReply, values
from agent.statements.filtering import Filter, FilterKind, filterable, filtered
from agent.store.records import BoardFilter, BoardRecord, FilterColumn, KeptParameter, KeptRecord, KeptRows
from eval.databases.base import Database
from eval.sql import BadParameter, parameters, parse, parsed_from_tree, with_values
from eval.sql.sources import quoted_column, table_source


def parameters_of(sql: str, database: Database) -> list[KeptParameter]:
    """The constants of a statement that may be set anew."""
    declared = parameters(parse(sql, database.dialect))
    return [KeptParameter(name=p.name, value=p.value, kind=p.kind) for p in declared]


async def as_seen(here: ClientServices, answer: KeptRecord) -> KeptRecord | None:
    """The answer as the client may see it: what somebody else shares, or what was kept with other rights, without its
    rows; None where its SQL, or what that names, is not the client's to see."""
    if here.client.saw(answer):
        return answer
    try:
        database = await here.database(answer.preset, answer.owner)
    except ApiError:
        return None
    parsed = parse(answer.sql, database.dialect)
    shown = await asyncio.to_thread(database.may_show, parsed, f"{answer.title}\n{answer.question}")
    return answer.model_copy(update={"result": None}) if shown else None


async def refreshed(
    here: ClientServices, answer: KeptRecord, values: Sequence[str] | None = None, filters: Sequence[BoardFilter] = ()
) -> KeptRows:
    """The first rows of a kept answer, now. Raises as `rerun`."""
    outcome, held = await rerun(here, answer, values, filters)
    return shortened(outcome).model_copy(update={"filtered": held})


def shortened(outcome: SqlOutcome) -> KeptRows:
    """The first rows of an outcome."""
    return KeptRows(**first_rows(outcome), refreshed=datetime.now(UTC))


async def rerun(
    here: ClientServices, answer: KeptRecord, values: Sequence[str] | None = None, filters: Sequence[BoardFilter] = ()
) -> tuple[SqlOutcome, list[bool]]:
    """All rows of a kept answer, now, and which of a board's filters that have a value found their place. Raises
    BadParameter, BadFilter, ApiError (404, 503)."""
    database = await here.database(answer.preset, answer.owner)
    given = [parameter.value for parameter in answer.parameters] if values is None else values
    narrowing = [
        Filter(one.kind, tuple((c.table, c.column) for c in one.columns if c.preset == answer.preset), tuple(one.value))
        for one in filters
        if one.value
    ]
    sql, held = await asyncio.to_thread(_statement, answer.sql, database, given, narrowing)
    outcome = await here.ran(database, sql)
    return (outcome if outcome.sql else outcome.model_copy(update={"sql": sql})), held


def _statement(
    sql: str, database: Database, values: Sequence[str], filters: Sequence[Filter]
) -> tuple[str, list[bool]]:
    parsed = parse(sql, database.dialect)
    written = [parameter.value for parameter in parameters(parsed)]
    if len(values) != len(written):
        raise BadParameter(f"The query takes {len(written)} values.")
    changed = {i: value for i, (value, before) in enumerate(zip(values, written, strict=True)) if value != before}
    parsed = with_values(parsed, changed)
    parsed, held = filtered(parsed, database, filters, date.today()) if filters else (parsed, [])
    return parsed.text, held


async def filter_columns(
    here: ClientServices, answers: Iterable[KeptRecord]
) -> list[tuple[FilterColumn, FilterKind, int]]:
    """What these answers can be narrowed by, with how many of them each column narrows, the most first."""
    counted: Counter[tuple[FilterColumn, FilterKind]] = Counter()
    for answer in answers:
        database = await here.database(answer.preset, answer.owner)
        found = await asyncio.to_thread(lambda a, d: [*filterable(parse(a.sql, d.dialect), d)], answer, database)
        counted.update((FilterColumn(preset=answer.preset, table=t, column=c), kind) for t, c, kind in found)
    return [(column, kind, count) for (column, kind), count in counted.most_common()]


async def filter_values(
    here: ClientServices, owner: str, given: BoardFilter, search: str | None, limit: int
) -> ValuesReply:
    """The most frequent values of a filter's first column that the client may see. Raises ApiError."""
    for one in given.columns:
        database = await here.database(one.preset, owner)
        schema = await asyncio.to_thread(database.schema)
        table = schema.table(one.table)
        if table is not None and (column := table.column(one.column)) is not None:
            return await values(database, schema, table, column, limit, search)
    raise ApiError(404, "There is no such filter.")


async def as_shown(here: ClientServices, board: BoardRecord) -> list[BoardFilter | None]:
    """The filters of a board, None in place of each whose columns or values the client may not see."""
    if not here.client.rights:
        return list(board.filters)

    def shown(database: Database, one: BoardFilter, column: FilterColumn) -> bool:
        table = database.schema().table(column.table)
        if table is None or table.column(column.column) is None:
            return False
        given = [exp.Literal.string(value) for value in one.value if value is not None]
        named = quoted_column(column.column)
        query = exp.select(named).from_(table_source(table)).where(exp.In(this=named.copy(), expressions=given))
        return database.may_show(parsed_from_tree(query, database.dialect), one.label)

    async def seen(one: BoardFilter, column: FilterColumn) -> bool:
        try:
            database = await here.database(column.preset, board.owner)
        except ApiError:
            return False
        return await asyncio.to_thread(shown, database, one, column)

    filters: list[BoardFilter | None] = []
    for one in board.filters:
        columns = [column for column in one.columns if await seen(one, column)]
        filters.append(one.model_copy(update={"columns": columns}) if columns else None)
    return filters
