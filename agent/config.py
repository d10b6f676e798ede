"""Settings in groups; each room is handed only the group that it needs.

A setting is an environment variable, else a line in `.env`, else its default. Every setting here is listed in
`.env.example`; a test fails when one is missing there.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from agent.strategies import DEFAULT, strategy


class _Group(BaseSettings):
    """Settings that belong together. It reads its own variables and ignores those of other groups."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,  # `NAME=` in a copied .env.example means unset
        extra="ignore",
        frozen=True,
    )


class ModelSettings(_Group):
    """The language model and its endpoint."""

    api_key: SecretStr | None = Field(None, alias="OPENAI_API_KEY")
    """Key for the model endpoint. Without it and without a base URL, the offline engine answers."""
    base_url: str | None = Field(None, alias="OPENAI_BASE_URL")
    """Any OpenAI-compatible server; None means OpenAI's own."""
    name: str = Field("gpt-5", alias="TEXT2SQL_MODEL")
    """The model; where only an endpoint is set, the first one that it lists."""
    seconds: float = Field(120.0, gt=0.0, alias="TEXT2SQL_MODEL_SECONDS")
    """Timeout of one model call, including waits for rate limits."""
    structured_output: Literal["auto", "json_schema", "json_object", "prompt"] = Field(
        "auto", alias="TEXT2SQL_STRUCTURED_OUTPUT"
    )
    """How replies are made to follow a JSON Schema; `auto` tries the strict way and falls back."""
    temperature: float = Field(0.0, ge=0.0, le=2.0, alias="TEXT2SQL_TEMPERATURE")
    """Sampling temperature of calls that would else have 0; left out for models that take none."""
    reasoning_effort: str | None = Field(None, alias="TEXT2SQL_REASONING_EFFORT")
    """Reasoning effort of the model (`minimal`, `low`, `medium`, `high`); None: the endpoint's default."""
    extra_body: dict[str, Any] | None = Field(None, alias="TEXT2SQL_EXTRA_BODY")
    """JSON object whose fields are added to each request to the model."""
    extra_headers: dict[str, SecretStr] | None = Field(None, alias="TEXT2SQL_EXTRA_HEADERS")
    """JSON object of headers that are sent with each request to the model."""
    requests_per_minute: int = Field(0, ge=0, alias="TEXT2SQL_REQUESTS_PER_MINUTE")
    """Requests to the model in a minute, of one process or of all workers of a Ray cluster; 0: no limit of ours."""
    price_input: float | None = Field(None, ge=0.0, alias="TEXT2SQL_PRICE_INPUT")
    """US dollars per million input tokens; unset means that cost is shown as unknown."""
    price_output: float | None = Field(None, ge=0.0, alias="TEXT2SQL_PRICE_OUTPUT")
    """The same for output tokens."""
    prompt_log: str | None = Field(None, alias="TEXT2SQL_PROMPT_LOG")
    """Log file of every request to a model as it was sent, one JSON line each."""
    local_model: str | None = Field(None, alias="TEXT2SQL_LOCAL_MODEL")
    """The model that is served on this machine where no endpoint is set: the name of one that was fetched, the path of
    a GGUF file, or `off`; None: the one fetched last."""
    llama_server: str | None = Field(None, alias="TEXT2SQL_LLAMA_SERVER")
    """The program that serves it: llama.cpp's `llama-server`; None means the one on the PATH."""
    cache_dir: str | None = Field(None, alias="TEXT2SQL_CACHE_DIR")
    """The same as the database's: fetched models lie in it."""

    @property
    def offline(self) -> bool:
        """True when no model is configured or fetched, so that the built-in engine answers."""
        return not self._endpoint and self.local is None

    @property
    def _endpoint(self) -> bool:
        key = self.api_key.get_secret_value() if self.api_key else ""
        return bool(key.strip() or (self.base_url or "").strip())

    @property
    def local(self) -> Path | None:
        """The file of the model that is served on this machine, where no endpoint is set: the one that is set; else of
        those fetched the one that is named, or the last, if there is a program to serve it. Costs a look at a folder.
        """
        chosen = (self.local_model or "").strip()
        if self._endpoint or chosen.lower() == "off" or self.name.lower() == "offline":
            return None
        if chosen.endswith(".gguf"):
            return Path(chosen).expanduser()
        try:
            folder = self.models_folder
            if chosen:
                return folder / f"{chosen}.gguf"
            fetched = sorted(folder.glob("*.gguf"), key=lambda file: file.stat().st_mtime)
        except OSError:  # no home folder, or a model that was just removed
            return None
        found = [file for file in fetched if file.stem == self.name] or fetched[-1:]
        return found[0] if found and self.server_program else None

    @property
    def models_folder(self) -> Path:
        """Where fetched models lie. Raises OSError for a user without a home folder."""
        from eval.tasks.cache_folder import cache_folder

        return cache_folder(self.cache_dir) / "models"

    @property
    def server_program(self) -> str | None:
        """What serves models here: a `llama-server`, or this Python where it has llama-cpp-python; None: nothing."""
        if sys.platform == "win32":
            return None
        program = self.llama_server or shutil.which("llama-server")
        return program or (sys.executable if find_spec("llama_cpp") else None)

    @property
    def answering(self) -> str:
        """The name of the model that answers, or `offline`; empty where it is left to an endpoint."""
        if not self._endpoint:
            return local.stem if (local := self.local) else "offline"
        return self.name if self.has_model else ""

    @property
    def engine(self) -> str:
        """What answers, in words."""
        return "the built-in offline engine" if self.offline else f"the model {self.answering or self.name}"

    @property
    def has_model(self) -> bool:
        """False where an endpoint other than OpenAI's is set and no model, whose default is OpenAI's."""
        address = (self.base_url or "").strip()
        given = "name" in self.model_fields_set or not address or address.startswith("https://api.openai.com")
        return given and bool(self.name)


