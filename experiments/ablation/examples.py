"""`python -m experiments.ablation.examples --bench DIR`: measure whether the selected few-shot examples are useful.

In: a benchmark; each question is asked with all other questions on its database as possible examples. Out: of the
questions for which another one has the same form of gold query (constants aside), the number that are shown one.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Annotated

import typer

from agent.knowledge.memory.examples import Example
from agent.knowledge.memory.similarity import nearest, sql_template
from experiments.usage import usage_reported

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def measure(
    bench: Annotated[Path, typer.Option(metavar="DIR", help="A benchmark: questions.jsonl and databases/.")],
    split: Annotated[str, typer.Option(metavar="NAME", help="Only questions of this split.")] = "",
    shown: Annotated[int, typer.Option(min=1, help="Examples shown.")] = 3,
) -> None:
    """Leave each question out in turn and see whether one of its form is among the examples shown for it."""
    from eval.collection import Collection
    from experiments.replay.__main__ import bench_questions

    with usage_reported():
        read = bench_questions(bench / "questions.jsonl")
    by_database: dict[str, list[Example]] = defaultdict(list)
    for number, question in enumerate(read):
        if not split or question.get("split") == split:
            by_database[question["db"]].append(Example(question["question"], question["gold_sql"], "", number))
    databases = Collection(str(bench / "databases"))
    questions = possible = among = likest = 0
    for name, examples in by_database.items():
        schema = databases.database(name).schema()
        forms = {e: sql_template(e.sql, schema.dialect) for e in examples}
        for asked in examples:
            questions += 1
            others = [e for e in examples if e != asked]
            if forms[asked] not in {forms[e] for e in others}:
                continue
            agreements = [forms[e] == forms[asked] for e in nearest(asked.question, others, schema, shown)]
            possible, among, likest = possible + 1, among + any(agreements), likest + any(agreements[-1:])
    databases.close()
    share = max(1, possible)
    typer.echo(
        f"{questions} questions, {possible} of them with another of the same form of gold query. It is among the "
        f"{shown} examples shown for {among} ({among / share:.1%}), the likest one for {likest} ({likest / share:.1%})."
    )


if __name__ == "__main__":
    app(prog_name="python -m experiments.ablation.examples")
