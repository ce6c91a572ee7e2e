"""Three ways to play BIRTH: without risk, for the most points now, and by playing the match out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp
from random import Random
from typing import NamedTuple, TypeAlias

from arena.games.birth import State
from arena.games.birth_board import AREAS, SPACES, Board, contested, counts, equal_dice, faces, path, relative

Strategy: TypeAlias = Callable[[State, int, Sequence[int], Random], int]

Draw: TypeAlias = Callable[[], float]
"""A number from 0 to 1 at random."""

MEAN_FACE = 3.5
PLAYOUTS = 320
"""For one decision, shared among its actions: worse ones get fewer."""
CARELESS = 0.3
"""How often a playout takes any action at all; opponents who all play like greedy would be too easy to read."""
SPREAD = 6.0
"""Points of a lead that make a win likely in a playout's value; a plain 0 or 1 would waste what a lead tells."""


class Landing(NamedTuple):
    """Where an action takes its die: an index of AREAS, and how many dice of that face each seat has there then."""

    face: int
    area: int
    equal: list[int]

    @property
    def birth(self) -> bool:
        return sum(self.equal) > 1


def land(state: State, seat: int, action: int) -> Landing:
    face = action + 1
    space = path(state.pawns, seat, face)[-1]
    area = AREAS.index(state.board.areas[space])
    equal = equal_dice(state.placed[area], face)
    equal[seat] += 1
    return Landing(face, area, equal)


