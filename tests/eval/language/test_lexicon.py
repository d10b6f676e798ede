"""The large word lists, which are looked up in their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.language import lexicon


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
