"""How long the prompts of planner and writer are: `python -m experiments.prompt_tokens "QUESTION" DATABASE…`.

In: a question and databases by path or URL. Out: one line a database with its tables and the tokens, by
`estimate_tokens`, of the plan's prompt, the query's prompt, and of the structure, notes and stored values in them.
Calls no model.
"""

from __future__ import annotations

import sys

from agent.config import Settings
from agent.knowledge.model_view import model_view
from agent.knowledge.profile import kept_profile
from agent.knowledge.schema_context import estimate_tokens
from agent.models.prompts import Prompt, plan_prompt, sql_prompt
from agent.models.protocol import PlanRequest, SqlRequest
from agent.state import QueryTask
from eval.databases import open_database


def main(question: str, *databases: str) -> None:
    limits = Settings(_env_file=None).limits
    print("tables  plan  query  structure  notes  values")
    for address in databases:
        with open_database(address) as database:
            schema = database.schema()
            kept_profile(database, schema, privacy="full")
            view = model_view(
                question,
                database,
                schema,
                privacy="full",
                schema_tokens=limits.schema_tokens,
                note_tokens=limits.note_tokens,
            )
        plan = plan_prompt(PlanRequest(question, schema.dialect, view.text, schema, write_sql=True))
        task = QueryTask(id="1", description=question)
        query = sql_prompt(SqlRequest(question, task, schema.dialect, view.text, schema))
        print(
            f"{len(schema.tables):6} {_tokens(plan):5} {_tokens(query):6} {view.structure:10} {view.notes:6}",
            f"{view.values:7}",
        )


def _tokens(prompt: Prompt) -> int:
    return estimate_tokens(prompt.system) + estimate_tokens(prompt.user)


if __name__ == "__main__":
    main(*sys.argv[1:])
