"""A stranger's database URL is checked before anything connects, and its credentials are never repeated."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from agent.config import ConnectionSettings
from agent.sources import SourceError, SourceRefused
from agent.sources.connections import ConnectionPolicy, check_url, connect
from eval.databases import DatabaseError, DatabaseUnreachable
from eval.statement import ReadStatement
from tests.pairs import FIXTURES, rows
from tests.writing import sqlite_file, write

POLICY = ConnectionPolicy(seconds=5.0)
SECRET = "S3cr%21t-pass"
REFUSED = [line.split("  ") for line in (FIXTURES / "refused_urls.txt").read_text().splitlines() if line[0] != "#"]
REFUSED += [["postgresql://u@127.0.0.1/db\r\nx", "one line"], ["postgresql://u@127.0.0.1/" + "x" * 3000, "one line"]]


@pytest.mark.parametrize(("url", "reason"), REFUSED)
async def test_what_may_not_be_connected_is_refused_without_repeating_it(url: str, reason: str) -> None:
    secret = url.replace("://u@", f"://u:{SECRET}@")
    with pytest.raises((SourceRefused, DatabaseError), match=reason) as refused:
        await check_url(secret, POLICY)

    assert "S3cr" not in f"{refused.value} {refused.value!r}"


@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.1.1]", "[64:ff9b::a9fe:a9fe]",
                                  "[64:ff9b:1::a9fe:a9fe]", "[::ffff:0:a9fe:a9fe]", "[::a9fe:a9fe]",
                                  "[2002:a9fe:a9fe::]", "100.100.100.200", "168.63.129.16", "[fd00:ec2::254]",
                                  "0.0.0.0", "[::]", "224.0.0.1", "255.255.255.255"])  # fmt: skip
async def test_metadata_addresses_stay_out_of_reach_whatever_is_allowed(host: str) -> None:
    everything = ConnectionPolicy(hosts=frozenset({"*", "0.0.0.0/0", "::/0", "*.example.org"}))
    with pytest.raises(SourceRefused, match="may never be connected"):
        await check_url(f"postgresql://u@{host}/db", everything)


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let each look-up have the next answer; returns the names asked for."""
    asked: list[str] = []

    async def getaddrinfo(self: Any, host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, 1, 6, "", (a, port)) for a in answers[min(len(asked), len(answers)) - 1]]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return asked


@pytest.mark.parametrize("second", ["169.254.169.254", "127.0.0.1", "0.0.0.0"])
async def test_a_name_with_a_second_bad_address_is_refused(monkeypatch: pytest.MonkeyPatch, second: str) -> None:
    resolving(monkeypatch, ["93.184.216.34", second])
    for hosts in ({"*"}, {"db.example.org"}, {"*.example.org"}):
        with pytest.raises(SourceRefused):
            await check_url("postgresql://u@db.example.org/x", ConnectionPolicy(hosts=frozenset(hosts)))


