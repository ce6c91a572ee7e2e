"""The dice: published vectors, so that any language can check its own."""

from __future__ import annotations

import random

import pytest

from arena.games.dice import Dice, KeyedDice, KeyUsedTwice, RandomDice, ScriptedDice, commitment

SEED = bytes(range(32))


def test_published_vectors() -> None:
    """Whoever writes a re-checker in another language compares with these numbers first."""
    dice = KeyedDice(SEED)
    assert dice.roll("turn/0/birth", 12) == (5, 2, 5, 2, 1, 6, 1, 6, 6, 4, 2, 1)
    assert dice.roll("long", 40)[30:] == (4, 2, 6, 3, 5, 5, 1, 1, 6, 2)
    assert dice.shuffle("setup/boards", range(4)) == (3, 0, 2, 1)
    assert commitment(SEED).hex().startswith("630dcd2966c43366")


def test_the_fast_roll_is_the_defined_stream() -> None:
    """`roll` takes a short cut through the first block; `draws` is the definition."""
    for number in range(300):
        key = f"k{number}"
        assert KeyedDice(SEED).roll(key, 31) == tuple(d + 1 for d in KeyedDice(SEED).draws(key, [6] * 31))


def test_a_key_is_rolled_once() -> None:
    """A second use would show the same faces again: a bug of the game that must not pass."""
    dice = KeyedDice(SEED)
    dice.roll("turn/0", 2)
    with pytest.raises(KeyUsedTwice, match="turn/0"):
        dice.draws("turn/0", (4,))


def test_scripted_dice_complain_of_what_is_left_and_of_what_is_missing() -> None:
    """A test that rolls less or more than it thinks is wrong."""
    dice = ScriptedDice([1, 2, 3])
    assert dice.roll("any", 2) == (1, 2)
    with pytest.raises(AssertionError, match="never rolled"):
        dice.assert_done()
    with pytest.raises(AssertionError, match="the tape has 1 left"):
        dice.roll("more", 2)


@pytest.mark.parametrize("dice", [KeyedDice(SEED), RandomDice(random.Random(1))], ids=["keyed", "random"])
def test_every_face_and_number_is_equally_likely(dice: Dice) -> None:
    """6,000 dice: each face within five standard deviations of a thousand."""
    faces = [face for i in range(500) for face in dice.roll(f"r{i}", 12)]
    thirds = [n for i in range(500) for n in dice.draws(f"d{i}", [3] * 12)]
    assert all(abs(faces.count(face) - 1000) < 145 for face in range(1, 7))
    assert all(abs(thirds.count(n) - 2000) < 185 for n in range(3))


@pytest.mark.parametrize("bound", [0, 257])
def test_a_draw_has_a_bound_of_a_byte(bound: int) -> None:
    """Larger bounds could not be drawn from one byte."""
    with pytest.raises(ValueError, match=str(bound)):
        KeyedDice(SEED).draws("k", [bound])
