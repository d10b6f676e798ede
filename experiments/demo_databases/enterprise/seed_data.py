"""The three brands of `enterprise`: what they sell, where, in which season, and what their products are made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shop:
    """A place of sale. Days are ISO texts."""

    name: str
    kind: str
    city: str | None
    country: str | None
    region: str
    area: int | None
    opened: str
    closed: str | None = None
    weight: int = 10


@dataclass(frozen=True, slots=True)
class Brand:
    """One tenant."""

    code: str
    name: str
    industry: str
    city: str
    country: str
    plan: str
    onboarded: str
    customers: int
    orders: int
    months: tuple[int, ...]
    """Weight of each month."""
    shops: tuple[Shop, ...]
    goods: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    """Categories, each with its products and their prices in euros."""
    parts: tuple[tuple[str, int], ...]
    """Components and their costs in quarters of a euro."""
    materials: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    """What assemblies and finished products are made of, with quantities; parts of a thing stand before it."""
    promotions: tuple[tuple[str, str | None, int, int, int, int], ...]
    """Every year's promotions: name, category, percent, month, day, days it runs."""


BRANDS: tuple[Brand, ...] = (
    Brand(
        "NFO",
        "Northfell Outdoor",
        "Outdoor gear",
        "Edinburgh",
        "United Kingdom",
        "enterprise",
        "2022-01-03",
        1700,
        7000,
        (60, 62, 84, 110, 130, 142, 138, 112, 84, 70, 96, 118),
        (
            Shop("Northfell Online", "online", None, None, "Online", None, "2022-01-03"),
            Shop("Northfell Edinburgh", "store", "Edinburgh", "United Kingdom", "Europe", 820, "2018-04-14", weight=16),
            Shop("Northfell London", "store", "London", "United Kingdom", "Europe", 1140, "2019-09-07", weight=22),
            Shop("Northfell Munich", "store", "Munich", "Germany", "Europe", 760, "2020-06-20", weight=14),
            Shop("Northfell Denver", "store", "Denver", "United States", "North America", 980, "2021-05-01", weight=15),
            Shop("Northfell Bristol Outlet", "outlet", "Bristol", "United Kingdom", "Europe", 430, "2021-10-16"),
            Shop("Northfell Gothenburg", "store", "Gothenburg", "Sweden", "Europe", 510, "2024-03-02", weight=9),
        ),
        (
            (
                "Tents",
                (("Fellrunner 1 Tent", 289), ("Fellrunner 2 Tent", 369), ("Basecamp 5 Tent", 649), ("Tarp 3x3", 89)),
            ),
            (
                "Backpacks",
                (
                    ("Ridge 65 Backpack", 229),
                    ("Ridge 35 Backpack", 149),
                    ("Commuter 20 Daypack", 79),
                    ("Trail Vest 8", 99),
                ),
            ),
            (
                "Sleeping",
                (("Down Sleeping Bag -5", 319), ("Summer Quilt", 159), ("Insulated Mat", 119), ("Trail Pillow", 29)),
            ),
            (
                "Clothing",
                (
                    ("Storm Shell Jacket", 279),
                    ("Merino Base Layer", 84),
                    ("Trekking Trousers", 109),
                    ("Down Vest", 169),
                    ("Rain Poncho", 39),
                ),
            ),
            (
                "Footwear",
                (
                    ("Summit Boot", 239),
                    ("Approach Shoe", 149),
                    ("Trail Runner", 139),
                    ("Wool Hiking Socks", 19),
                    ("Camp Sandal", 64),
                ),
            ),
            (
                "Camp Kitchen",
                (
                    ("Gas Stove Micro", 54),
                    ("Titanium Pot 900", 69),
                    ("Spork Trio", 12),
                    ("Water Filter", 49),
                    ("Insulated Bottle 1 l", 34),
                ),
            ),
            (
                "Navigation & Light",
                (
                    ("Headlamp 400", 59),
                    ("Camp Lantern", 44),
                    ("Compass Pro", 39),
                    ("Trekking Poles", 94),
                    ("First Aid Kit", 32),
                ),
            ),
        ),
        (
            ("Alloy Pole Section", 9),
            ("Shock Cord, Metre", 2),
            ("Pole Tip", 1),
            ("Ripstop Nylon, Metre", 18),
            ("Zip Slider", 3),
            ("Seam Tape, Metre", 2),
            ("No-See-Um Mesh, Metre", 12),
            ("Steel Peg", 2),
            ("Guy Line, Metre", 1),
            ("Buckle", 3),
            ("Foam Pad", 10),
            ("Webbing, Metre", 3),
            ("Aluminium Stay", 16),
            ("LED Emitter", 14),
            ("Battery Cell", 20),
            ("Elastic Strap", 8),
            ("Lamp Housing", 12),
        ),
        (
            ("Tent Pole Set", (("Alloy Pole Section", 10), ("Shock Cord, Metre", 6), ("Pole Tip", 4))),
            ("Flysheet", (("Ripstop Nylon, Metre", 5), ("Zip Slider", 2), ("Seam Tape, Metre", 14))),
            ("Inner Tent", (("No-See-Um Mesh, Metre", 6), ("Zip Slider", 4))),
            ("Peg Bag", (("Steel Peg", 12), ("Ripstop Nylon, Metre", 1))),
            ("Hip Belt", (("Foam Pad", 2), ("Buckle", 1), ("Webbing, Metre", 2))),
            ("Back Frame", (("Aluminium Stay", 2), ("Hip Belt", 1), ("Webbing, Metre", 3))),
            ("Lamp Unit", (("LED Emitter", 1), ("Lamp Housing", 1))),
            (
                "Fellrunner 1 Tent",
                (("Tent Pole Set", 1), ("Flysheet", 1), ("Inner Tent", 1), ("Peg Bag", 1), ("Guy Line, Metre", 6)),
            ),
            (
                "Fellrunner 2 Tent",
                (("Tent Pole Set", 2), ("Flysheet", 1), ("Inner Tent", 1), ("Peg Bag", 1), ("Guy Line, Metre", 8)),
            ),
            (
                "Basecamp 5 Tent",
                (("Tent Pole Set", 4), ("Flysheet", 2), ("Inner Tent", 2), ("Peg Bag", 2), ("Guy Line, Metre", 16)),
            ),
            ("Ridge 65 Backpack", (("Back Frame", 1), ("Ripstop Nylon, Metre", 2), ("Buckle", 8), ("Zip Slider", 3))),
            ("Ridge 35 Backpack", (("Back Frame", 1), ("Ripstop Nylon, Metre", 1), ("Buckle", 5))),
            ("Headlamp 400", (("Lamp Unit", 1), ("Battery Cell", 1), ("Elastic Strap", 1))),
            ("Camp Lantern", (("Lamp Unit", 1), ("Battery Cell", 2))),
        ),
        (
            ("Winter Clearance", "Clothing", 25, 1, 8, 14),
            ("Trail Opening Days", "Footwear", 15, 3, 22, 10),
            ("Tent Week", "Tents", 20, 5, 4, 8),
            ("Midsummer Sale", None, 10, 6, 19, 9),
            ("Back to the Trail", "Backpacks", 15, 9, 1, 12),
            ("Long Nights", "Navigation & Light", 20, 10, 20, 14),
            ("Black Week", None, 25, 11, 23, 7),
            ("Warm Wishes", "Sleeping", 15, 12, 8, 12),
        ),
    ),
    Brand(
        "CKK",
        "Copper Kettle Kitchens",
        "Kitchenware",
        "Lyon",
        "France",
        "growth",
        "2022-02-14",
        1350,
        5400,
        (74, 70, 78, 76, 84, 72, 60, 62, 86, 104, 150, 184),
        (
            Shop("Copper Kettle Online", "online", None, None, "Online", None, "2022-02-14"),
            Shop("Copper Kettle Lyon", "store", "Lyon", "France", "Europe", 540, "2016-11-05", weight=18),
            Shop("Copper Kettle Paris", "store", "Paris", "France", "Europe", 690, "2018-02-24", weight=22),
            Shop("Copper Kettle Milan", "store", "Milan", "Italy", "Europe", 470, "2020-09-12", weight=13),
            Shop("Copper Kettle Barcelona", "store", "Barcelona", "Spain", "Europe", 450, "2021-06-05", weight=13),
            Shop(
                "Copper Kettle Cologne",
                "outlet",
                "Cologne",
                "Germany",
                "Europe",
                320,
                "2021-03-20",
                "2025-06-28",
                weight=8,
            ),
        ),
        (
            (
                "Pots & Pans",
                (
                    ("Heritage Saucepan", 119),
                    ("Heritage Frying Pan", 98),
                    ("Family Stockpot", 139),
                    ("Sauté Pan 28", 124),
                    ("Crêpe Pan", 49),
                ),
            ),
            (
                "Knives",
                (
                    ("Chef's Knife 20", 89),
                    ("Bread Knife", 64),
                    ("Petty Knife", 49),
                    ("Knife Block Oak", 74),
                    ("Steak Knives, Set of 4", 79),
                ),
            ),
            (
                "Bakeware",
                (
                    ("Springform 26", 29),
                    ("Madeleine Tray", 24),
                    ("Baking Mat", 19),
                    ("Rolling Pin Maple", 27),
                    ("Proofing Basket", 22),
                ),
            ),
            (
                "Small Appliances",
                (
                    ("Stand Mixer Classic", 389),
                    ("Hand Blender", 79),
                    ("Electric Kettle Copper", 109),
                    ("Toaster Duo", 89),
                    ("Burr Coffee Mill", 134),
                ),
            ),
            (
                "Tableware",
                (
                    ("Dinner Plate Ivory", 18),
                    ("Pasta Bowl Ivory", 19),
                    ("Wine Glasses, Set of 6", 54),
                    ("Cutlery, 24 Pieces", 149),
                    ("Carafe 1 l", 32),
                ),
            ),
            (
                "Utensils",
                (
                    ("Balloon Whisk", 17),
                    ("Silicone Spatula", 11),
                    ("Pepper Mill Walnut", 44),
                    ("Salad Spinner", 36),
                    ("Ladle Steel", 16),
                ),
            ),
        ),
        (
            ("Copper Disc", 44),
            ("Steel Disc", 16),
            ("Cast Handle", 14),
            ("Rivet", 1),
            ("Glass Lid", 20),
            ("Lid Knob", 4),
            ("Motor 500 W", 96),
            ("Gear Wheel", 10),
            ("Bearing", 6),
            ("Mixing Bowl Steel", 36),
            ("Dough Hook", 14),
            ("Power Cord", 10),
            ("Heating Plate", 34),
            ("Thermostat", 18),
            ("Control Knob", 5),
        ),
        (
            ("Handle Assembly", (("Cast Handle", 1), ("Rivet", 3))),
            ("Lid Assembly", (("Glass Lid", 1), ("Lid Knob", 1), ("Rivet", 1))),
            ("Gearbox", (("Gear Wheel", 4), ("Bearing", 6))),
            ("Drive Unit", (("Motor 500 W", 1), ("Gearbox", 1), ("Power Cord", 1))),
            ("Heater Base", (("Heating Plate", 1), ("Thermostat", 1), ("Power Cord", 1))),
            ("Heritage Saucepan", (("Copper Disc", 2), ("Handle Assembly", 1), ("Lid Assembly", 1))),
            ("Heritage Frying Pan", (("Copper Disc", 2), ("Handle Assembly", 1))),
            ("Family Stockpot", (("Steel Disc", 3), ("Handle Assembly", 2), ("Lid Assembly", 1))),
            (
                "Stand Mixer Classic",
                (("Drive Unit", 1), ("Mixing Bowl Steel", 1), ("Dough Hook", 1), ("Control Knob", 2)),
            ),
            (
                "Electric Kettle Copper",
                (("Copper Disc", 2), ("Heater Base", 1), ("Lid Assembly", 1), ("Control Knob", 1)),
            ),
        ),
        (
            ("New Year Bake-Off", "Bakeware", 20, 1, 6, 12),
            ("Sharp Days", "Knives", 15, 3, 10, 10),
            ("Mother's Day Table", "Tableware", 15, 5, 2, 10),
            ("Summer Kitchen", None, 10, 7, 3, 14),
            ("Harvest Pots", "Pots & Pans", 20, 9, 20, 10),
            ("Black Friday Kitchen", None, 25, 11, 22, 7),
            ("Festive Appliances", "Small Appliances", 15, 12, 5, 14),
        ),
    ),
    Brand(
        "LUM",
        "Lumen & Loom",
        "Home and lighting",
        "Gothenburg",
        "Sweden",
        "starter",
        "2022-05-02",
        1050,
        3900,
        (112, 96, 80, 66, 60, 50, 52, 72, 94, 124, 146, 158),
        (
            Shop("Lumen & Loom Online", "online", None, None, "Online", None, "2022-05-02"),
            Shop("Lumen & Loom Gothenburg", "store", "Gothenburg", "Sweden", "Europe", 380, "2019-08-17", weight=16),
            Shop("Lumen & Loom Amsterdam", "store", "Amsterdam", "Netherlands", "Europe", 350, "2020-10-10", weight=15),
            Shop("Lumen & Loom Hamburg", "store", "Hamburg", "Germany", "Europe", 410, "2021-11-06", weight=14),
            Shop("Lumen & Loom Kyoto", "store", "Kyoto", "Japan", "Asia", 260, "2024-09-14", weight=10),
        ),
        (
            (
                "Lamps",
                (
                    ("Orbit Pendant", 189),
                    ("Reed Floor Lamp", 249),
                    ("Pebble Table Lamp", 99),
                    ("Clip Reading Light", 45),
                    ("Globe String Lights", 59),
                ),
            ),
            ("Rugs", (("Dune Wool Rug", 429), ("Tide Cotton Rug", 189), ("Hallway Runner", 129), ("Sheepskin", 109))),
            (
                "Blankets & Cushions",
                (
                    ("Fjord Wool Throw", 139),
                    ("Linen Cushion Cover", 34),
                    ("Bouclé Cushion", 54),
                    ("Baby Blanket", 64),
                    ("Heated Throw", 119),
                ),
            ),
            (
                "Curtains",
                (
                    ("Sheer Curtain Pair", 89),
                    ("Blackout Curtain Pair", 129),
                    ("Curtain Rod Brass", 59),
                    ("Roman Blind", 99),
                ),
            ),
            (
                "Decor",
                (
                    ("Ceramic Vase Moon", 49),
                    ("Wall Mirror Round", 159),
                    ("Candle Trio", 29),
                    ("Woven Basket", 39),
                    ("Picture Ledge", 27),
                ),
            ),
            (
                "Bedding",
                (("Percale Duvet Set", 149), ("Linen Sheet", 119), ("Goose Down Pillow", 89), ("Mattress Topper", 219)),
            ),
        ),
        (
            ("Brass Tube", 22),
            ("Lamp Socket", 6),
            ("Textile Cable, Metre", 4),
            ("Plug", 4),
            ("Blown Glass Globe", 40),
            ("Ceiling Rose", 12),
            ("LED Bulb Warm", 10),
            ("Oak Base", 24),
            ("Paper Shade", 18),
            ("Switch", 5),
            ("Wool Yarn, Cone", 30),
            ("Cotton Backing, Metre", 8),
            ("Heating Wire, Metre", 5),
            ("Controller", 26),
        ),
        (
            ("Socket Set", (("Lamp Socket", 1), ("LED Bulb Warm", 1))),
            ("Cable Set", (("Textile Cable, Metre", 3), ("Plug", 1), ("Switch", 1))),
            ("Heating Mat", (("Heating Wire, Metre", 12), ("Controller", 1), ("Cable Set", 1))),
            (
                "Orbit Pendant",
                (
                    ("Blown Glass Globe", 1),
                    ("Ceiling Rose", 1),
                    ("Socket Set", 1),
                    ("Textile Cable, Metre", 2),
                    ("Brass Tube", 1),
                ),
            ),
            (
                "Reed Floor Lamp",
                (("Brass Tube", 3), ("Oak Base", 1), ("Paper Shade", 1), ("Socket Set", 1), ("Cable Set", 1)),
            ),
            ("Pebble Table Lamp", (("Oak Base", 1), ("Paper Shade", 1), ("Socket Set", 1), ("Cable Set", 1))),
            ("Dune Wool Rug", (("Wool Yarn, Cone", 4), ("Cotton Backing, Metre", 6))),
            ("Heated Throw", (("Heating Mat", 1), ("Wool Yarn, Cone", 1))),
        ),
        (
            ("White Weeks", "Bedding", 20, 1, 10, 18),
            ("Spring Curtains", "Curtains", 15, 3, 15, 12),
            ("Bright Nights", "Lamps", 15, 8, 28, 12),
            ("Cosy October", "Blankets & Cushions", 20, 10, 4, 14),
            ("Black Weekend", None, 20, 11, 24, 5),
            ("Gift Days", "Decor", 15, 12, 3, 16),
        ),
    ),
)

DISCONTINUED = {"Rain Poncho": "2024-08-31", "Salad Spinner": "2024-12-31", "Sheepskin": "2025-03-31"}
"""Last day of sale."""

LAUNCHED = {
    "Trail Vest 8": "2024-04-01",
    "Heated Throw": "2024-10-01",
    "Burr Coffee Mill": "2023-09-01",
    "Summer Quilt": "2023-05-01",
}
"""First day of sale, where it is not the brand's first."""

UNSOLD = ("Picture Ledge", "Steak Knives, Set of 4")
"""In the catalogue, never bought."""
