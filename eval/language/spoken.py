"""Which language a question is in, as far as its letters and its small words tell.

In: a text. Out: a language's code, or `en` where nothing tells of another one. A name in foreign letters or words does
not make a question foreign: its small words decide, or most of its letters.
"""

from __future__ import annotations

import re
from functools import lru_cache

from eval.language.lexicon import word_set

ENGLISH = "en"
_SMALL_WORDS = {
    "en": """the a an of in on at for to from by with and or is are was were do does did how many much what which who
        whose where when show list give find me all each every per that have has had there their it not than more most
        total average number over under between""",
    "de": """der die das den dem des ein eine einen einem einer wie viele viel was welche welcher welches welchen wer
        wo wann zeige gib nenne liste mir alle jede jeder jedes pro und oder ist sind war waren hat haben hatte gibt es
        von im in mit für aus bei nach nicht mehr als kein keine insgesamt durchschnitt anzahl über unter zwischen""",
    "es": """el la los las un una unos unas de del en con por para que qué cuál cuáles cuántos cuántas cuánto cuánta
        quién quiénes dónde cuándo muestra dame lista todos todas cada y o es son fue fueron hay tiene tienen han no más
        menos total promedio número entre sobre""",
    "fr": """le la les un une des du de en dans avec par pour que quel quelle quels quelles combien qui où quand montre
        donne liste moi tous toutes chaque et ou est sont était étaient il y a ont pas plus moins total moyenne nombre
        entre sur au aux""",
    "it": """il lo la gli le un una di del della dei delle in con per che quale quali quanti quante quanto chi dove
        quando mostra dammi elenca tutti tutte ogni e o è sono era ci hanno ha non più meno totale media numero tra""",
    "pt": """o os as um uma de do da dos das em no na com por para que qual quais quantos quantas quanto quem onde
        quando mostre liste todos todas cada e ou é são foi há tem têm não mais menos total média número entre""",
    "nl": """de het een van in met voor door wie wat welke waar wanneer hoeveel toon geef lijst alle elke per en of is
        zijn was waren er heeft hebben niet meer dan minder totaal gemiddelde aantal tussen""",
}  # fmt: skip
_WORDS = {code: word_set(text) for code, text in _SMALL_WORDS.items()}
_SCRIPTS = {
    "ja": re.compile(r"[぀-ヿ]"),
    "ko": re.compile(r"[가-힯]"),
    "zh": re.compile(r"[一-鿿]"),
    "ru": re.compile(r"[Ѐ-ӿ]"),
    "ar": re.compile(r"[؀-ۿ]"),
    "el": re.compile(r"[Ͱ-Ͽ]"),
}
_WORD = re.compile(r"[^\W\d_]+")
_LETTER = re.compile(r"[^\W\d_]")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“]*“|«[^»]*»|(?<!\w)'[^']*'(?!\w)")
_READ = 2_000
"""Characters that are looked at."""
_LEAD = 2
"""Small words by which another language has to lead English."""

READS_ENGLISH = {
    "de": "Ohne Sprachmodell lese ich Fragen nur auf Englisch. Bitte stellen Sie die Frage auf Englisch, oder "
    "richten Sie ein Modell ein.",
    "es": "Sin un modelo de lenguaje solo leo preguntas en inglés. Haga la pregunta en inglés o configure un modelo.",
    "fr": "Sans modèle de langage, je ne lis que les questions en anglais. Posez la question en anglais ou configurez "
    "un modèle.",
    "it": "Senza un modello linguistico leggo solo domande in inglese. Faccia la domanda in inglese o configuri un "
    "modello.",
    "pt": "Sem um modelo de linguagem, leio apenas perguntas em inglês. Faça a pergunta em inglês ou configure um "
    "modelo.",
    "nl": "Zonder taalmodel lees ik alleen vragen in het Engels. Stel de vraag in het Engels of stel een model in.",
    "ja": "言語モデルがない場合、英語の質問だけを読み取れます。英語で質問するか、モデルを設定してください。",
    "ko": "언어 모델이 없으면 영어 질문만 읽을 수 있습니다. 영어로 질문하거나 모델을 설정해 주세요.",
    "zh": "没有语言模型时,我只能读懂英文问题。请用英文提问,或配置一个模型。",
    "ru": "Без языковой модели я понимаю вопросы только на английском. Задайте вопрос по-английски или подключите "
    "модель.",
    "ar": "بدون نموذج لغوي أقرأ الأسئلة بالإنجليزية فقط. اطرح السؤال بالإنجليزية أو أعدّ نموذجًا.",
    "el": "Χωρίς γλωσσικό μοντέλο διαβάζω ερωτήσεις μόνο στα αγγλικά. Ρωτήστε στα αγγλικά ή ρυθμίστε ένα μοντέλο.",
}
"""What the engine without a model says, by language."""


@lru_cache(maxsize=512)
def language_of(text: str) -> str:
    """The code of the language; `en` where nothing tells of another."""
    plain = _QUOTED.sub(" ", text[:_READ])
    letters = len(_LETTER.findall(plain))
    for code, script in _SCRIPTS.items():
        if letters and len(script.findall(plain)) * 3 > letters:
            return code
    words = [w.casefold() for w in _WORD.findall(plain)]
    counts = {code: sum(w in known for w in words) for code, known in _WORDS.items()}
    best = max((c for c in counts if c != ENGLISH), key=lambda c: counts[c])
    return best if counts[best] >= counts[ENGLISH] + _LEAD else ENGLISH
