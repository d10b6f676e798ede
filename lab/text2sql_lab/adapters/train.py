"""Trains an adapter: LoRA, or QLoRA on a base in four bits (NF4). trl does the work.

In: a folder of `data`, a base model, options. Out: a folder with `adapter/` and `manifest.json` (base, data, seed,
versions, device, seconds, the curve of losses) and `loss.svg`. Only the reply is learned; the prompt's labels are
masked. A run that was killed goes on at its last checkpoint and ends with the weights of one that was not.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

from eval.errors import InputError
from text2sql_lab.adapters.data import read_data
from text2sql_lab.adapters.packages import TRAINING, need, quiet
from text2sql_lab.pages.svg import Drawing
from text2sql_lab.record_lines import records_in

IGNORED = -100
"""The label of a token that is not learned."""
WIDTH, HEIGHT, LEFT, BOTTOM = 640.0, 280.0, 52.0, 34.0
_STYLE = (
    "<style>text{font:12px sans-serif;fill:#5b6675}.path{stroke:#2f6fb7;stroke-width:1.5}.grid{stroke:#d9dee5}</style>"
)


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """The options of one run; its folder accepts no others."""

    data: str
    base: str
    """A folder, a GGUF file, or a name that transformers finds."""
    chat_template: str = ""
    """The text of a Jinja template, in place of the base's own."""
    seed: int = 0
    qlora: bool = False
    bf16: bool = False
    """Also without a GPU."""
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    epochs: float = 3.0
    steps: int = 0
    """Above 0, in place of epochs."""
    batch: int = 1
    accumulate: int = 8
    """Rows of one step: batch times this."""
    rate: float = 2e-4
    max_tokens: int = 4096
    """Rows with more are left out, never cut: a cut reply teaches to stop half-way."""
    save_every: int = 50
    """Steps between checkpoints."""
    validation_rows: int = 0
    """Above 0, rows of the validation that count at most."""


