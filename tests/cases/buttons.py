"""The ops of Buttons' cases, run against the real rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from arena.games.buttons import (
    HAS_BUST,
    HAS_QUIT,
    IN,
    OVER,
    PASS,
    PLACE,
    QUIT,
    ROLL,
    STAR,
    TURN,
    Buttons,
    State,
    begin_round,
    dice_left,
    hand,
    passed_on,
    red_holder,
    turn_actions,
)
from arena.games.buttons_board import COLOURS, cell_set, cells, colour_cells, is_won, reward, standing
from arena.games.buttons_data import BOARDS
from arena.games.dice import RandomDice, ScriptedDice
from arena.games.rules import places
from tests.cases.op import Case, Op
from tests.cases.values import exactly, faces, items, number

GAME = Buttons()
SIDES = {"K": "GRBYGRBYGRBY" * 3}
SIDES |= {f"{n}{side}": BOARDS[n - 1][back].replace(" ", "") for n in range(1, 5) for back, side in enumerate("FB")}
STATUS = {HAS_QUIT: "quit", HAS_BUST: "bust"}


class Entry(NamedTuple):
    """One decision of a script; `kind` is the phase it belongs to."""

    seat: int
    kind: int
    action: int
    dice: Sequence[int] = ()


# --- Reading a case


def _cell(what: str, value: object) -> int:
    row, column = (number(what, place, range(1, 7)) for place in items(what, value, exactly(2)))
    return 6 * (row - 1) + column - 1


def _cells(what: str, value: object) -> int:
    found = [_cell(what, cell) for cell in items(what, value, range(37))]
    if len(set(found)) < len(found):
        raise ValueError(f"{what}: a cell is listed twice in {value!r}")
    return cell_set(found)


def _side(what: str, value: object) -> str:
    if not isinstance(value, str) or value not in SIDES:
        raise ValueError(f"{what}: expected one of {', '.join(SIDES)}, not {value!r}")
    return SIDES[value]


def _cards(value: object, counts: range) -> str:
    cards = items("cards", value, counts)
    if any(card not in list(COLOURS) or cards.count(card) > 1 for card in cards):
        raise ValueError(f"cards: expected different ones of R, B, Y and G, not {value!r}")
    return hand(cards)


def _hands(value: object, seats: range, counts: range) -> tuple[str, ...]:
    hands = tuple(_cards(cards, counts) for cards in items("cards", value, seats))
    if "R" not in _cards([*"".join(hands)], range(5)):
        raise ValueError(f"cards: expected somebody to hold R, not {value!r}")
    return hands


def _entry(value: object) -> Entry:
    """[seat, "ROLL", dice], [seat, "QUIT"], [seat, cell], [seat, "PASS"] or [seat, "STAR", cell]."""
    match value:
        case [seat, "ROLL", dice]:
            return Entry(_seat(seat), TURN, ROLL, faces("script: dice", dice, range(3, 7)))
        case [seat, "QUIT"]:
            return Entry(_seat(seat), TURN, QUIT)
        case [seat, "PASS"]:
            return Entry(_seat(seat), PLACE, PASS)
        case [seat, "STAR", cell]:
            return Entry(_seat(seat), STAR, _cell("script: star", cell))
        case [seat, [*cell]]:
            return Entry(_seat(seat), PLACE, _cell("script: button", cell))
    raise ValueError(f"script: {value!r} is no decision")


def _seat(value: object) -> int:
    return number("script: seat", value, range(4))


def _listed(marked: Iterable[int]) -> list[list[int]]:
    return [[cell // 6 + 1, cell % 6 + 1] for cell in marked]


# --- A position at the start of a round, or with a roll of seat 0 on the table


def _position(boards: Sequence[str], stars: Sequence[int], cards: tuple[str, ...]) -> State:
    new = GAME.start(len(boards), RandomDice(Random(0)), GAME.options({}))
    dealt = new._replace(sides=((),) * len(boards), boards=tuple(boards), stars=tuple(stars))
    return begin_round(dealt, cards)


def _offered(case: Case, seat: int, *, in_round: bool = True) -> Sequence[int]:
    """What a seat may choose after the case's roll by seat 0, if seat 0 and it have the case's buttons and stars."""
    dice = tuple(faces("dice", case["dice"], range(2, 7)))
    placed, stars = _cells("buttons", case["buttons"]), _cells("stars", case["stars"])
    if placed & stars:
        raise ValueError(f"a button and a star lie on {_listed(cells(placed & stars))}")
    start = _position((SIDES["K"],) * 2, (stars,) * 2, ("RB", "YG"))
    status = (IN, IN if in_round else HAS_QUIT)
    rolled = start._replace(phase=PLACE, dice=dice, buttons=(placed,) * 2, status=status)
    return GAME.pending(rolled).get(seat, ())


# --- One op each


def _id(case: Case) -> list[int]:
    return [_cell("cells", cell) for cell in items("cells", case["cells"], range(37))]


def _dice(case: Case) -> list[int]:
    seats = number("n", case["n"], GAME.seats)
    return [dice_left(seats, out) for out in range(seats)]


def _choice(case: Case) -> list[str]:
    placed = number("buttons", case["buttons"], range(37))
    return [GAME.action_name(action).upper() for action in turn_actions(placed)]


def _active(case: Case) -> dict[str, Any]:
    offered = _offered(case, 0)
    return {"cells": _listed(offered), "bust": not offered}


def _passive(case: Case) -> dict[str, Any]:
    in_round = case["in_round"]
    if not isinstance(in_round, bool):
        raise ValueError(f"in_round: expected true or false, not {in_round!r}")
    offered = _offered(case, 1, in_round=in_round)
    return {"cells": _listed(action for action in offered if action != PASS), "pass": PASS in offered}


def _reward(case: Case) -> dict[str, Any]:
    board, placed = _side("board", case["board"]), _cells("buttons", case["buttons"])
    stars = reward(board, _cards(case["cards"], range(5)), placed)
    if not isinstance(case["quit"], bool):
        raise ValueError(f"quit: expected true or false, not {case['quit']!r}")
    counts = {colour: (its & placed).bit_count() for colour, its in colour_cells(board).items()}
    return {"colours": counts, "stars": stars if case["quit"] else 0}


def _win(case: Case) -> dict[str, Any]:
    stars = [_cells("stars", own) for own in items("stars", case["stars"], GAME.seats)]
    return _verdict(stars, over=is_won(stars))


def _verdict(stars: Sequence[int], *, over: bool) -> dict[str, Any]:
    lines, counts = zip(*map(standing, stars), strict=True)
    ranks = places([standing(own) for own in stars])
    winners = [seat for seat, rank in enumerate(ranks) if over and rank == 0]
    return {"over": over, "winners": winners, "lines": list(lines), "counts": list(counts)}


def _rotate(case: Case) -> dict[str, Any]:
    cards = passed_on(_hands(case["cards"], GAME.seats, range(5)))
    return {"cards": [list(held) for held in cards], "starter": red_holder(cards)}


# --- A whole round


def _round(case: Case) -> dict[str, Any]:
    script = [_entry(value) for value in items("script", case["script"], range(10_000))]
    states = list(_played(_begin(case), script))
    end, seats = states[-1], len(states[-1].status)
    scoring = next((state for state in states if state.phase == STAR), None)
    status, due = (scoring.status, scoring.due) if scoring else ((HAS_BUST,) * seats, (0,) * seats)
    return {
        **_verdict(end.stars, over=end.phase == OVER),
        "status": [STATUS[own] for own in status],
        "rolled": [len(entry.dice) for entry in script if entry.dice],
        "reward": list(due),
        "stars": [_listed(cells(own)) for own in end.stars],
        "cards": [list(held) for held in end.cards],
        "starter": red_holder(end.cards),
    }


def _begin(case: Case) -> State:
    seats = exactly(number("n", case["n"], GAME.seats))
    boards = [_side("boards", name) for name in items("boards", case["boards"], seats)]
    stars = [_cells("stars", own) for own in items("stars", case["stars"], seats)]
    return _position(boards, stars, _hands(case["cards"], seats, exactly(2 if seats[0] == 2 else 1)))


def _played(state: State, script: Sequence[Entry]) -> Iterator[State]:
    """The states of the round and the first one after it."""
    left = deque(script)
    while state.round == 0 and state.phase != OVER:
        yield state
        size = sum(state.due) or len(state.pending)
        if len(left) < size:
            raise ValueError(f"script: ends where seats {[*state.pending]} owe {size} decisions")
        state = _after(state, [left.popleft() for _ in range(size)])
    if left:
        raise ValueError(f"script: {len(left)} decisions after the end of the round")
    yield state


def _after(state: State, group: Sequence[Entry]) -> State:
    """The state after a simultaneous group; only a seat's own order counts in it."""
    for entry in group:
        if entry.kind != state.phase:
            raise ValueError(f"script: not the time for seat {entry.seat} to {_words(entry)}")
        if entry.action == ROLL and len(entry.dice) != state.dice_left:
            raise ValueError(f"script: seat {entry.seat} rolls {state.dice_left} dice, not {len(entry.dice)}")
    dice = ScriptedDice(face for entry in group for face in entry.dice)
    while group:
        first = {entry.seat: entry for entry in reversed(group)}
        state = GAME.apply(state, {seat: entry.action for seat, entry in first.items()}, dice)
        group = [entry for entry in group if entry is not first[entry.seat]]
    return state


