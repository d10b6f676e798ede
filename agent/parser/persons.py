"""Tables of people: by their name (`members`, `employees`) or by what they store (a birth date, a salary)."""

from __future__ import annotations

from agent.knowledge.vocabulary import Vocabulary
from eval.language.lexicon import word_set

_DOES = ("er", "or", "ist", "ian", "ant", "ee", "man", "woman")
"""Endings of words for people, behind two letters at least."""
_IS = (
    "person", "nurse", "coach", "chef", "staff", "crew", "boss", "friend", "student", "client", "patient", "president",
    "parent", "child", "kid", "pupil", "guest", "agent", "host", "rep", "singer", "people", "men", "women", "king",
    "queen", "head", "contact", "user", "lead",
)  # fmt: skip
_NO_PERSON = word_set(
    "order number center centre paper theater computer letter printer container trailer river tower water chapter "
    "folder semester quarter offer power transfer matter vector sector motor register server router charter poster "
    "banner counter meter layer filter error color floor door tier sticker voucher locker mixer tractor monitor "
    "sensor harbor flavor other plant fee newsletter"
)
_PERSONAL = word_set("first last birth birthday gender sex email hire hired salary nationality age phone person")

SERVING = word_set(
    "employee staff worker personnel teacher instructor tutor trainer coach doctor nurse physician vet therapist "
    "dentist seller salesman vendor supplier agent clerk driver pilot waiter chef manager boss owner landlord host "
    "author artist lawyer technician mechanic courier librarian lender crew guide consultant advisor "
    "salesperson cashier operator officer engineer developer stylist groomer gardener cleaner director"
)
"""People who serve others, or sell to them."""
SERVED = word_set(
    "customer client patient student pupil learner trainee guest tenant renter member buyer shopper user passenger "
    "visitor patron subscriber donor reader viewer borrower consumer attendee audience"
)
"""People who are served, or buy."""


def personal(vocabulary: Vocabulary, table: str) -> bool:
    """Whether the rows of a table are people."""
    return called_person(vocabulary, table) or any(_PERSONAL & set(c.words) for c in vocabulary.by_table[table])


def called_person(vocabulary: Vocabulary, table: str) -> bool:
    """Whether a table is called like people."""
    return any(person_word(w) for w in vocabulary.tables[table].words)


def person_word(word: str) -> bool:
    """Whether a word (a lemma) ends like one for people."""
    activity = word.endswith("ing") and word != "king"  # a booking
    return word not in _NO_PERSON and not activity and (word[2:].endswith(_DOES) or word.endswith(_IS))
