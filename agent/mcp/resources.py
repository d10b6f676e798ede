"""What the MCP server offers beside its tools: the structure of each database as a resource.

In: the server's services, and who is asking. Out: JSON, or an `MCPError` with a sentence. It holds names, types, keys
and comments, never rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Resource

from agent.mcp.callers import caller
from agent.mcp.replies import ColumnInfo, SchemaInfo, TableInfo
from agent.server.errors import ApiError
from agent.server.services import ClientServices, Services
from agent.store import StoreError, client_message
from eval.databases.types import DatabaseError
from eval.schema import Table

MAX_TABLES = 100
MAX_NAMES = 2_000
_JSON = "application/json"


def offer_structures(server: MCPServer[Any], services: Callable[[], Services]) -> None:
    """Add the resources to a server."""

    async def described(context: Context, database: str, table: str = "") -> str:
        try:
            info = await structure(caller(context, services()), database, table)
        except StoreError as error:
            raise MCPError(INVALID_PARAMS, client_message(error)) from error
        except (ApiError, DatabaseError) as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        return info.model_dump_json(exclude_none=True)

    @server.resource("schema://{database}", name="schema", mime_type=_JSON)
    async def schema(database: str, context: Context) -> str:
        """Tables, columns, keys and comments of a database."""
        return await described(context, database)

    @server.resource("schema://{database}/{table}", name="table", mime_type=_JSON)
    async def table_schema(database: str, table: str, context: Context) -> str:
        """Columns, keys and comments of one table."""
        return await described(context, database, table)


async def listed_resources(here: ClientServices) -> list[Resource]:
    """The structure of each database that the client may ask."""
    return [
        Resource(
            uri=f"schema://{quote(preset.id, safe='')}",
            name=preset.id,
            title=f"Structure of {preset.name}",
            description=preset.description,
            mime_type=_JSON,
        )
        for preset in await here.presets.listed(here.client)
    ]


async def structure(here: ClientServices, database: str, table: str = "") -> SchemaInfo:
    """The structure of a database, or of one of its tables. Raises ApiError, StoreError, DatabaseError."""
    preset = await here.presets.find(here.client, database or None)
    _, schema = await here.presets.schema(preset)
    if table:
        place = schema.table(table)
        if place is None:
            raise ApiError(404, f"There is no table {table!r}; describe_schema without a table lists them.")
        return SchemaInfo(database=preset.id, dialect=schema.dialect, tables=[_table(place)])
    tables = [_table(one) for one in schema.tables[:MAX_TABLES]]
    further = [one.name for one in schema.tables[MAX_TABLES:MAX_NAMES]]
    return SchemaInfo(database=preset.id, dialect=schema.dialect, tables=tables, further_tables=further)


def _table(table: Table) -> TableInfo:
    keys = {
        key.columns[0]: f"{key.ref_table}.{key.ref_columns[0]}" for key in table.foreign_keys if len(key.columns) == 1
    }
    columns = [ColumnInfo(**asdict(column), foreign_key=keys.get(column.name)) for column in table.columns]
    name = f"{table.namespace}.{table.name}" if table.namespace else table.name
    return TableInfo(name=name, kind=table.kind, rows=table.row_count, comment=table.comment, columns=columns)
