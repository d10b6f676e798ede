"""Names and places for the people in the demo databases: invented persons in real cities.

First and last names are common ones of each country; a full name refers to nobody in particular. E-mail addresses use
domains reserved for examples.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from experiments.demo_databases.rng import Loaded, Rng


@dataclass(frozen=True, slots=True)
class Country:
    name: str
    weight: int
    """Its frequency relative to the others."""
    dialling: str
    cities: tuple[str, ...]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Person:
    first_name: str
    last_name: str
    city: str
    country: str
    phone: str


def _country(name: str, weight: int, dialling: str, cities: str, first: str, last: str) -> Country:
    return Country(name, weight, dialling, tuple(cities.split(", ")), tuple(first.split(", ")), tuple(last.split(", ")))


COUNTRIES = (
    _country(
        "United States",
        24,
        "+1",
        "New York, Chicago, Seattle, Austin, Denver, Boston, Portland, Atlanta",
        "Emma, Noah, Olivia, Liam, Ava, Mason, Grace, Ethan, Chloe, Lucas, Hannah, Caleb, Ruby, Owen, Naomi, Isaac",
        "Carter, Hayes, Bennett, Brooks, Sullivan, Foster, Reed, Coleman, Parker, Jenkins, Walsh, Harper, Nguyen",
    ),
    _country(
        "Germany",
        18,
        "+49",
        "Berlin, Hamburg, Munich, Cologne, Leipzig, Dresden",
        "Anna, Lukas, Lena, Jonas, Marie, Felix, Sophie, Paul, Jörg, Käthe, Greta, Matthias, Ines, Tobias",
        "Schmidt, Müller, Weber, Fischer, Becker, Schäfer, Vogel, Krüger, Lorenz, Brandt, Hoffmann, Voß",
    ),
    _country(
        "United Kingdom",
        14,
        "+44",
        "London, Manchester, Bristol, Edinburgh, Leeds, Cardiff",
        "Amelia, Oliver, Isla, George, Poppy, Harry, Freya, Alfie, Imogen, Callum, Priya, Rhys",
        "Taylor, Wright, Hughes, Patel, Fraser, Thornton, Ellis, Pritchard, Marsh, O'Connor, Baxter, Whitfield",
    ),
    _country(
        "France",
        10,
        "+33",
        "Paris, Lyon, Marseille, Nantes, Lille, Toulouse",
        "Camille, Louis, Élodie, Hugo, Chloé, Jules, Manon, Théo, Inès, Antoine, Zoé, Rémi",
        "Martin, Bernard, Lefèvre, Moreau, Girard, Rousseau, Fontaine, Mercier, Blanchard, Chevalier",
    ),
    _country(
        "Italy",
        7,
        "+39",
        "Milan, Rome, Turin, Bologna, Naples",
        "Giulia, Marco, Chiara, Matteo, Francesca, Davide, Elisa, Lorenzo, Sara, Pietro",
        "Rossi, Ferrari, Russo, Ricci, Conti, Gallo, Greco, De Luca, Moretti, Barbieri",
    ),
    _country(
        "Spain",
        6,
        "+34",
        "Madrid, Barcelona, Valencia, Seville, Bilbao",
        "Lucía, Diego, Carmen, Pablo, Martina, Álvaro, Elena, Javier, Nuria, Iker",
        "García, Fernández, López, Sánchez, Romero, Navarro, Iglesias, Ortega, Muñoz, Vidal",
    ),
    _country(
        "Netherlands",
        5,
        "+31",
        "Amsterdam, Rotterdam, Utrecht, Groningen",
        "Sanne, Daan, Fleur, Sem, Lotte, Bram, Anouk, Ruben",
        "de Vries, Jansen, van Dijk, Bakker, Visser, Smit, Mulder, de Boer",
    ),
    _country(
        "Japan",
        5,
        "+81",
        "Tokyo, Osaka, Kyoto, Sapporo",
        "Yui, Haruto, Aoi, Sota, Hina, Ren, Mei, Kaito",
        "Sato, Suzuki, Takahashi, Tanaka, Watanabe, Kobayashi, Yamamoto, Mori",
    ),
    _country(
        "Brazil",
        5,
        "+55",
        "São Paulo, Rio de Janeiro, Curitiba, Recife",
        "Beatriz, João, Larissa, Gabriel, Letícia, Rafael, Camila, Thiago",
        "Silva, Santos, Oliveira, Pereira, Almeida, Carvalho, Araújo, Ribeiro",
    ),
    _country(
        "India",
        4,
        "+91",
        "Bengaluru, Mumbai, Pune, Kochi",
        "Ananya, Arjun, Diya, Rohan, Kavya, Vikram, Meera, Aditya",
        "Sharma, Iyer, Reddy, Gupta, Nair, Desai, Banerjee, Kulkarni",
    ),
    _country(
        "Sweden",
        3,
        "+46",
        "Stockholm, Gothenburg, Malmö",
        "Elsa, Oskar, Maja, Axel, Astrid, Nils",
        "Lindqvist, Johansson, Nyström, Berg, Åkesson, Holm",
    ),
    _country(
        "Kenya",
        2,
        "+254",
        "Nairobi, Mombasa",
        "Wanjiru, Otieno, Achieng, Kamau, Njeri, Kiprono",
        "Mwangi, Odhiambo, Kariuki, Wekesa, Kimani, Mutua",
    ),
)

_weights = Loaded([country.weight for country in COUNTRIES])
_by_name = {country.name: country for country in COUNTRIES}


def somebody(rng: Rng, country: str | None = None) -> Person:
    """A person of the country, or of one drawn by weight."""
    home = _by_name[country] if country else COUNTRIES[_weights.draw(rng)]
    first, last, city = rng.pick(home.first_names), rng.pick(home.last_names), rng.pick(home.cities)
    return Person(first, last, city, home.name, f"{home.dialling} 555 {rng.between(0, 9999999):07d}")


def email_address(first: str, last: str, number: int, domain: str) -> str:
    """An ASCII address, unique by its number: `zoe.lefevre12@example.com`."""
    return f"{_ascii(first)}.{_ascii(last)}{number}@{domain}"


def _ascii(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    return "".join(letter for letter in plain.lower() if letter.isalnum())