def train(options: TrainOptions, out: Path, on_progress: Callable[[int, int, float], None]) -> dict[str, Any]:
    """Train, or go on; returns the manifest. `on_progress`: step, of, loss. Raises InputError and PackagesMissing."""
    packages = (*TRAINING, *_packages(options.base, options.qlora))
    need(*packages)
    data = read_data(Path(options.data))
    wanted = {**asdict(options), "data": data.digest, "base": base_digest(options.base)}
    if (done := _begun(out, wanted)) is not None:
        return done
    import torch
    from transformers.trainer_utils import get_last_checkpoint

    trainer, left_out = make_trainer(options, out, on_progress)
    checkpoints = out / "checkpoints"
    last = get_last_checkpoint(str(checkpoints)) if checkpoints.is_dir() else None
    started = time.monotonic()
    trainer.train(resume_from_checkpoint=last)
    seconds = time.monotonic() - started
    loss = trainer.evaluate()["eval_loss"] if trainer.eval_dataset is not None else None
    trainer.save_model(str(out / "adapter"))
    trained, weights = trainer.model.get_nb_trainable_parameters()
    cuda = torch.cuda.is_available()
    curve = [(log["step"], round(log["loss"], 6)) for log in trainer.state.log_history if "loss" in log]
    manifest = {
        "options": asdict(options),
        "base_digest": wanted["base"],
        "data": asdict(data),
        "rows_too_long": left_out,
        "weights": {"trained": trained, "all": weights},
        "steps": trainer.state.global_step,
        "resumed_from": Path(last).name if last else None,
        "loss": curve,
        "validation_loss": loss,
        "seconds": round(seconds, 1),
        "tokens": trainer.state.num_input_tokens_seen,
        "device": torch.cuda.get_device_name() if cuda else platform.machine(),
        "peak_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2) if cuda else None,
        "versions": {name: version(name) for name in packages},
    }
    (out / "loss.svg").write_text(loss_svg(curve), encoding="utf-8")
    (out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return read_manifest(out)


def make_trainer(
    options: TrainOptions,
    out: Path,
    on_progress: Callable[[int, int, float], None] = lambda step, of, loss: None,  # noqa: ARG005
) -> tuple[Any, int]:
    """trl's trainer, and how many rows are too long for it."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import PrinterCallback, TrainerCallback, set_seed
    from trl import SFTConfig, SFTTrainer

    set_seed(options.seed)
    model, tokenizer = load_base(
        options.base, qlora=options.qlora, bf16=options.bf16, chat_template=options.chat_template
    )
    rows, left_out = {}, 0
    for part in ("train", "validation"):
        lines = records_in(Path(options.data) / f"{part}.jsonl")
        every = [{key: row[key] for key in ("prompt", "completion")} for row in lines]
        texts = [tokenizer.apply_chat_template(row["prompt"] + row["completion"], tokenize=False) for row in every]
        sizes = [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts]
        rows[part] = [row for row, size in zip(every, sizes, strict=True) if size <= options.max_tokens]
        left_out += len(every) - len(rows[part])
    if not rows["train"]:
        raise InputError(f"No row has at most {options.max_tokens:,} tokens; raise --max-tokens.")
    if options.validation_rows:
        rows["validation"] = rows["validation"][:: -(-len(rows["validation"]) // options.validation_rows) or 1]

    class ReplyTrainer(SFTTrainer):  # type: ignore[misc]
        """Computes logits only where the reply is (trl does so only on a GPU, and a vocabulary of 262,144 words costs
        more than all layers of a small model), and what the prompts of a batch begin with once."""

        def compute_loss(
            self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            read, labels = behind_one_prefix(inputs["input_ids"], inputs["attention_mask"], inputs["labels"])
            read["attention_mask"] = read["attention_mask"].to(model.dtype if len(inputs["labels"]) > 1 else torch.long)
            following = labels[:, 1:]
            places = (following != IGNORED).any(dim=0).nonzero().flatten()
            labels = following[:, places]
            outputs = model(**read, logits_to_keep=places, use_cache=False)
            learned = (labels != IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
            loss = torch.nn.functional.cross_entropy(
                outputs.logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED, reduction="sum"
            )
            return (loss / learned, outputs) if return_outputs else loss / learned

    class Progress(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:  # noqa: ARG002
            if logs and "loss" in logs:
                on_progress(state.global_step, state.max_steps, logs["loss"])

    cuda = torch.cuda.is_available()
    config = SFTConfig(
        output_dir=str(out / "checkpoints"),
        completion_only_loss=True,
        max_length=None,
        seed=options.seed,
        data_seed=options.seed,
        num_train_epochs=options.epochs,
        max_steps=options.steps or -1,
        per_device_train_batch_size=options.batch,
        per_device_eval_batch_size=options.batch,
        gradient_accumulation_steps=options.accumulate,
        learning_rate=options.rate,
        lr_scheduler_type="cosine",
        warmup_steps=0.03,
        bf16=cuda or options.bf16,
        use_cpu=not cuda,
        activation_checkpointing=cuda,
        logging_steps=1,
        save_steps=options.save_every,
        save_total_limit=2,
        include_num_input_tokens_seen=True,
        dataloader_pin_memory=cuda,
        prediction_loss_only=True,
        disable_tqdm=True,
        report_to="none",
    )
    trainer = (SFTTrainer if cuda else ReplyTrainer)(
        model=model,
        args=config,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(rows["train"]),
        eval_dataset=Dataset.from_list(rows["validation"]) if rows["validation"] else None,
        peft_config=LoraConfig(
            r=options.rank,
            lora_alpha=options.alpha,
            lora_dropout=options.dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        ),
        callbacks=[Progress()],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer, left_out


def behind_one_prefix(ids: Any, mask: Any, labels: Any) -> tuple[dict[str, Any], Any]:
    """A batch (rows × tokens, padded on the right) as one row: what all prompts begin with, such as the schema, then
    the rest of each, which sees that beginning and itself. What the model is given, and the labels. Ten questions
    behind a schema of 1,000 tokens cost a sixth of ten rows, with the same loss."""
    import torch

    sizes = mask.sum(dim=1)
    if len(ids) == 1:
        return {"input_ids": ids, "attention_mask": mask}, labels
    alike = ((ids == ids[0]) & (labels == IGNORED)).all(dim=0)[: int(sizes.min()) - 1]
    shared = int(alike.long().cumprod(dim=0).sum())
    rows = [slice(shared, int(size)) for size in sizes]
    row = torch.cat([torch.full((shared,), -1), *(torch.full((r.stop - shared,), n) for n, r in enumerate(rows))])
    place = torch.cat([torch.arange(shared), *(torch.arange(r.start, r.stop) for r in rows)])
    sees = ((row[None, :] == -1) | (row[None, :] == row[:, None])).tril()
    read = {
        "input_ids": torch.cat([ids[0, :shared], *(ids[n, r] for n, r in enumerate(rows))])[None],
        "position_ids": place[None],
        "attention_mask": torch.where(sees, 0.0, torch.finfo(torch.float32).min)[None, None],
    }
    return read, torch.cat([labels[0, :shared], *(labels[n, r] for n, r in enumerate(rows))])[None]


def load_base(base: str, *, qlora: bool = False, bf16: bool = False, chat_template: str = "") -> tuple[Any, Any]:
    """The model (bf16 on a GPU and with `bf16`, else float32; with `qlora` in NF4; a GGUF file dequantized) and its
    tokenizer. Raises InputError and PackagesMissing."""
    need("torch", "transformers", *_packages(base, qlora))
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, GgufConfig

    quiet()
    file = Path(base)
    gguf = file.suffix == ".gguf"
    if gguf and qlora:
        raise InputError(f"{file.name} is in few bits already; leave --qlora out.")
    place, part = (str(file.parent), {"gguf_file": file.name}) if gguf else (base, {})
    kind = torch.bfloat16 if bf16 or torch.cuda.is_available() else torch.float32
    bits = BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=kind
    )
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, **part)
        model = AutoModelForCausalLM.from_pretrained(
            place,
            **part,
            dtype=kind,
            quantization_config=GgufConfig(dequantize=True) if gguf else bits if qlora else None,
            device_map="auto" if torch.cuda.is_available() else "cpu",
        )
    except (OSError, ValueError) as error:
        raise InputError(f"{base} cannot be loaded as a language model: {str(error).splitlines()[0]}") from None
    if chat_template:
        tokenizer.chat_template = chat_template
    if not tokenizer.chat_template:
        raise InputError(f"{base} has no chat template; choose an instruction-tuned model, or give --chat-template.")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer


def _packages(base: str, qlora: bool) -> tuple[str, ...]:
    """What reading such a base needs beside the packages of every training."""
    return (*(("bitsandbytes",) if qlora else ()), *(("gguf",) if base.endswith(".gguf") else ()))


def base_digest(base: str) -> str:
    """What tells one base from another: its name, or for a folder its configuration and the sizes of its files, or for
    a file its size."""
    folder = Path(base)
    if not folder.exists():
        return base
    import hashlib

    files = sorted(folder.iterdir()) if folder.is_dir() else [folder]
    sizes = [(file.name, file.stat().st_size) for file in files if file.is_file()]
    config = (folder / "config.json").read_text("utf-8") if (folder / "config.json").exists() else ""
    return hashlib.sha256(f"{config}{sizes}".encode()).hexdigest()[:16]


def _begun(out: Path, wanted: dict[str, Any]) -> dict[str, Any] | None:
    """The manifest of a run that has ended. Raises InputError for the folder of another run."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not (out / "run.json").exists():
            (out / "run.json").write_text(json.dumps(wanted, indent=2) + "\n", encoding="utf-8")
        before = json.loads((out / "run.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{out} cannot be used: {error}") from None
    if differing := [key for key in wanted if before.get(key) != wanted[key]]:
        raise InputError(f"{out} holds a run with another {', '.join(differing)}; choose another --out.")
    return read_manifest(out) if (out / "manifest.json").exists() else None


def read_manifest(run: Path) -> dict[str, Any]:
    """What a training run says of itself. Raises InputError for a folder that holds none that has ended."""
    try:
        return dict(json.loads((run / "manifest.json").read_text("utf-8")))
    except (OSError, ValueError):
        raise InputError(f"{run} is not the folder of a training run that has ended.") from None


def loss_svg(curve: Sequence[tuple[int, float]]) -> str:
    """The losses as an SVG file that needs no style sheet. `curve`: steps with their mean loss in nats per token of the
    reply."""
    drawing = Drawing(WIDTH, HEIGHT, "Loss of the replies over the steps of training", [_STYLE])
    highest = max((loss for _, loss in curve), default=1.0) or 1.0
    last = max((step for step, _ in curve), default=1) or 1

    def place(step: int, loss: float) -> tuple[float, float]:
        return LEFT + step / last * (WIDTH - LEFT - 16), HEIGHT - BOTTOM - loss / highest * (HEIGHT - BOTTOM - 20)

    for loss in (0.0, highest / 2, highest):
        x, y = place(0, loss)
        drawing.line(x, y, WIDTH - 16, y, "grid")
        drawing.text(x - 6, y + 4, f"{loss:.2f}", "tick", "end")
    drawing.text(LEFT, HEIGHT - 10, "step 0", "tick")
    drawing.text(WIDTH - 16, HEIGHT - 10, str(last), "tick", "end")
    for (step, loss), (after, then) in pairwise(curve):
        drawing.line(*place(step, loss), *place(after, then), "path")
    return drawing.render().replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"
