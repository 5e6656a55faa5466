"""Inputs for the shipped models: own sentences (none from a data set) and synthetic EEG windows."""

import math
import random

from texts import TEXTS

LENGTH = 256

WRITTEN = """
I loved every minute of it and went straight back for a second showing.
Nothing works, nobody answers, and they still charge you every month.
The battery lasts two days, which is more than I can say for my last phone.
An honest, warm and beautifully acted little film.
It was fine. Not great, not terrible, just fine.
I wanted to like this so much, and it gave me nothing back.
Not a single joke landed.
You will laugh, you will cry, you will call your mother afterwards.
The food arrived cold, late and in the wrong order, but the waiter was charming.
A masterpiece? Hardly. Worth your evening? Absolutely.
It isn't bad at all.
It isn't good at all.
I can't say that I didn't enjoy it.
I have never been so bored in my entire life.
Never before has a sequel outdone the original so completely.
Great, another update that breaks everything. Just what I needed.
If you enjoy watching paint dry, this one is for you.
My kids adored it; I checked my watch eleven times.
The ending redeems an otherwise forgettable two hours.
The ending ruins an otherwise unforgettable two hours.
Cheap, noisy, flimsy. Avoid.
Cheap, quiet, sturdy. Recommended.
The direction is confident, the script is not.
What could have been a disaster turns out to be a delight.
What could have been a delight turns out to be a disaster.
Five stars for the music, one for everything else.
She carries the whole picture on her shoulders and never once stumbles.
He mumbles through the part as if he had somewhere better to be.
Thank you so much for the quick help!
Thanks for nothing.
The train left at 9:42 and arrived at 11:05.
The meeting has been moved to Thursday.
Water boils at 100 degrees Celsius at sea level.
too long. too loud. too proud of itself
SO GOOD!!! I am telling EVERYONE about this place
worst purchase of the year, zero out of ten, would not buy again
Surprisingly tender.
Painfully slow.
Meh.
Wow!
""".strip().splitlines()

SUBJECTS = ["The film", "This novel", "The hotel", "Their new album", "The second season"]
BRIDGES = ["is", "was", "turned out to be", "is, to my surprise,", "has never been"]
OPINIONS = [
    "wonderful", "a complete waste of time", "clever and moving", "clumsy and dull",
    "better than anybody expected", "worse than the trailer", "charming in its way",
    "impossible to recommend", "a joy from start to finish", "empty behind its pretty face",
]
ENDINGS = [".", "!", ", and I don't say that lightly.", ", whatever the critics say.", " - what a pity..."]


def sentences() -> list[str]:
    """About 200 texts: written, composed, and the odd ones of texts.py."""
    generator = random.Random(2)
    composed = [
        f"{generator.choice(SUBJECTS)} {generator.choice(BRIDGES)} {opinion}{generator.choice(ENDINGS)}"
        for opinion in OPINIONS
        for _ in range(8)
    ]
    long = [
        " ".join(generator.choice(WRITTEN + composed) for _ in range(count))
        for count in (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 60)
    ]
    lowered = [text.lower() for text in WRITTEN[:20]]
    return unique([*WRITTEN, *lowered, *composed, *long, *(text for _, text in TEXTS)])


def unique(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def synthetic_windows() -> list[list[float]]:
    """50 windows at 95 Hz: two rhythms and a slow drift in noise, in microvolt."""
    generator = random.Random(3)
    windows = []
    for _ in range(50):
        rhythms = [
            (generator.uniform(1, 30), generator.uniform(1, 25), generator.uniform(0, math.tau))
            for _ in range(3)
        ]
        noise = generator.uniform(0.5, 10)
        drift = generator.uniform(-0.2, 0.2)
        offset = generator.uniform(-50, 50)
        windows.append(
            [
                round(
                    offset
                    + drift * index
                    + sum(
                        amplitude * math.sin(math.tau * hertz * index / 95 + phase)
                        for hertz, amplitude, phase in rhythms
                    )
                    + generator.gauss(0, noise),
                    6,
                )
                for index in range(LENGTH)
            ]
        )
    return windows