class DatabaseSettings(_Group):
    """The database that is queried when a question names none."""

    url: str | None = Field(None, alias="TEXT2SQL_DATABASE_URL", repr=False)
    """`sqlite:///…`, `duckdb:///…`, `postgresql://…`, `mysql://…`; wins over the path."""
    path: str | None = Field(None, alias="TEXT2SQL_DB_PATH")
    """Path of a database file, or `:memory:`; None means the bundled demo database."""
    dialect: str = Field("sqlite", alias="TEXT2SQL_DIALECT")
    schema_ttl: float = Field(300.0, ge=0.0, alias="TEXT2SQL_SCHEMA_CACHE_TTL")
    """Seconds that a schema is cached."""
    cache_dir: str | None = Field(None, alias="TEXT2SQL_CACHE_DIR")
    """Folder of demo databases and caches; None means the user's cache folder."""
    policies: str | None = Field(None, alias="TEXT2SQL_POLICIES")
    """YAML file that says who may see which tables, columns and rows; None: everybody sees everything."""
    person: str = Field("local", alias="TEXT2SQL_PERSON")
    """Who is asking at a door that checks no token: the command line, batch, Python, MCP over standard input."""
    audit_log: str | None = Field(None, alias="TEXT2SQL_AUDIT_LOG")
    """File of JSON lines: who asked what, which SQL ran, how many rows it returned."""


class JudgingSettings(_Group):
    """How a question is worked on, and when an answer passes."""

    score_threshold: float = Field(0.70, ge=0.0, le=1.0, alias="TEXT2SQL_SCORE_THRESHOLD")
    max_retries: int = Field(3, ge=0, le=10, alias="TEXT2SQL_MAX_RETRIES")
    strategy: str = Field(DEFAULT, alias="TEXT2SQL_STRATEGY")
    """The strategy: a name from `agent.strategies`."""
    examples: str | None = Field(None, alias="TEXT2SQL_EXAMPLES")
    """File or folder of verified examples; None: only examples that people confirmed are shown."""
    semantic_model: str | None = Field(None, alias="TEXT2SQL_SEMANTIC_MODEL")
    """File of the semantic model: Apache Ossie, dbt's semantic manifest, or a glossary."""
    glossary: str | None = Field(None, alias="TEXT2SQL_GLOSSARY")
    """YAML file with the meanings of business words."""
    kit: str | None = Field(None, alias="TEXT2SQL_KIT")
    """Folder of a kit: instructions, glossary, examples and settings that were tuned to a database."""
    writer_prior: float | None = Field(None, gt=0.0, lt=1.0, alias="TEXT2SQL_WRITER_PRIOR")
    """Share of the model's answers that are right, if known; None: the shipped one."""

    @field_validator("strategy")
    @classmethod
    def _known_strategy(cls, name: str) -> str:
        return strategy(name).name


