"""The whole path on a model of 590,464 weights made on the spot: data, training, the gate, export. Skipped where
`askwell[adapters]` is not installed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.models.quirks import forget
from eval.errors import InputError
from tests.jsonl import read_lines, write_lines
from text2sql_lab.adapters.commands import app
from text2sql_lab.adapters.export import export
from text2sql_lab.adapters.tiny import TEMPLATE
from text2sql_lab.adapters.train import TrainOptions, load_base, make_trainer, train

for package in ("torch", "transformers", "peft", "trl", "accelerate", "datasets", "bitsandbytes"):
    pytest.importorskip(package, reason=f"{package} is not installed; pip install 'askwell[adapters]'")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the libraries warn of each other

ASKED = ["people", "persons", "employees", "colleagues", "staff members"]
ASKED += ["workers", "members", "rows", "heads", "names"]
STRATEGY = "standard/no-plan/no-judge/retries=0"


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def made(firm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `data` and `tiny`. One query answers every question that is learned, another one, which gives the
    same number, every question that is held out."""
    folder = tmp_path_factory.mktemp("made")

    def asking(text: str, gold: str) -> list[dict[str, Any]]:
        return [{"id": word, "db": "db", "question": text.format(word), "gold_sql": gold} for word in ASKED]

    learned = write_lines(folder / "learned.jsonl", asking("How many {} are there?", "SELECT COUNT(*) FROM people"))
    held_out = write_lines(folder / "held.jsonl", asking("How many {} are there now?", "SELECT COUNT(id) FROM people"))
    given = ["--questions", str(learned), "--held-out", str(held_out), "--db", str(firm / "firm.sqlite"), "-q"]
    for command in (
        ["data", *given, "--out", str(folder / "data"), "--strategy", STRATEGY],
        ["tiny", "--data", str(folder / "data"), "--out", str(folder / "tiny")],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert "590,464 weights" in done.stdout
    return folder


@pytest.fixture
def options(made: Path) -> TrainOptions:
    return TrainOptions(
        str(made / "data"), str(made / "tiny"), steps=6, accumulate=1, rate=1e-2, save_every=2, rank=8, alpha=16
    )


def silent(step: int, of: int, loss: float) -> None:
    """No progress."""


def weights(run: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(run / "adapter/adapter_model.safetensors"))


def test_only_the_reply_is_learned(made: Path, options: TrainOptions, tmp_path: Path) -> None:
    trainer, left_out = make_trainer(options, tmp_path)
    rows = read_lines(made / "data/train.jsonl")

    batch = trainer.data_collator([trainer.train_dataset[0], trainer.train_dataset[1]])

    assert left_out == 0
    for ids, labels, row in zip(batch["input_ids"], batch["labels"], rows, strict=False):
        learned = labels != -100
        assert trainer.processing_class.decode(ids[learned]) == row["completion"][0]["content"] + "<|end|>"
        assert trainer.processing_class.decode(ids[~learned]).startswith("<|system|>" + row["prompt"][0]["content"])
        assert labels[learned].tolist() == ids[learned].tolist()


def test_a_shared_beginning_and_no_logits_of_it_leave_the_loss_the_same(options: TrainOptions, tmp_path: Path) -> None:
    trainer, _ = make_trainer(options, tmp_path)
    batch = trainer.data_collator([trainer.train_dataset[0], trainer.train_dataset[1]])

    loss, outputs = trainer.compute_loss(trainer.model, batch, return_outputs=True)

    learned = (batch["labels"] != -100).sum().item()
    assert outputs.logits.shape[1] == learned < batch["input_ids"].shape[1] / 4
    assert loss.item() == pytest.approx(trainer.model(**batch).loss.item(), rel=1e-5)


def test_a_base_without_a_template_is_given_one(made: Path, options: TrainOptions, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(made / "tiny", bare)
    (bare / "chat_template.jinja").unlink()
    (tmp_path / "turns.jinja").write_text(TEMPLATE.replace("<|system|>", "<|user|>"))
    given = ["train", "--data", options.data, "--base", str(bare), "--out", str(tmp_path / "runs"), "--steps", "1"]
    given += ["--bf16", "--json", "-q"]

    refused = CliRunner().invoke(app, given)
    done = CliRunner().invoke(
        app, [*given, "--out", str(tmp_path / "again"), "--chat-template", str(tmp_path / "turns.jinja")]
    )

    assert refused.exit_code == 2
    assert "or give --chat-template" in refused.output
    assert done.exit_code == 0, done.output
    manifest = json.loads(done.stdout)[str(tmp_path / "again/seed-0")]
    assert manifest["options"]["chat_template"] == (tmp_path / "turns.jinja").read_text()
    model, _ = load_base(str(bare), bf16=True, chat_template=TEMPLATE)
    export(tmp_path / "again/seed-0", tmp_path / "exported", "tuned", force=True)
    template = tmp_path / "exported/adapter/chat_template.jinja"
    assert (tmp_path / "exported/vllm.sh").read_text().endswith(f"--chat-template {template.resolve()}\n")
    assert template.read_text() == (tmp_path / "turns.jinja").read_text()
    kinds = {str(weight.dtype) for weight in weights(tmp_path / "again/seed-0").values()}
    assert (str(model.dtype), kinds) == ("torch.bfloat16", {"torch.float32"})


def test_a_gguf_file_is_a_base(made: Path, options: TrainOptions, tmp_path: Path) -> None:
    import torch

    file = as_gguf(made / "tiny", tmp_path / "tiny.gguf")
    model, tokenizer = load_base(str(file), chat_template=TEMPLATE)
    same, written = load_base(str(made / "tiny"))

    text = "How many people are there?"
    assert tokenizer(text)["input_ids"] == written(text)["input_ids"]
    assert torch.equal(model.get_input_embeddings().weight, same.get_input_embeddings().weight)
    made_of_it = train(replace(options, base=str(file), chat_template=TEMPLATE, steps=1), tmp_path / "run", silent)
    assert made_of_it["versions"]["gguf"]
    assert made_of_it["loss"][0][1] > 0
    with pytest.raises(InputError, match="in few bits already"):
        load_base(str(file), qlora=True)


def as_gguf(folder: Path, out: Path) -> Path:
    """The model of `tiny` as llama.cpp keeps one."""
    gguf = pytest.importorskip("gguf")
    model, tokenizer = load_base(str(folder))
    config, writer = model.config, gguf.GGUFWriter(out, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    words = json.loads(tokenizer._tokenizer.to_str())["model"]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(sorted(words["vocab"], key=words["vocab"].__getitem__))
    writer.add_token_merges([" ".join(pair) for pair in words["merges"]])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, weight in model.state_dict().items():
        if name != "lm_head.weight":
            writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), weight.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return out


def test_a_killed_run_ends_with_the_weights_of_one_that_was_not(options: TrainOptions, tmp_path: Path) -> None:
    import torch

    whole = train(options, tmp_path / "whole", silent)
    command = [sys.executable, "-m", "agent.lab", "adapter", "train", "--data", options.data, "--base", options.base]
    command += ["--out", str(tmp_path), "--seed", "0", "--steps", "6", "--accumulate", "1", "--rate", "0.01"]
    command += ["--save-every", "2", "--rank", "8", "--alpha", "16"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment
    ) as child:
        assert child.stderr is not None
        for line in child.stderr:
            if "step 5 of 6" in line:
                child.send_signal(signal.SIGKILL)
                break
    assert not (tmp_path / "seed-0/manifest.json").exists()

    resumed = train(options, tmp_path / "seed-0", silent)

    assert (whole["resumed_from"], resumed["resumed_from"]) == (None, "checkpoint-4")
    first, second = weights(tmp_path / "whole"), weights(tmp_path / "seed-0")
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert whole["loss"] == resumed["loss"]
    assert train(options, tmp_path / "whole", silent) == whole  # it has ended; nothing is done again
    with pytest.raises(InputError, match="another rank"):
        train(replace(options, rank=4), tmp_path / "whole", silent)


@pytest.fixture(scope="module")
def trained(made: Path) -> Path:
    """A run on the base in four bits that has learned its one reply."""
    given = ["--data", str(made / "data"), "--base", str(made / "tiny"), "--out", str(made / "runs"), "--qlora", "-q"]
    done = CliRunner().invoke(app, ["train", *given, "--steps", "40", "--accumulate", "1", "--rate", "1e-2"])
    assert done.exit_code == 0, done.output
    return made / "runs/seed-0"


def test_the_whole_path_on_four_bits(firm: Path, made: Path, trained: Path, tmp_path: Path) -> None:
    manifest = json.loads((trained / "manifest.json").read_text())
    assert manifest["options"]["qlora"]
    assert manifest["loss"][-1][1] < manifest["loss"][0][1] / 4
    assert (trained / "loss.svg").read_text().startswith("<svg xmlns=")
    with pytest.raises(InputError, match="has not judged it"):
        export(trained, tmp_path / "early", "tuned")

    given = ["gate", str(trained), "--data", str(made / "data"), "--db", str(firm / "firm.sqlite"), "-k", "0"]
    forget()
    judged = CliRunner().invoke(app, [*given, "--reply-tokens", "48", "--jobs", "1", "--json", "-q"])
    forget()

    verdict, pair = json.loads(judged.stdout), json.loads(judged.stdout)["pairs"][0]
    assert (pair["n"], pair["base"], pair["lost"]) == (len(ASKED), 0, 0)
    assert judged.exit_code == (0 if verdict["use"] else 5), judged.output
    assert verdict["use"] == (pair["p"] < 0.05)
    assert len(list((trained / "gate").glob("answers-*.jsonl"))) == 2

    out = tmp_path / "exported"
    given = ["export", str(trained), "--out", str(out), "--merged"]
    done = CliRunner().invoke(app, given if verdict["use"] else [*given, "--force"])

    assert done.exit_code == 0, done.output
    assert f"--lora-modules tuned={out.resolve() / 'adapter'}" in (out / "vllm.sh").read_text()
    assert (out / "Modelfile").read_text() == "FROM ./merged\nPARAMETER num_ctx 16384\nPARAMETER temperature 0\n"
    assert f"TEXT2SQL_STRATEGY={STRATEGY}" in (out / "text2sql.env").read_text()
    assert "TEXT2SQL_SCHEMA_TOKENS=8000" in (out / "text2sql.env").read_text().splitlines()
    from text2sql_lab.adapters.serve import LocalModel

    prompt = read_lines(made / "data/train.jsonl")[0]["prompt"]
    whole = LocalModel(load_base(str(out / "merged")), {}, reply_tokens=24)
    parts = LocalModel(load_base(str(made / "tiny")), {"tuned": trained / "adapter"}, reply_tokens=24)
    replies = [m.reply({"model": m.names[-1], "messages": prompt})["choices"] for m in (whole, parts)]
    assert replies[0] == replies[1]
