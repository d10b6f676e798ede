"""English words: inflection, tokens, numbers, quoted texts, and the large word lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.language import lexicon
from eval.language.inflection import lemma, plural, root, stem
from eval.language.lexicon import abbreviations, adjectives, open_lexicon, synonyms
from eval.language.numbers import TextFigures, number_of, numerals, text_figures
from eval.language.tokens import quotations, quotes_replaced, tokenize
from eval.language.words import content_words, meets, name_words
from tests.pairs import rows


@pytest.mark.parametrize(("word", "base"), rows("language/lemmas.jsonl"))
def test_lemma(word: str, base: str) -> None:
    assert lemma(word) == base


def test_plural_knows_words_that_do_not_change_or_change_otherwise() -> None:
    words = ("order", "city", "box", "species", "child", "analysis")
    assert [plural(word) for word in words] == ["orders", "cities", "boxes", "species", "children", "analyses"]


def test_forms_of_one_verb_share_a_stem() -> None:
    assert stem("attending") == stem("attended") == stem("attends") == "attend"
    assert stem("running") == "run"
    assert root("enrolment") == root("enrolled") == "enrol"


def test_tokens_keep_quotes_numbers_and_possessives() -> None:
    tokens = tokenize("Show Ada's 2 million loans over $1,500.50 titled 'Small Hours', don't stop")
    assert [t.text for t in tokens if t.kind == "quoted"] == ["Small Hours"]
    assert [t.number for t in tokens if t.number is not None] == [2_000_000, 1500.5]
    assert "not" in [t.lower for t in tokens]
    assert "'s" in [t.text for t in tokens]


def test_words_meet_names() -> None:
    assert name_words("OrderDetails") == name_words("order_details")
    words = frozenset(content_words("Which customers' nationalities are there, by pet?"))
    assert meets("customer_id", words)
    assert meets("Nationality", words)
    assert meets("petid", words)
    assert not meets("supplier", words)


@pytest.mark.parametrize(("question", "quoted"), rows("language/quoted_texts_are_found_whatever_their.jsonl"))
def test_quoted_texts_are_found_whatever_their_marks(question: str, quoted: list[str]) -> None:
    assert [q.text for q in quotations(question)] == quoted
    assert all(text not in quotes_replaced(question, "_") for text in quoted)


def test_numbers_are_read_from_words_and_digits() -> None:
    assert [number_of(t) for t in ("seven", "1,200", "$5", "12%", "3.5", "many")] == [7, 1200, 5, 12, 3.5, None]
    assert numerals("over 1.5M, under 40k, 20m long") == (1_500_000.0, 40_000.0)
    assert [token.number for token in tokenize("1.5k items")] == [1_500, None]
    assert numerals("over 1,200.50 of 3 million, not v2 or 12345678901234567890") == (1200.5, 3_000_000.0)


def test_word_lists_are_read_with_all_their_relations() -> None:
    assert "client" in synonyms()["customer"]
    assert "customer" in synonyms()["client"]
    assert abbreviations()["qty"] == ("quantity",)
    assert adjectives()["oldest"][1] == "superlative"
    assert open_lexicon("film")


@pytest.mark.parametrize("name", ["lexicon_wordnet.txt", "lexicon_similar.txt"])
def test_each_word_of_a_sorted_list_is_found_and_no_other(name: str) -> None:
    listed = dict(line.split(":", 1) for line in lexicon.lines(Path(lexicon.__file__).with_name(name)))
    assert list(listed) == sorted(listed, key=str.encode)
    words = [*list(listed)[:3], *list(listed)[::97], list(listed)[-1]]
    assert {word: lexicon._entry(name, word) for word in words} == {word: listed[word] for word in words}
    for other in ("", "a\n", "\x00", "é", "zzzz", *(f"{word}x" for word in words)):
        assert lexicon._entry(name, other) == listed.get(other, "")


def test_words_of_similar_meaning_carry_how_similar_they_are() -> None:
    assert lexicon.open_lexicon("zoom") == {"soar": 0.95, "rising": 0.8}
    assert max(lexicon.similar_words("zulu").values()) == lexicon.similar_words("zulu")["african"] == 0.97
    assert lexicon.open_lexicon("blorptious") == lexicon.similar_words("blorptious") == {}


@pytest.mark.parametrize(("values", "figures"), rows("language/text_figures.jsonl"))
def test_which_texts_are_figures(values: list[str], figures: list[Any] | None) -> None:
    """Words that stand for nothing may be among them; codes, rooms and versions are none."""
    expected = TextFigures(figures[0], tuple(figures[1])) if figures is not None else None
    assert text_figures(values) == expected
