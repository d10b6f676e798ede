"""`Thread`: a conversation with one database, whose questions may refer to earlier ones."""

from __future__ import annotations

import uuid
from typing import Any

from agent.config import Settings
from agent.conversations import Conversation
from agent.conversations.checkpointer import memory_checkpointer
from agent.models.protocol import Model
from text2sql import questions
from text2sql.answer import Answer


class Thread:
    """Ask questions one after another: `only those from Berlin` refers to the question before.

    `database` and `model` are those of `ask`; tables in memory are copied once. The thread lives as long as this
    object. `answers` are its answers in order; one of status `waiting` asks back (`clarification`), and the next text
    in the thread answers it.
    """

    def __init__(
        self,
        database: Any = None,
        *,
        model: str | Model | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.answers: list[Answer] = []
        self._database, self._model, self._settings = questions.database_of(database), model, settings
        self._conversation = Conversation(uuid.uuid4().hex, memory_checkpointer())

    async def run(self, question: str) -> Answer:
        """Ask the next question, in async code. Raises QuestionFailed; the thread can go on after it."""
        answer = await questions.run(
            question,
            database=self._database,
            model=self._model,
            settings=self._settings,
            conversation=self._conversation,
        )
        self.answers.append(answer)
        return answer

    def ask(self, question: str) -> Answer:
        """`run`, for code that waits."""
        return questions.wait_for(self.run(question))
