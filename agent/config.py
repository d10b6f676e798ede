"""Settings: environment variables, then `.env`, then defaults. A real environment variable wins over `.env`.

Every setting here is listed in `.env.example`; a test fails when one is missing there.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,  # `NAME=` in a copied .env.example means unset
        extra="ignore",
        frozen=True,
    )

    openai_api_key: SecretStr | None = Field(None, alias="OPENAI_API_KEY")
    """Key for the model endpoint. Without it and without a base URL, the offline engine answers."""
    openai_base_url: str | None = Field(None, alias="OPENAI_BASE_URL")
    """Any OpenAI-compatible server; None means OpenAI's own."""
    model: str = Field("gpt-5", alias="TEXT2SQL_MODEL")
    score_threshold: float = Field(0.70, ge=0.0, le=1.0, alias="TEXT2SQL_SCORE_THRESHOLD")
    max_retries: int = Field(3, ge=0, le=10, alias="TEXT2SQL_MAX_RETRIES")
    schema_cache_ttl: float = Field(300.0, ge=0.0, alias="TEXT2SQL_SCHEMA_CACHE_TTL")
    """Seconds."""
    dialect: str = Field("sqlite", alias="TEXT2SQL_DIALECT")
    db_path: str | None = Field(None, alias="TEXT2SQL_DB_PATH")
    """Path of a database file, or `:memory:`; None means the bundled demo database."""
    database_url: str | None = Field(None, alias="TEXT2SQL_DATABASE_URL")
    """`sqlite:///…`, `duckdb:///…`, `postgresql://…`, `mysql://…`; wins over the path."""
    run_seconds: float = Field(280.0, gt=0.0, alias="TEXT2SQL_RUN_SECONDS")
    """Total time budget of one question, model and database included."""
    query_seconds: float = Field(30.0, gt=0.0, alias="TEXT2SQL_QUERY_SECONDS")
    """Deadline of one SQL statement."""
    model_seconds: float = Field(120.0, gt=0.0, alias="TEXT2SQL_MODEL_SECONDS")
    """Deadline of one model call, waiting for rate limits included."""
    max_rows: int = Field(10_000, ge=1, alias="TEXT2SQL_MAX_ROWS")
    """Rows kept of one result."""
    structured_output: Literal["auto", "json_schema", "json_object", "prompt"] = Field(
        "auto", alias="TEXT2SQL_STRUCTURED_OUTPUT"
    )
    """How replies are made to follow a JSON Schema; `auto` tries the strict way and falls back."""
    price_input: float | None = Field(None, ge=0.0, alias="TEXT2SQL_PRICE_INPUT")
    """US dollars per million input tokens; unset means that cost is shown as unknown."""
    price_output: float | None = Field(None, ge=0.0, alias="TEXT2SQL_PRICE_OUTPUT")
    cache_dir: str | None = Field(None, alias="TEXT2SQL_CACHE_DIR")
    """Where demo databases and caches are kept; None means the user's cache folder."""

    @property
    def offline(self) -> bool:
        """True when no model is configured, so that the built-in engine answers."""
        key = self.openai_api_key.get_secret_value() if self.openai_api_key else ""
        return not key.strip() and not (self.openai_base_url or "").strip()


@cache
def settings() -> Settings:
    """The process's settings, read once. Raises pydantic.ValidationError naming the bad variable."""
    return Settings()


def settings_problem(error: ValidationError) -> str:
    """What is wrong with the settings, in one line that names the variables and repeats no value."""
    problems = [f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors(include_input=False)]
    return "A setting is not usable: " + "; ".join(problems)
