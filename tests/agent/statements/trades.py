"""Three small databases of invented trades, each with a question whose answer is corrected, ten paraphrases of it that
were written before any was tried, and questions about other things."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

Tables = Mapping[str, Sequence[tuple[object, ...]]]
_NAMES = [f"{a} {b}" for a, b in product(("Ada", "Bo", "Cy", "Dee", "Eli"), ("Holm", "Marsh", "Quill", "Rowan"))]


@dataclass(frozen=True)
class Trade:
    schema: str
    rows: Callable[[random.Random], Tables]
    question: str
    corrected: str
    kind: str
    term: str
    paraphrases: tuple[tuple[str, str], ...]
    """(question, the SQL that answers it)."""
    lifted: int
    """How many of them become right."""
    others: tuple[str, ...]


def _day(random_: random.Random) -> dt.date:
    return dt.date(2023, 3, 1) + dt.timedelta(days=random_.randrange(600))


def _apiary(r: random.Random) -> Tables:
    villages, floras = ("Alder", "Birch", "Cedar"), ("clover", "heather", "linden", "rape")
    return {
        "keepers": [(i, name, villages[i % 3], _day(r).isoformat()) for i, name in enumerate(_NAMES, 1)],
        "hives": [
            (i, r.randrange(1, 21), r.choice(("Langstroth", "Warre", "Dadant")), r.choice(("blue", "white", "green")))
            for i in range(1, 81)
        ],
        "harvests": [
            (
                i,
                r.randrange(1, 81),
                r.choice(floras),
                round(r.uniform(2, 30), 1),
                round(r.uniform(15, 22), 1),
                _day(r).isoformat(),
            )
            for i in range(1, 501)
        ],
    }


def _kiln(r: random.Random) -> Tables:
    studios = [
        (i, f"{word} Studio", ("Ghent", "Delft", "Metz")[i % 3])
        for i, word in enumerate(("Ash", "Clay", "Dune", "Fern", "Loam", "Moss", "Reed", "Salt"), 1)
    ]
    firings = []
    for i in range(1, 601):
        loaded = _day(r)
        opened = loaded + dt.timedelta(days=r.randrange(1, 30))
        glaze, cone = r.choice(("celadon", "tenmoku", "shino")), r.randrange(4, 11)
        firings.append(
            (
                i,
                r.randrange(1, 9),
                glaze,
                cone,
                r.randrange(10, 90),
                round(r.uniform(20, 90), 2),
                loaded.isoformat(),
                opened.isoformat(),
            )
        )
    return {"studios": studios, "firings": firings}


def _moorings(r: random.Random) -> Tables:
    harbours = ("Lund", "Nore", "Vik")
    stays = []
    for i in range(1, 501):
        arrived = _day(r)
        nights = r.randrange(1, 15)
        stays.append(
            (
                i,
                r.randrange(1, 21),
                r.choice("ABCD"),
                nights,
                r.randrange(12, 40),
                r.choice((0, 5, 10)),
                arrived.isoformat(),
            )
        )
    return {
        "skippers": [(i, name, harbours[i % 3], 1950 + r.randrange(50)) for i, name in enumerate(_NAMES, 1)],
        "stays": stays,
    }


_PERIODS = ("in 2023", "in 2024", "in May 2023", "in June 2024", "last year")


def _asked(*forms: str, **words: tuple[str, ...]) -> tuple[str, ...]:
    """The forms with all combinations of the words that stand in them."""
    made = []
    for form in forms:
        names = [name for name in words if f"{{{name}}}" in form]
        made += [form.format(**dict(zip(names, one, strict=True))) for one in product(*(words[name] for name in names))]
    return tuple(dict.fromkeys(made))


APIARY = Trade(
    """
    CREATE TABLE keepers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, village TEXT NOT NULL, joined_on TEXT NOT NULL);
    CREATE TABLE hives (id INTEGER PRIMARY KEY, keeper_id INTEGER NOT NULL REFERENCES keepers(id), model TEXT NOT NULL,
        colour TEXT NOT NULL);
    CREATE TABLE harvests (id INTEGER PRIMARY KEY, hive_id INTEGER NOT NULL REFERENCES hives(id), flora TEXT NOT NULL,
        kilos REAL NOT NULL, moisture REAL NOT NULL, taken_on TEXT NOT NULL);
    """,
    _apiary,
    "how many runny harvests are there",
    "SELECT COUNT(*) AS harvests FROM harvests WHERE moisture > 18.5",
    "word",
    "runny",
    (
        ("number of runny harvests", "SELECT COUNT(*) FROM harvests WHERE moisture > 18.5"),
        ("count the runny harvests", "SELECT COUNT(*) FROM harvests WHERE moisture > 18.5"),
        ("how many harvests are runny", "SELECT COUNT(*) FROM harvests WHERE moisture > 18.5"),
        (
            "how many runny harvests did we have in 2024",
            "SELECT COUNT(*) FROM harvests WHERE moisture > 18.5 AND taken_on BETWEEN '2024-01-01' AND '2024-12-31'",
        ),
        ("runny harvests by flora", "SELECT flora, COUNT(*) FROM harvests WHERE moisture > 18.5 GROUP BY flora"),
        ("total kilos of runny harvests", "SELECT SUM(kilos) FROM harvests WHERE moisture > 18.5"),
        ("average moisture of the runny harvests", "SELECT AVG(moisture) FROM harvests WHERE moisture > 18.5"),
        (
            "how many runny harvests per village",
            "SELECT k.village, COUNT(*) FROM harvests h JOIN hives v ON v.id = h.hive_id JOIN keepers k ON "
            "k.id = v.keeper_id WHERE h.moisture > 18.5 GROUP BY k.village",
        ),
        (
            "which keeper has the most runny harvests",
            "SELECT k.name FROM harvests h JOIN hives v ON v.id = h.hive_id JOIN keepers k ON k.id = v.keeper_id "
            "WHERE h.moisture > 18.5 GROUP BY k.id ORDER BY COUNT(*) DESC LIMIT 1",
        ),
        (
            "how many clover harvests are runny",
            "SELECT COUNT(*) FROM harvests WHERE moisture > 18.5 AND flora = 'clover'",
        ),
    ),
    10,
    _asked(
        "how many {rows} are there",
        "how many harvests are there by {by}",
        "total kilos by {by}",
        "average moisture per {by}",
        "how many harvests {period}",
        "total kilos of {flora} harvests",
        "how many {flora} harvests are there",
        "how many {model} hives are there",
        "which keeper has the most {rows}",
        "keepers from {village}",
        "how many hives in {village}",
        "harvests with moisture {bound}",
        "top 5 keepers by kilos",
        "list the {colour} hives",
        "hives without harvests",
        "the {end} harvest",
        "average kilos of {flora} harvests {period}",
        rows=("keepers", "hives", "harvests"),
        by=("flora", "model", "colour", "village", "keeper"),
        period=_PERIODS,
        flora=("clover", "heather", "linden"),
        model=("Warre", "Dadant"),
        village=("Alder", "Birch"),
        bound=("over 19", "under 16", "between 16 and 17"),
        colour=("blue", "white"),
        end=("largest", "latest"),
    ),
)

KILN = Trade(
    """
    CREATE TABLE studios (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
    CREATE TABLE firings (id INTEGER PRIMARY KEY, studio_id INTEGER NOT NULL REFERENCES studios(id), glaze TEXT,
        cone INTEGER NOT NULL, pieces INTEGER NOT NULL, fuel_cost REAL NOT NULL, loaded_on TEXT NOT NULL,
        opened_on TEXT NOT NULL);
    """,
    _kiln,
    "how many firings in May 2024",
    "SELECT COUNT(*) AS firings FROM firings WHERE opened_on >= '2024-05-01' AND opened_on < '2024-06-01'",
    "date",
    "firings",
    (
        ("number of firings in 2023", "SELECT COUNT(*) FROM firings WHERE opened_on LIKE '2023%'"),
        ("how many firings were there in June 2024", "SELECT COUNT(*) FROM firings WHERE opened_on LIKE '2024-06%'"),
        ("firings by month", "SELECT SUBSTR(opened_on, 1, 7), COUNT(*) FROM firings GROUP BY 1"),
        (
            "how many firings were there in the first quarter of 2024",
            "SELECT COUNT(*) FROM firings WHERE opened_on >= '2024-01-01' AND opened_on < '2024-04-01'",
        ),
        ("total pieces of the firings in May 2024", "SELECT SUM(pieces) FROM firings WHERE opened_on LIKE '2024-05%'"),
        ("average fuel cost per month", "SELECT SUBSTR(opened_on, 1, 7), AVG(fuel_cost) FROM firings GROUP BY 1"),
        (
            "firings per studio in 2024",
            "SELECT s.name, COUNT(*) FROM firings f JOIN studios s ON s.id = f.studio_id "
            "WHERE f.opened_on LIKE '2024%' GROUP BY s.id",
        ),
        (
            "which studio had the most firings in April 2024",
            "SELECT s.name FROM firings f JOIN studios s ON s.id = f.studio_id WHERE f.opened_on LIKE '2024-04%' "
            "GROUP BY s.id ORDER BY COUNT(*) DESC LIMIT 1",
        ),
        (
            "how many firings between March and June 2024",
            "SELECT COUNT(*) FROM firings WHERE opened_on >= '2024-03-01' AND opened_on < '2024-07-01'",
        ),
        (
            "total fuel cost in 2024 by glaze",
            "SELECT glaze, SUM(fuel_cost) FROM firings WHERE opened_on LIKE '2024%' GROUP BY glaze",
        ),
    ),
    10,
    _asked(
        "how many {rows} are there",
        "how many firings were {verb} {period}",
        "how many firings are there by {by}",
        "total pieces by {by}",
        "average fuel cost per {by}",
        "how many {glaze} firings are there",
        "total pieces of {glaze} firings",
        "studios in {city}",
        "which studio has the most {what}",
        "firings with more than {number} pieces",
        "top {number} studios by pieces",
        "highest fuel cost",
        "firings with a fuel cost {bound}",
        "average pieces of {glaze} firings",
        "how many firings in {city}",
        "firings {verb} on 2024-05-03",
        "studios without firings",
        "how many firings have cone {cone}",
        "share of {glaze} firings",
        "lowest fuel cost by {by}",
        "list the names of the studios",
        "how many different glazes are there",
        rows=("studios", "firings"),
        verb=("loaded", "opened"),
        period=_PERIODS,
        by=("glaze", "cone", "studio", "city"),
        glaze=("celadon", "tenmoku", "shino"),
        city=("Ghent", "Delft"),
        what=("firings", "pieces"),
        number=("3", "40"),
        bound=("over 80", "under 25"),
        cone=("6", "9"),
    ),
)

MOORINGS = Trade(
    """
    CREATE TABLE skippers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, harbour TEXT NOT NULL, born INTEGER NOT NULL);
    CREATE TABLE stays (id INTEGER PRIMARY KEY, skipper_id INTEGER NOT NULL REFERENCES skippers(id),
        pontoon TEXT NOT NULL, nights INTEGER NOT NULL, rate INTEGER NOT NULL, surcharge INTEGER NOT NULL,
        arrived_on TEXT NOT NULL);
    """,
    _moorings,
    "what are the dues",
    "SELECT SUM(nights * rate + surcharge) FROM stays",
    "measure",
    "dues",
    (
        ("total dues", "SELECT SUM(nights * rate + surcharge) FROM stays"),
        (
            "what were the dues in 2024",
            "SELECT SUM(nights * rate + surcharge) FROM stays WHERE arrived_on LIKE '2024%'",
        ),
        ("dues by pontoon", "SELECT pontoon, SUM(nights * rate + surcharge) FROM stays GROUP BY pontoon"),
        ("dues per month", "SELECT SUBSTR(arrived_on, 1, 7), SUM(nights * rate + surcharge) FROM stays GROUP BY 1"),
        (
            "dues per harbour",
            "SELECT k.harbour, SUM(s.nights * s.rate + s.surcharge) FROM stays s "
            "JOIN skippers k ON k.id = s.skipper_id GROUP BY k.harbour",
        ),
        (
            "which skipper has the highest dues",
            "SELECT k.name FROM stays s JOIN skippers k ON k.id = s.skipper_id GROUP BY k.id "
            "ORDER BY SUM(s.nights * s.rate + s.surcharge) DESC LIMIT 1",
        ),
        (
            "top 3 skippers by dues",
            "SELECT k.name, SUM(s.nights * s.rate + s.surcharge) FROM stays s JOIN skippers k ON k.id = s.skipper_id "
            "GROUP BY k.id ORDER BY 2 DESC LIMIT 3",
        ),
        (
            "dues of Ada Holm",
            "SELECT SUM(s.nights * s.rate + s.surcharge) FROM stays s JOIN skippers k ON k.id = s.skipper_id "
            "WHERE k.name = 'Ada Holm'",
        ),
        ("dues in May 2024", "SELECT SUM(nights * rate + surcharge) FROM stays WHERE arrived_on LIKE '2024-05%'"),
        (
            "show the dues for each pontoon in 2024",
            "SELECT pontoon, SUM(nights * rate + surcharge) FROM stays WHERE arrived_on LIKE '2024%' GROUP BY pontoon",
        ),
    ),
    10,
    _asked(
        "how many {rows} are there",
        "how many stays {period}",
        "how many stays by {by}",
        "total nights by {by}",
        "average rate per {by}",
        "total nights {period}",
        "skippers from {harbour}",
        "how many skippers are from {harbour}",
        "which skipper has the most {what}",
        "stays with more than {number} nights",
        "top {number} skippers by nights",
        "highest surcharge",
        "average surcharge by {by}",
        "stays at pontoon {pontoon}",
        "how many stays at pontoon {pontoon} {period}",
        "skippers born after 1980",
        "skippers without stays",
        "the oldest skipper",
        "nights of {name}",
        "stays per month",
        "list the names of skippers",
        "stays with a rate over 30",
        "lowest rate by {by}",
        "average nights at pontoon {pontoon}",
        rows=("skippers", "stays"),
        period=_PERIODS,
        by=("pontoon", "skipper", "harbour"),
        harbour=("Lund", "Nore"),
        what=("stays", "nights"),
        number=("3", "10"),
        pontoon=("A", "B"),
        name=("Bo Marsh", "Cy Quill"),
    ),
)

TRADES = {"apiary": APIARY, "kiln": KILN, "moorings": MOORINGS}