class LimitSettings(_Group):
    """Limits of time, rows, tokens and bytes."""

    run_seconds: float = Field(280.0, gt=0.0, alias="TEXT2SQL_RUN_SECONDS")
    """Total time budget of one question, including model and database."""
    query_seconds: float = Field(30.0, gt=0.0, alias="TEXT2SQL_QUERY_SECONDS")
    """Timeout of one SQL statement."""
    max_rows: int = Field(10_000, ge=1, alias="TEXT2SQL_MAX_ROWS")
    """Maximum rows kept of one result."""
    schema_tokens: int = Field(8_000, ge=200, alias="TEXT2SQL_SCHEMA_TOKENS")
    """Maximum tokens of the schema in a prompt; a larger schema is reduced to what the question needs."""
    note_tokens: int = Field(1_500, ge=0, alias="TEXT2SQL_NOTE_TOKENS")
    """Maximum tokens of the data notes (pitfalls, values, formats) in a prompt; 0 for none."""
    export_rows: int = Field(1_000_000, ge=1, alias="TEXT2SQL_EXPORT_ROWS")
    """Maximum rows of a result that is kept for paging and export."""
    export_seconds: float = Field(300.0, gt=0.0, alias="TEXT2SQL_EXPORT_SECONDS")
    """Timeout of the statement behind such a result."""
    result_mb: int = Field(512, ge=1, alias="TEXT2SQL_RESULT_MB")
    """Maximum size of one kept result, in MiB."""
    results_mb: int = Field(4096, ge=1, alias="TEXT2SQL_RESULTS_MB")
    """Maximum size of all kept results together; the least recently used are removed first."""
    result_seconds: float = Field(3600.0, gt=0.0, alias="TEXT2SQL_RESULT_SECONDS")
    """Time that a kept result stays after its last use."""
    upload_mb: int = Field(200, ge=1, alias="TEXT2SQL_UPLOAD_MB")
    """Maximum size of one uploaded file, in MiB."""
    upload_rows: int = Field(5_000_000, ge=1, alias="TEXT2SQL_UPLOAD_ROWS")
    """Maximum rows of one uploaded table file."""
    uploads_kept: int = Field(20, ge=1, alias="TEXT2SQL_UPLOADS_KEPT")
    """Maximum uploaded databases per owner."""


class PrivacySettings(_Group):
    """What a model may see, and what logs and traces contain."""

    mode: Literal["full", "masked", "schema"] = Field("full", alias="TEXT2SQL_PRIVACY")
    """What a model at an endpoint may see: also rows, the shape of results, or only the schema's names and types."""
    log_sql: bool = Field(False, alias="TEXT2SQL_LOG_SQL")
    """True: logs and traces contain the SQL of a run with its constants; False: they contain no SQL."""


class ServerSettings(_Group):
    """Access to the server, and its load."""

    tokens: SecretStr | None = Field(None, alias="TEXT2SQL_TOKENS")
    """`name=token,name2=token2`: who may use the server. Everything that a client creates belongs to its name."""
    admins: str | None = Field(None, alias="TEXT2SQL_ADMINS")
    """Names of tokens that may choose the model for the whole server, separated by commas."""
    model_hosts: str = Field("localhost,127.0.0.1,::1,*", alias="TEXT2SQL_MODEL_HOSTS")
    """Hosts of model servers that may be chosen on the page: as `TEXT2SQL_ALLOWED_HOSTS`, whose `*` is public ones."""
    auth: Literal["auto", "required", "off"] = Field("auto", alias="TEXT2SQL_AUTH")
    """`auto`: a token is required if any are configured, and always from other machines."""
    hosts: str | None = Field(None, alias="TEXT2SQL_SERVER_HOSTS")
    """Accepted host names besides `localhost`, separated by commas."""
    cors_origins: str | None = Field(None, alias="TEXT2SQL_CORS_ORIGINS")
    """Other origins whose pages may use the server (`https://host:port`), separated by commas."""
    max_body: int = Field(1_000_000, ge=1_000, alias="TEXT2SQL_MAX_BODY")
    """Maximum bytes of a request body; uploads have their own limit."""
    body_seconds: float = Field(30.0, gt=0.0, alias="TEXT2SQL_BODY_SECONDS")
    """Time limit for receiving a body; an upload may take 20 times as long."""
    rate_per_minute: int = Field(3_000, ge=0, alias="TEXT2SQL_RATE_PER_MINUTE")
    """Rate limit of requests per client; 0 means no limit."""
    requests_at_once: int = Field(200, ge=0, alias="TEXT2SQL_REQUESTS_AT_ONCE")
    """Maximum concurrent requests per client in one process, including running questions; 0 means no limit."""
    max_runs: int = Field(200, ge=1, alias="TEXT2SQL_MAX_RUNS")
    """Maximum concurrent questions on one server; beyond it, clients are asked to retry later."""
    resume_seconds: float = Field(15.0, ge=0.0, alias="TEXT2SQL_RESUME_SECONDS")
    """Time that a resumable run continues without a reader."""
    workers: int = Field(1, ge=1, le=256, alias="TEXT2SQL_WORKERS")
    """Processes of `python -m agent.server` that answer; more than one need a PostgreSQL for the state."""
    drain_seconds: float = Field(5.0, ge=0.0, alias="TEXT2SQL_DRAIN_SECONDS")
    """At shutdown, running questions may finish within this time; then they are stopped as `interrupted`."""
    page_dir: str | None = Field(None, alias="TEXT2SQL_PAGE_DIR")
    """Folder of the built page; None means `frontend/dist` beside the package."""
    lab_dir: str | None = Field(None, alias="TEXT2SQL_LAB_DIR")
    """Folder whose folders are runs of the lab, which the page shows to admins; None: it shows none."""


