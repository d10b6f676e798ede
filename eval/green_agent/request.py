"""The request to an evaluator: participants by role, which tasks, and how they are judged.

In: JSON as received. Out: an `AssessmentRequest`, or a `RequestUnusable` whose message says what to send.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from eval.assessment import Filters, Options, Participant, ParticipantUnusable, participant
from eval.assessment.agent_replies import objects_in
from eval.engines import dialect_named
from eval.errors import InputError
from eval.scoring import PRESETS

MAX_PARTICIPANTS = 16
MAX_TASKS = 2_000
WHAT_TO_SEND = (
    'Send JSON: {"participants": {"purple": "http://host:9019"}, "config": {"task_count": 20, "difficulty": "easy"}}.'
)


class RequestUnusable(InputError):
    """The request cannot be turned into an assessment; the message says why, and what to send."""


class RequestMissing(RequestUnusable):
    """The message holds no request yet; a further message may bring it."""


def _words(value: Any) -> Any:
    """A list of words from a list, or from a text with commas; `all` and an empty value mean no filter."""
    if value is None or value in ("all", ""):
        return ()
    if isinstance(value, str):
        return tuple(word for part in value.split(",") if (word := part.strip()))
    return value


_Words = Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=200), BeforeValidator(_words)]


class Config(BaseModel):
    """Which tasks, and how they are judged. Unknown fields are reported and ignored."""

    model_config = ConfigDict(frozen=True, extra="allow")

    task_count: int | None = Field(
        None, ge=1, le=MAX_TASKS, validation_alias=AliasChoices("task_count", "num_instances")
    )
    """The number of tasks, spread evenly over those that pass the filters; None asks all of them."""
    difficulty: _Words = ()
    tags: _Words = ()
    schema_: _Words = Field((), alias="schema")
    """Ids of databases."""
    task_ids: _Words = ()
    num_shards: int = Field(1, ge=1, le=MAX_TASKS)
    """The number of evaluators that share the tasks; this one asks the share of `shard_index`."""
    shard_index: int = Field(0, ge=0)
    scorer_preset: str = "default"
    dialect: str | None = None
    timeout_seconds: float = Field(300.0, gt=0, le=900)
    """Timeout for each reply, in seconds."""
    sql_timeout_seconds: float = Field(30.0, gt=0, le=120)
    """Timeout for each statement, in seconds."""
    jobs: int = Field(4, ge=1, le=16)
    """Tasks sent to each participant in parallel."""
    protocol: Literal["auto", "rest", "a2a"] = "auto"

    @field_validator("scorer_preset")
    @classmethod
    def _preset(cls, value: str) -> str:
        if value not in PRESETS:
            raise ValueError(f"there is no preset {value[:50]!r}; there are {', '.join(PRESETS)}")
        return value

    @field_validator("dialect")
    @classmethod
    def _dialect(cls, value: str | None) -> str | None:
        return None if value is None else dialect_named(value[:50])

    @model_validator(mode="after")
    def _shard(self) -> Self:
        if self.shard_index >= self.num_shards:
            raise ValueError(f"shard_index is counted from 0 and below num_shards ({self.num_shards})")
        return self

    @property
    def filters(self) -> Filters:
        shard = (self.shard_index, self.num_shards)
        return Filters(self.schema_, self.difficulty, self.tags, self.task_ids, self.task_count, shard)

    @property
    def options(self) -> Options:
        return Options(
            preset=self.scorer_preset,
            timeout=self.timeout_seconds,
            jobs=self.jobs,
            sql_seconds=self.sql_timeout_seconds,
        )

    @property
    def ignored(self) -> tuple[str, ...]:
        """Names of unknown fields, which are ignored."""
        return tuple(name[:100] for name in sorted(self.model_extra or {}))[:50]


class AssessmentRequest(BaseModel):
    model_config = ConfigDict(frozen=True)

    participants: dict[str, str] = Field(min_length=1, max_length=MAX_PARTICIPANTS)
    config: Config = Config()

    def called(self) -> list[Participant]:
        """The participants. Raises ParticipantUnusable."""
        return [participant(role, url, self.config.protocol) for role, url in self.participants.items()]


def read_request(given: Any) -> AssessmentRequest:
    """Read the request from a JSON object. Raises RequestUnusable."""
    if not isinstance(given, Mapping):
        raise RequestUnusable(f"An assessment is asked for with a JSON object. {WHAT_TO_SEND}")
    try:
        request = AssessmentRequest.model_validate({**given, "config": given.get("config") or {}})
        names = [p.name for p in request.called()]
    except ValidationError as error:
        problems = "; ".join(_problem(e) for e in error.errors(include_input=False, include_url=False)[:5])
        raise RequestUnusable(f"{problems}. {WHAT_TO_SEND}") from None
    except ParticipantUnusable as error:
        raise RequestUnusable(f"participants: {error}. {WHAT_TO_SEND}") from None
    if len(set(names)) < len(names):
        raise RequestUnusable("participants: two have the same role.")
    return request


def read_parts(parts: Iterable[Any]) -> AssessmentRequest:
    """Read the request from the parts of a message, data or text. Raises RequestUnusable, RequestMissing among them."""
    request = next((o for o in objects_in(parts) if "participants" in o), None)
    if request is None:
        raise RequestMissing(f"The message contains no JSON with participants. {WHAT_TO_SEND}")
    return read_request(request)


def _problem(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])[:120]
    return f"{place}: {error['msg'].removeprefix('Value error, ')[:300]}"