async def test_a_name_that_moves_later_leads_nowhere_else(monkeypatch: pytest.MonkeyPatch, postgres_url: str) -> None:
    asked = resolving(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
    policy = ConnectionPolicy(hosts=frozenset({"db.example.org", "127.0.0.1"}))
    url = urlsplit(postgres_url)
    connected = await connect(f"postgresql://{url.username}@db.example.org:{url.port or 5432}{url.path}", policy)

    with connected.database as database:
        address = database.execute(ReadStatement("SELECT inet_server_addr()::text", "postgres")).rows[0][0]
        assert address in ("127.0.0.1/32", "127.0.0.1")
        assert "db.example.org" in database.url
    assert asked == ["db.example.org"]


@pytest.mark.parametrize(("hosts", "host", "address", "allowed"), rows("imports/allowed_hosts.jsonl"))
async def test_hosts_are_allowed_by_name_network_or_star(
    monkeypatch: pytest.MonkeyPatch, hosts: list[str], host: str, address: str, allowed: bool
) -> None:
    resolving(monkeypatch, [address])
    policy = ConnectionPolicy(hosts=frozenset(hosts))
    if allowed:
        checked = await check_url(f"postgresql://u:{SECRET}@{host}/x", policy)
        assert [target.address for target in checked] == [address]
        assert "S3cr" not in repr(checked)
    else:
        with pytest.raises(SourceRefused, match="not among the hosts"):
            await check_url(f"postgresql://u@{host}/x", policy)


async def test_common_options_are_passed_over() -> None:
    checked = await check_url("mysql://u@127.0.0.1/x?charset=utf8mb4&connect_timeout=10", POLICY)
    assert checked[0].options == ()
    checked = await check_url("postgresql://u@127.0.0.1/x?connect_timeout=10&sslmode=require", POLICY)
    assert checked[0].options == (("sslmode", "require"),)


async def test_a_login_that_writes_is_warned_of_and_cannot(postgres_url: str) -> None:
    connected = await connect(postgres_url, POLICY)
    with connected.database as database:
        assert "is a superuser" in connected.warnings[0]
        assert "may create schemas" in connected.warnings[0]
        done = database.execute(ReadStatement("CREATE TABLE x (n int)", "postgres"))
        assert done.status == "error"


async def test_a_login_that_only_reads_is_not_warned_of(postgres_url: str) -> None:
    role, name = f"reader_{os.getpid()}", urlsplit(postgres_url).path[1:]
    parts = urlsplit(postgres_url)
    url = f"postgresql://{role}:p-w@{parts.hostname}:{parts.port or 5432}/{name}"
    write(postgres_url, f"CREATE ROLE {role} LOGIN PASSWORD 'p-w'", "CREATE TABLE IF NOT EXISTS t (n int)")
    try:
        for grant, warning in (("SELECT", ""), ("INSERT", "may write to 1 table.")):
            write(postgres_url, f"GRANT {grant} ON t TO {role}")
            connected = await connect(url, POLICY)
            connected.database.close()
            assert (connected.warnings == ()) == (warning == "")
            assert warning in "".join(connected.warnings)
    finally:
        write(postgres_url, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


async def test_mysql_connects_and_warns_of_grants(mysql_url: str) -> None:
    connected = await connect(mysql_url.replace("mysql://", "mariadb://"), POLICY)
    with connected.database as database:
        assert database.execute(ReadStatement("SELECT 1 + 1", "mysql")).rows == ((2,),)
    assert "ALL PRIVILEGES on *.*" in connected.warnings[0]
    assert "IDENTIFIED" not in connected.warnings[0]


async def test_its_own_login_is_not_lent(postgres_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a password in the environment or a password file, a URL without one connects as if there were none."""
    import psycopg

    monkeypatch.setenv("PGPASSWORD", "of the server's user")
    seen: list[dict[str, Any]] = []
    real = psycopg.connect
    monkeypatch.setattr(psycopg, "connect", lambda *a, **k: (seen.append(k), real(*a, **k))[1])
    connected = await connect(postgres_url, POLICY)
    password = connected.database._free[0].info.password
    connected.database.close()

    assert (seen[0]["password"], seen[0]["passfile"], seen[0]["hostaddr"]) == ("", os.devnull, "127.0.0.1")
    assert password == ""


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
async def test_a_server_that_says_nothing_takes_bounded_time(scheme: str, silent_server: int) -> None:
    with pytest.raises(DatabaseUnreachable) as failed:  # the server itself never answers
        await connect(f"{scheme}://u:{SECRET}@127.0.0.1:{silent_server}/x", ConnectionPolicy(seconds=1.0))

    assert "S3cr" not in str(failed.value)


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
async def test_a_refused_login_does_not_repeat_the_password(scheme: str, request: pytest.FixtureRequest) -> None:
    base = urlsplit(request.getfixturevalue("postgres_url" if scheme == "postgresql" else "mysql_url"))
    with pytest.raises(DatabaseError) as failed:
        await connect(f"{scheme}://nobody_here:{SECRET}@{base.hostname}:{base.port or 5432}{base.path}", POLICY)

    assert "S3cr" not in str(failed.value)
    assert "nobody_here" in str(failed.value)


async def test_files_open_only_below_the_allowed_folder(tmp_path: Path) -> None:
    folder, outside = tmp_path / "open", tmp_path / "closed"
    folder.mkdir()
    outside.mkdir()
    for place in (folder, outside):
        sqlite_file(place / "a.sqlite", "CREATE TABLE t (n)")
    (folder / "link.sqlite").symlink_to(outside / "a.sqlite")
    policy = ConnectionPolicy(folder=folder)

    for url in (f"sqlite:///{folder}/a.sqlite", "sqlite:///a.sqlite"):
        connected = await connect(url, policy)
        with connected.database as database:
            assert [t.name for t in database.schema().tables] == ["t"]
        assert connected.warnings == ()
    for url in (
        f"sqlite:///{outside}/a.sqlite", f"sqlite:///{folder}/../closed/a.sqlite", "sqlite:///link.sqlite",
        "sqlite:///..%2Fclosed%2Fa.sqlite", "sqlite:////etc/passwd", f"sqlite:///{outside}/missing.sqlite",
    ):  # fmt: skip
        with pytest.raises(SourceError, match="not below the folder"):
            await connect(url, policy)


def test_settings_become_a_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT2SQL_ALLOWED_HOSTS", " DB.Example.org , 10.0.0.0/8 ")
    monkeypatch.setenv("TEXT2SQL_ALLOWED_PORTS", "5432, 6432")
    policy = ConnectionPolicy.from_settings(ConnectionSettings(_env_file=None))

    assert policy.hosts == {"db.example.org", "10.0.0.0/8"}
    assert policy.ports == {5432, 6432}
    monkeypatch.setenv("TEXT2SQL_ALLOWED_PORTS", "postgres")
    with pytest.raises(ValueError, match="TEXT2SQL_ALLOWED_PORTS"):
        ConnectionPolicy.from_settings(ConnectionSettings(_env_file=None))


async def test_users_with_tokens_reach_databases_of_this_machine_and_no_other_service() -> None:
    policy = ConnectionPolicy.from_settings(ConnectionSettings(_env_file=None), users_have_tokens=True)
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"):
        with pytest.raises((SourceRefused, DatabaseUnreachable), match=r"8000 of this machine|not among"):
            await check_url(f"postgresql://u@{host}:8000/db", policy)
    assert await check_url("postgresql://u@127.0.0.1:5432/db", policy)

    named = ConnectionSettings(_env_file=None, TEXT2SQL_ALLOWED_PORTS="5432,8000")
    policy = ConnectionPolicy.from_settings(named, users_have_tokens=True)
    assert await check_url("postgresql://u@127.0.0.1:8000/db", policy)