class StateSettings(_Group):
    """Where a server stores runs, threads and feedback."""

    folder: str | None = Field(None, alias="TEXT2SQL_STATE_DIR")
    """None means the user's state folder."""
    url: str | None = Field(None, alias="TEXT2SQL_STATE_URL", repr=False)
    """`sqlite:///path` or `postgresql://…`, which several servers can share; None means a file in the folder."""
    days: float | None = Field(None, gt=0.0, alias="TEXT2SQL_STATE_DAYS")
    """Days after their last use that threads and runs are kept, with their answers and feedback; None: until they are
    deleted."""
    secret: SecretStr | None = Field(None, alias="TEXT2SQL_SECRET")
    """Encrypts the addresses of connected databases; None means a key file beside a SQLite state."""


class ConnectionSettings(_Group):
    """Databases that users may connect over HTTP."""

    schemes: str = Field("postgresql,mysql,mariadb", alias="TEXT2SQL_ALLOWED_SCHEMES")
    """Kinds of databases that may be connected by URL, separated by commas."""
    hosts: str = Field("localhost,127.0.0.1,::1", alias="TEXT2SQL_ALLOWED_HOSTS")
    """Hosts that may be connected: names, `*.example.org`, addresses, networks (`10.0.0.0/8`), `*` for public ones."""
    ports: str | None = Field(None, alias="TEXT2SQL_ALLOWED_PORTS")
    """Ports that may be connected, separated by commas; None means 3306 and 5432 and those from 1024 on."""
    folder: str | None = Field(None, alias="TEXT2SQL_ALLOWED_FOLDER")
    """Folder whose files may be connected by `sqlite:///` and `duckdb:///` URLs; None: no file may."""


class DeliverySettings(_Group):
    """Where kept answers and boards may be sent to, by schedule."""

    smtp_url: SecretStr | None = Field(None, alias="TEXT2SQL_SMTP_URL")
    """The mail server, `smtp://user:password@host:port` or `smtps://…`; None: no mail is sent."""
    mail_from: str | None = Field(None, alias="TEXT2SQL_MAIL_FROM")
    """The address that mails come from."""
    mail_to: str | None = Field(None, alias="TEXT2SQL_MAIL_TO")
    """Domains that may get mail, separated by commas, `*` for all; None means that of the sender."""
    webhook_hosts: str = Field(
        "hooks.slack.com,*.webhook.office.com,*.logic.azure.com,*.environment.api.powerplatform.com",
        alias="TEXT2SQL_WEBHOOK_HOSTS",
    )
    """Hosts that may be sent to: as `TEXT2SQL_ALLOWED_HOSTS`, but a private one needs its network or address, too."""
    public_url: str | None = Field(None, alias="TEXT2SQL_PUBLIC_URL", pattern=r"^https?://[^\s<>()\"]+$")
    """Where people reach the page, for links in what is sent; None: it has no links."""


class Settings(BaseModel):
    """All groups. A keyword sets a variable: `Settings(TEXT2SQL_MODEL="llama3")`; `_env_file=None` ignores `.env`."""

    model_config = ConfigDict(frozen=True)

    model: ModelSettings
    database: DatabaseSettings
    judging: JudgingSettings
    limits: LimitSettings
    privacy: PrivacySettings
    server: ServerSettings
    state: StateSettings
    connections: ConnectionSettings
    deliveries: DeliverySettings

    def __init__(self, **variables: Any) -> None:
        super().__init__(**dict.fromkeys(type(self).model_fields, variables))

    def changed(self, **groups: Mapping[str, Any]) -> Settings:
        """A copy with other values, by group: `changed(limits={"max_rows": 5})`. The values are not validated."""
        copies = {name: getattr(self, name).model_copy(update=values) for name, values in groups.items()}
        return self.model_copy(update=copies)


@cache
def settings() -> Settings:
    """The process's settings, read once. Raises pydantic.ValidationError naming the bad variable."""
    return Settings()


def settings_problem(error: ValidationError) -> str:
    """What is wrong with the settings, in one line that names the variables and repeats no value."""
    problems = [f"{'.'.join(str(p) for p in e['loc'][1:])}: {e['msg']}" for e in error.errors(include_input=False)]
    return "A setting is not usable: " + "; ".join(problems)
