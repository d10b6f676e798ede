"""Read PostgreSQL's catalogue into a `Schema`: three catalogue-wide statements and one that counts small tables.

In: a function that runs one of our own statements. Out: tables (partitioned ones once), views, materialized views and
foreign tables of all schemas that the role may read; system relations and those of extensions are left out. Raises
psycopg.Error. Sources: https://www.postgresql.org/docs/current/catalogs.html
"""

from __future__ import annotations

from eval.databases.catalogue.table_drafts import COUNT_BELOW_BYTES, Draft, Rows, count_small
from eval.schema import Column, ForeignKey, Index, Schema

_READABLE = """
n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
AND NOT c.relispartition AND c.relpersistence <> 't' AND has_schema_privilege(n.oid, 'USAGE')
AND has_any_column_privilege(c.oid, 'SELECT')
AND NOT EXISTS (SELECT FROM pg_depend x
    WHERE x.classid = 'pg_class'::regclass AND x.objid = c.oid AND x.deptype = 'e')
"""
_COLUMNS = f"""
SELECT c.oid, n.nspname, c.relname, c.relkind IN ('v', 'm'), pg_table_is_visible(c.oid),
    obj_description(c.oid, 'pg_class'), a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END, col_description(c.oid, a.attnum)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE {_READABLE} ORDER BY c.oid, a.attnum
"""
_SIZES = f"""
SELECT c.oid, CASE WHEN bool_and(k.reltuples >= 0) THEN sum(k.reltuples)::bigint END,
    sum(pg_relation_size(k.oid))::bigint
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (SELECT c.oid AS part WHERE c.relkind <> 'p'
    UNION ALL SELECT relid FROM pg_partition_tree(c.oid) WHERE c.relkind = 'p' AND isleaf) p
JOIN pg_class k ON k.oid = p.part
WHERE c.relkind IN ('r', 'm', 'p') AND {_READABLE} GROUP BY c.oid
"""
_KEYS = """
SELECT k.conrelid, k.confrelid, t.relname,
    (SELECT array_agg(a.attname::text ORDER BY u.i) FROM unnest(k.conkey) WITH ORDINALITY u(num, i)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.num),
    (SELECT array_agg(a.attname::text ORDER BY u.i) FROM unnest(k.confkey) WITH ORDINALITY u(num, i)
        JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.num)
FROM pg_constraint k JOIN pg_class t ON t.oid = k.confrelid
WHERE k.contype = 'f' AND k.conparentid = 0 ORDER BY k.conrelid, k.oid
"""
_INDEXES = """
SELECT i.indrelid, x.relname, i.indisprimary, i.indisunique AND i.indpred IS NULL AND i.indisvalid,
    (SELECT array_agg(a.attname::text ORDER BY u.i) FROM unnest(i.indkey::int2[]) WITH ORDINALITY u(num, i)
        LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.num AND u.num > 0
        WHERE u.i <= i.indnkeyatts)
FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
WHERE i.indrelid >= 16384 ORDER BY i.indexrelid
"""
SIGN = """
SELECT concat_ws('/',
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, oid::bigint)), 0)
        FROM pg_class WHERE oid >= 16384 AND relpersistence <> 't'),
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, attrelid::bigint * 2048 + attnum)), 0)
        FROM pg_attribute WHERE attrelid >= 16384 AND attnum > 0),
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, oid::bigint)), 0) FROM pg_constraint),
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, oid::bigint)), 0) FROM pg_attrdef),
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, oid::bigint)), 0) FROM pg_namespace),
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, objoid::bigint * 2048 + objsubid)), 0)
        FROM pg_description WHERE objoid >= 16384))
"""
"""A query whose one row differs after every committed change of a table, column, key, default, comment or grant. Each
such change writes a new version of a catalogue row, and `xmin` is the transaction that wrote it."""


def read_schema(rows: Rows, count: Rows) -> Schema:
    """`rows` runs one statement and returns all its rows; `count` does the same, but returns none if that takes too
    long."""
    drafts: dict[int, Draft] = {}
    for oid, schema, name, is_view, reached, comment, *column in rows(_COLUMNS):
        if oid not in drafts:
            bare = None if reached else schema
            drafts[oid] = Draft(name, bare, (schema, name), kind="view" if is_view else "table", comment=comment)
        column_name, data_type, not_null, default, note = column
        drafts[oid].columns.append(Column(column_name, data_type, not not_null, False, default, note))
    for oid, tuples, size in rows(_SIZES):
        if draft := drafts.get(oid):
            draft.row_count, draft.estimated = tuples, True
            draft.count_exactly = size <= COUNT_BELOW_BYTES
    for oid, ref_oid, ref_table, columns, ref_columns in rows(_KEYS):
        if oid in drafts and ref_oid in drafts:
            drafts[oid].foreign_keys.append(ForeignKey(tuple(columns), ref_table, tuple(ref_columns)))
    for oid, name, primary, unique, columns in rows(_INDEXES):
        if oid in drafts and columns and None not in columns:
            drafts[oid].indexes.append(Index(name, tuple(columns), unique=bool(unique)))
            if primary:
                drafts[oid].primary_key = tuple(columns)
    count_small(drafts.values(), count, "postgres")
    return Schema("postgres", tuple(d.table() for d in drafts.values()))


WRITE_PRIVILEGES = """
SELECT
  (SELECT rolsuper FROM pg_roles WHERE rolname = session_user),
  has_database_privilege(session_user, current_database(), 'CREATE'),
  (SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
     AND has_table_privilege(session_user, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))
"""
"""One row: superuser, may create schemas, tables that the login may write to. It describes the login, not the role that
the connection works as."""


_OWN = """{0}.oid >= 16384 AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend x
    WHERE x.classid = 'pg_catalog.{1}'::regclass AND x.objid = {0}.oid AND x.deptype = 'e')"""
OVERLOADS = f"""
SELECT EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE {_OWN.format("p", "pg_proc")}
        AND p.pronargs > 0 AND pg_function_is_visible(p.oid)
        AND (EXISTS (SELECT FROM pg_catalog.pg_proc b WHERE b.proname = p.proname AND b.oid < 16384)
            OR EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.oid = p.proargtypes[0] AND t.typtype IN ('c', 'p'))))
    OR EXISTS (SELECT FROM pg_catalog.pg_operator o WHERE {_OWN.format("o", "pg_operator")}
        AND pg_operator_is_visible(o.oid))
"""
"""Whether a name in a statement could lead to a function or an operator that a user made. Those of extensions, which
only an administrator installs, do not count. A function of one row can be called like a column (`t.f`)."""
REACHED = """
SELECT c.relname, n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = ANY(%s) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(c.oid)
"""
"""The schemas of tables that a name without a schema leads to."""
