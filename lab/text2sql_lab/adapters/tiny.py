"""Makes a Llama of some 600,000 random weights with a tokenizer of its own, so that the whole path runs on any machine.

In: a folder of `data`, whose texts the tokenizer is trained on. Out: a folder that transformers loads. It knows
nothing: it shows that the path works, not that adapters help.
"""

from __future__ import annotations

from pathlib import Path

from text2sql_lab.adapters.data import read_data
from text2sql_lab.adapters.packages import need, quiet
from text2sql_lab.record_lines import records_in

WORDS, WIDTH, LAYERS, CONTEXT = 2_048, 128, 2, 8_192
SPREAD = 0.15
"""Standard deviation of the weights: wide enough that an adapter can steer a model that knows nothing."""
TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def make_tiny(data: Path, out: Path, seed: int = 0) -> int:
    """Write the model; its number of weights."""
    need("torch", "transformers", "tokenizers")
    read_data(data)
    from tokenizers import ByteLevelBPETokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

    quiet()
    made = ByteLevelBPETokenizer()
    roles = [f"<|{role}|>" for role in ("pad", "end", "system", "user", "assistant")]
    rows = records_in(data / "train.jsonl")
    texts = (message["content"] for row in rows for message in row["prompt"] + row["completion"])
    made.train_from_iterator(texts, vocab_size=WORDS, special_tokens=roles, show_progress=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made._tokenizer, eos_token=roles[1], pad_token=roles[0], model_max_length=CONTEXT
    )
    tokenizer.chat_template = TEMPLATE
    set_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=WORDS,
            hidden_size=WIDTH,
            intermediate_size=2 * WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=CONTEXT,
            tie_word_embeddings=True,
            initializer_range=SPREAD,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
        )
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return int(model.num_parameters())