def cautious(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Avoids every Birth it can, and among what is left takes the most points now.

    A Birth may turn good dice into bad ones, its own included; to never risk it costs more than it saves.
    """

    def safety(action: int) -> tuple[bool, float, int]:
        landing = land(state, seat, action)
        return not landing.birth, gain(state, seat, landing), -action

    return max(legal, key=safety)


def greedy(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Takes the most points now, of both kinds, with the lowest die that does.

    Dice that a Birth throws again count as 3.5 pips; what comes after its turn it does not think about.
    """
    return max(legal, key=lambda action: (gain(state, seat, land(state, seat, action)), -action))


def gain(state: State, seat: int, landing: Landing) -> float:
    """What a landing adds to the seat's own points, a Birth's dice at their mean."""
    area = state.placed[landing.area]
    sums: list[float] = [sum(faces(dice)) for dice in area]
    sums[seat] += landing.face
    if landing.birth:
        sums = [own + count * (MEAN_FACE - landing.face) for own, count in zip(sums, landing.equal, strict=True)]
    return AREAS[landing.area] + contested(sums)[seat] - relative(area)[seat]


def searcher(state: State, seat: int, legal: Sequence[int], random: Random) -> int:
    """Plays the rest of the match out after each action, again and again, and takes the one that wins most.

    Half of the actions are dropped after each of a few rounds, so that what is left is compared more closely.
    """
    if len(legal) == 1:
        return legal[0]
    root = Quick(state)
    totals = dict.fromkeys(legal, 0.0)
    rounds = max(1, (len(legal) - 1).bit_length())
    while len(totals) > 1:
        times = max(1, PLAYOUTS // rounds // len(totals))
        for _ in range(times):
            for action in totals:
                totals[action] += playout(root, seat, action, random.random)
        best = sorted(totals, key=totals.__getitem__, reverse=True)
        totals = {action: totals[action] for action in best[: (len(best) + 1) // 2]}
    return next(iter(totals))


def playout(root: Quick, seat: int, action: int, draw: Draw) -> float:
    """How a match goes on after an action: near 1 for a clear win, near 0 for a clear loss."""
    table = root.copy()
    table.play(action, draw)
    table.finish(draw)
    return 1 / (1 + exp(-table.result(seat) / SPREAD))


def lead(pips: Sequence[float], seat: int) -> float:
    """What an area's relative points mean to a seat: its own if it has the most, else the best other's lost."""
    top = max(pips)
    return top if pips[seat] == top else -top


@cache
def ring(board: Board) -> tuple[int, ...]:
    """The index in AREAS of every space."""
    return tuple(AREAS.index(number) for number in board.areas)


class Quick:
    """A position in a form that is cheap to copy and to change; the rules are those of `arena.games.birth`."""

    __slots__ = ("absolute", "areas", "dice", "hands", "left", "mover", "pawns", "ring", "seats", "start")

    def __init__(self, state: State) -> None:
        self.ring = ring(state.board)
        self.start = state.board.start
        self.seats = len(state.pawns)
        self.mover = state.mover
        self.pawns = list(state.pawns)
        self.hands = [list(counts(hand)) for hand in state.hands]
        self.left = sum(map(sum, self.hands))
        self.absolute = [0] * self.seats
        self.dice = [[n for own in area for n in counts(own)] for area in state.placed]
        """By area, then six faces for each seat."""
        self.areas = [[0] * self.seats for _ in AREAS]
        """Pips by area and seat."""
        for area, dice in enumerate(self.dice):
            for index, count in enumerate(dice):
                seat, action = divmod(index, 6)
                self.areas[area][seat] += count * (action + 1)
                self.absolute[seat] += count * AREAS[area]

    def copy(self) -> Quick:
        """One that may be played on."""
        other = Quick.__new__(Quick)
        other.ring, other.start, other.seats, other.mover = self.ring, self.start, self.seats, self.mover
        other.pawns, other.absolute, other.left = self.pawns[:], self.absolute[:], self.left
        other.hands = [hand[:] for hand in self.hands]
        other.dice = [dice[:] for dice in self.dice]
        other.areas = [pips[:] for pips in self.areas]
        return other

    def landing(self, action: int) -> int:
        """The space where the mover's pawn stops."""
        pawns = self.pawns
        origin, step = pawns[self.mover], action + 1
        space = (origin + step) % SPACES
        while space in pawns and space != origin:
            space = (space + step) % SPACES
        return space

    def play(self, action: int, draw: Draw) -> None:
        """A turn of the mover's, with what the dice then do."""
        mover, face = self.mover, action + 1
        space = self.landing(action)
        area = self.ring[space]
        hand, dice, pips = self.hands[mover], self.dice[area], self.areas[area]
        hand[action] -= 1
        self.left -= 1
        dice[6 * mover + action] += 1
        pips[mover] += face
        self.absolute[mover] += AREAS[area]
        equal = dice[action::6]
        if sum(equal) > 1:
            for seat, count in enumerate(equal):
                dice[6 * seat + action] = 0
                for _ in range(count):
                    thrown = int(draw() * 6)
                    dice[6 * seat + thrown] += 1
                    pips[seat] += thrown - action
        if space == self.start:
            count = sum(hand)
            hand[:] = [0] * 6
            for _ in range(count):
                hand[int(draw() * 6)] += 1
        self.pawns[mover] = space
        self.mover = (mover + 1) % self.seats

    def gain(self, action: int) -> float:
        """What an action adds to the mover's lead now: its points and what it takes from the others."""
        mover = self.mover
        area = self.ring[self.landing(action)]
        pips = self.areas[area]
        equal = self.dice[area][action::6]
        then: list[float] = [*pips]
        if sum(equal):
            fall = MEAN_FACE - action - 1
            then = [own + count * fall for own, count in zip(pips, equal, strict=True)]
            then[mover] += MEAN_FACE
        else:
            then[mover] += action + 1
        return AREAS[area] + lead(then, mover) - lead(pips, mover)

    def result(self, seat: int) -> float:
        """The lead of a seat over the best other, as if the match ended now."""
        totals = self.absolute[:]
        for pips in self.areas:
            top = max(pips)
            if top:
                for other, own in enumerate(pips):
                    if own == top:
                        totals[other] += own
        own = totals.pop(seat)
        return own - max(totals)

    def finish(self, draw: Draw) -> None:
        """Everybody takes what gains most now, or now and then anything, until the match is over."""
        while self.left:
            hand = self.hands[self.mover]
            actions = [action for action in range(6) if hand[action]]
            careless = draw() < CARELESS
            self.play(actions[int(draw() * len(actions))] if careless else max(actions, key=self.gain), draw)


STRATEGIES: Mapping[str, Strategy] = {"cautious": cautious, "greedy": greedy, "searcher": searcher}