def _words(entry: Entry) -> str:
    words = GAME.action_name(entry.action)
    return words.replace("place", "put a star on") if entry.kind == STAR else words


# --- The table of ops


def _sorted(value: Any) -> Any:
    return sorted(value, key=repr) if isinstance(value, list) else value


def _unordered(result: Any) -> Any:
    """Cells, seats and cards are sets: their order means nothing."""
    if not isinstance(result, Mapping):
        return _sorted(result)
    return {name: _normal(name, value) for name, value in result.items()}


def _normal(name: str, value: Any) -> Any:
    if name in ("stars", "cards") and isinstance(value, list):
        return [_sorted(own) for own in value]
    return _sorted(value) if name in ("cells", "winners") else value


_VERDICT = frozenset({"over", "winners", "lines", "counts"})
_ROTATED = frozenset({"cards", "starter"})
_ROLL = frozenset({"dice", "buttons", "stars"})

OPS: Mapping[str, Op] = {
    "id": Op(_id, frozenset({"cells"})),
    "dice": Op(_dice, frozenset({"n"})),
    "choice": Op(_choice, frozenset({"buttons"}), normal=_unordered),
    "active": Op(_active, _ROLL, expects=frozenset({"cells", "bust"}), normal=_unordered),
    "passive": Op(_passive, _ROLL | {"in_round"}, expects=frozenset({"cells", "pass"}), normal=_unordered),
    "reward": Op(
        _reward,
        frozenset({"board", "buttons", "cards", "quit"}),
        expects=frozenset({"colours", "stars"}),
    ),
    "win": Op(_win, frozenset({"stars"}), expects=_VERDICT, normal=_unordered),
    "rotate": Op(_rotate, frozenset({"cards"}), expects=_ROTATED, normal=_unordered),
    "round": Op(
        _round,
        frozenset({"n", "boards", "cards", "stars", "script"}),
        expects=_VERDICT | _ROTATED | {"status", "rolled", "reward", "stars"},
        normal=_unordered,
    ),
}
