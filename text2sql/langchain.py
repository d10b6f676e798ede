"""A LangChain tool that asks a database.

from text2sql.langchain import database_tool
tool = database_tool("shop")
"""

from __future__ import annotations

from typing import Any

from langchain_core.tools import StructuredTool

from eval.jsonl import encode
from text2sql.answer import Answer
from text2sql.questions import ask, run

ROWS = 20
"""Rows that the calling model reads; the artifact has all of them."""


def database_tool(database: str | None = None, **options: Any) -> StructuredTool:
    """A tool that takes a question in plain English and returns JSON text: the answer, how sure it is, the SQL and the
    first rows. The tool message's artifact is the `Answer`.

    `database` and `options` are those of `text2sql.run`. A failure is a QuestionFailed, which an agent handles as it
    handles the errors of its tools.
    """

    def question(question: str) -> tuple[str, Answer]:
        answer = ask(question, database=database, **options)
        return _for_model(answer), answer

    async def question_async(question: str) -> tuple[str, Answer]:
        answer = await run(question, database=database, **options)
        return _for_model(answer), answer

    return StructuredTool.from_function(
        question,
        question_async,
        name="ask_database",
        description="Ask the database one question in plain English. It writes and checks the SQL, and only reads.",
        response_format="content_and_artifact",
    )


def _for_model(answer: Answer) -> str:
    shown = {
        "status": answer.status,
        "answer": answer.answer,
        "how_sure": answer.verdict,
        "sql": answer.sql,
        "columns": answer.columns,
        "rows": answer.rows[:ROWS],
        "rows_in_all": len(answer.rows),
    }
    return encode(shown)
