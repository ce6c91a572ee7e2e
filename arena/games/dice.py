"""Luck is passed as an argument: every roll names a key, and its faces depend on (seed, key) alone.

So a bot that rolls more often does not change the luck of others, and a match can be re-checked die by die in any
language. A key is ASCII text and gives a stream of bytes: block i is HMAC-SHA256(key=seed, message=key + "/" + i in
decimal), for i = 0, 1, …, with the bytes in order. The module of each game lists its keys.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import count
from typing import Any, TypeVar

Item = TypeVar("Item")


class KeyUsedTwice(RuntimeError):
    """Error raised when a game rolls the same key twice in one match, which is a bug of the game."""


class Dice(ABC):
    """Source of all luck in a game."""

    @abstractmethod
    def roll(self, key: str, count: int) -> tuple[int, ...]:
        """Throw `count` six-sided dice and return their faces, 1 … 6."""

    @abstractmethod
    def draws(self, key: str, bounds: Sequence[int]) -> tuple[int, ...]:
        """Draw one number below each bound (0 … bound − 1), all from the stream of one key; bounds are 1 … 256."""

    def shuffle(self, key: str, items: Iterable[Item]) -> tuple[Item, ...]:
        """Return the items in random order."""
        hand = list(items)
        return shuffled(hand, self.draws(key, range(len(hand), 1, -1)))


def shuffled(items: Iterable[Item], draws: Iterable[int]) -> tuple[Item, ...]:
    """Shuffle the items by Fisher-Yates from the last one down; for n items the draws are below n, n − 1, …, 2."""
    hand = list(items)
    for last, chosen in zip(range(len(hand) - 1, 0, -1), draws, strict=True):
        hand[last], hand[chosen] = hand[chosen], hand[last]
    return tuple(hand)


def below(stream: Iterator[int], bound: int) -> int:
    """Return the next usable byte modulo `bound`, skipping bytes that would make low numbers more likely."""
    if not 1 <= bound <= 256:
        raise ValueError(f"a draw is below 1 … 256, not {bound}")
    limit = 256 - 256 % bound
    return next(byte for byte in stream if byte < limit) % bound


_FACE = bytes(b % 6 + 1 for b in range(252)) + bytes(4)
"""The face of a die for each byte; 0 marks the four bytes that a die skips."""


class KeyedDice(Dice):
    """Dice of real matches, computed from a seed of 32 bytes."""

    def __init__(self, seed: bytes) -> None:
        if len(seed) != 32:
            raise ValueError(f"a seed has 32 bytes, not {len(seed)}")
        self._seed = seed
        # HMAC written out (RFC 2104): to copy the states that depend on the seed alone takes a quarter of the time.
        self._inner = sha256(seed.ljust(64, b"\0").translate(_INNER))
        self._outer = sha256(seed.ljust(64, b"\0").translate(_OUTER))
        self._used: set[str] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        return _keyed_again, (self._seed, frozenset(self._used))  # hash objects can neither be pickled nor deep-copied

    def roll(self, key: str, count: int) -> tuple[int, ...]:
        self._use(key)
        # A block has 32 bytes, and one value in 64 is skipped: one block is nearly always enough for a roll.
        faces = self._block(key, 0).translate(_FACE, _SKIPPED)
        if len(faces) >= count:
            return tuple(faces[:count])
        stream = self._bytes(key)
        return tuple(below(stream, 6) + 1 for _ in range(count))

    def draws(self, key: str, bounds: Sequence[int]) -> tuple[int, ...]:
        self._use(key)
        stream = self._bytes(key)
        return tuple(below(stream, bound) for bound in bounds)

    def _block(self, key: str, number: int) -> bytes:
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(f"{key}/{number}".encode("ascii"))
        outer.update(inner.digest())
        return outer.digest()

    def _bytes(self, key: str) -> Iterator[int]:
        for number in count():
            yield from self._block(key, number)

    def _use(self, key: str) -> None:
        if key in self._used:
            raise KeyUsedTwice(f"the dice key {key!r} was used before in this match")
        self._used.add(key)


def _keyed_again(seed: bytes, used: Iterable[str]) -> KeyedDice:
    dice = KeyedDice(seed)
    dice._used.update(used)
    return dice


_SKIPPED = bytes(range(252, 256))
"""Bytes that a die skips: with them low faces would come more often."""
_INNER = bytes(byte ^ 0x36 for byte in range(256))
"""What the inner hash of HMAC makes of each byte of the key (RFC 2104)."""
_OUTER = bytes(byte ^ 0x5C for byte in range(256))
"""What the outer hash of HMAC makes of each byte of the key (RFC 2104)."""


class RandomDice(Dice):
    """Dice from any random source, for searches and playouts; keys are ignored."""

    def __init__(self, source: random.Random) -> None:
        self._random: Callable[[], float] = source.random

    def roll(self, key: str, count: int) -> tuple[int, ...]:  # noqa: ARG002 - the interface has the key
        chance = self._random
        return tuple([int(chance() * 6) + 1 for _ in range(count)])

    def draws(self, key: str, bounds: Sequence[int]) -> tuple[int, ...]:  # noqa: ARG002
        return tuple([int(self._random() * bound) for bound in bounds])


class FastDice(Dice):
    """Dice from SplitMix64 (Steele, Lea and Flood, 2014), for playouts; keys are ignored.

    The compiled core has the same generator: with equal seeds both throw equal dice.
    """

    def __init__(self, seed: int) -> None:
        self.state = seed & _64_BITS
        """Seed of dice that go on as these do."""

    def next(self) -> int:
        """Return the next number of 64 bits."""
        self.state = mixed = self.state + 0x9E3779B97F4A7C15 & _64_BITS
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _64_BITS
        return mixed ^ mixed >> 31

    def below(self, bound: int) -> int:
        """Return a number from 0 to below a bound of at most 32 bits."""
        return (self.next() >> 32) * bound >> 32

    def roll(self, key: str, count: int) -> tuple[int, ...]:  # noqa: ARG002 - the interface has the key
        return tuple([self.below(6) + 1 for _ in range(count)])

    def draws(self, key: str, bounds: Sequence[int]) -> tuple[int, ...]:  # noqa: ARG002
        return tuple([self.below(bound) for bound in bounds])


_64_BITS = 2**64 - 1
"""Mask that keeps a number to 64 bits."""


class ScriptedDice(Dice):
    """Dice for tests that return the faces of a given tape in order; too short a tape is an error."""

    def __init__(self, tape: Iterable[int], draws: Iterable[int] = ()) -> None:
        self._tape = list(tape)
        self._draws = list(draws)

    def roll(self, key: str, count: int) -> tuple[int, ...]:
        if len(self._tape) < count:
            raise AssertionError(f"{key!r} rolls {count} dice, the tape has {len(self._tape)} left")
        faces, self._tape = self._tape[:count], self._tape[count:]
        return tuple(faces)

    def draws(self, key: str, bounds: Sequence[int]) -> tuple[int, ...]:
        if len(self._draws) < len(bounds):
            raise AssertionError(f"{key!r} draws {len(bounds)} numbers, {len(self._draws)} are left")
        drawn, self._draws = self._draws[: len(bounds)], self._draws[len(bounds) :]
        return tuple(drawn)

    def assert_done(self) -> None:
        """Raise AssertionError unless everything on the tape has been rolled."""
        if self._tape or self._draws:
            raise AssertionError(f"never rolled: {self._tape + self._draws}")


def commitment(seed: bytes) -> bytes:
    """Return the hash of the seed that the seats are shown before the first decision."""
    return sha256(seed).digest()
