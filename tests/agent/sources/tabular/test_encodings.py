"""Texts that are no Unicode are read in the encoding that their words speak for; where two do, that is told."""

from __future__ import annotations

import pytest

from agent.sources.tabular.encodings import likely_encoding


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Ort,Umsatz\nMünchen,1\nKöln,2\n", "cp1252"),
        ("Ort,Umsatz\nMünchen,1\nKöln,2\n", "mac_roman"),
        ("Ort,Umsatz\nMünchen,1\nKöln,2\n", "cp850"),
        ("ville;total\nOrléans;12\nNîmes;4\nGenève;3\n", "cp1252"),
        ("ville;total\nOrléans;12\nNîmes;4\nÉvry;3\n", "mac_roman"),
        ("havn;kg\nThyborøn;10\nRødspætte;3\n", "cp1252"),
        ("cidade;x\nSão Paulo;5\nBrasília;6\n", "cp1252"),
        ("who;fee\na;£5\nb;€7\n", "cp1252"),
        ("bar\nJoe’s – “the” Bar, 20 °C, 5 µg, ½\n", "cp1252"),
        ("miasto;x\nŁódź;1\nKraków;2\n", "cp1250"),
        ("miasto;x\nŁódź;1\nŚwidnik;2\n", "iso8859_2"),
        ("město,x\nPlzeň,1\nÚstí nad Labem,4\nČeské Budějovice,3\n", "cp1250"),
        ("город;x\nМосква;1\nКазань;2\n", "koi8_r"),
        ("город;x\nМосква;1\nКазань;2\n", "cp866"),
        ("город;x\nМосква;1\nКазань;2\n", "mac_cyrillic"),
        ("Πόλη;x\nΑθήνα;1\nΠάτρα;2\n", "cp1253"),
        ("şehir;x\nİstanbul;1\nMuğla;2\n", "cp1254"),
        ("الاسم,x\nمحمد,1\n", "cp1256"),
        ("城市,销售\n北京,1\n广州,2\n", "gb18030"),
        ("都市,売上\n東京,1\n大阪,2\n", "cp932"),
        ("市,額\n台北,1\n高雄,2\n", "big5"),
    ],
)
def test_the_words_tell_the_encoding(text: str, encoding: str) -> None:
    found = likely_encoding(text.encode(encoding))
    assert found is not None
    assert text.encode(encoding).decode(found.name) == text


@pytest.mark.parametrize(
    ("text", "encoding", "other"),
    [
        ("x\nPlzeň\n", "cp1250", "cp1250"),
        ("x\nGyőr\n", "cp1250", "cp1250"),
        ("x\nМосква\n", "cp1251", "cp1253"),
        ("x\n서울\n", "cp949", "big5"),
    ],
)
def test_what_could_be_another_is_told(text: str, encoding: str, other: str) -> None:
    found = likely_encoding(text.encode(encoding))
    assert found is not None
    assert found.other == other
