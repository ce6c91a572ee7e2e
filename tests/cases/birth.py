"""The ops of BIRTH's cases, run against the real rules.

Any of them may bring its own board: `"layout": {"areas": [the area of each space], "start": index}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from arena.games.birth import Birth, State
from arena.games.birth_board import (
    AREAS,
    DICE,
    SPACES,
    Area,
    Board,
    absolute,
    actions,
    contested,
    faces,
    heap,
    path,
    place,
    points,
)
from arena.games.dice import ScriptedDice
from arena.games.rules import Options
from tests.cases import values
from tests.cases.op import Case, Op, same

GAME = Birth()
FEW = range(1, GAME.seats.stop)
"""How many players a unit case may show: it may leave some out."""
UP_TO_ALL = range(DICE + 1)
"""How many dice may lie in one place."""


def _heaps(what: str, value: object, seats: range) -> Area:
    return tuple(heap(values.faces(what, dice, UP_TO_ALL)) for dice in values.items(what, value, seats))


def _pawns(value: object, seats: range) -> tuple[int, ...]:
    pawns = [values.number("pos", pawn, range(SPACES)) for pawn in values.items("pos", value, seats)]
    if len(set(pawns)) < len(pawns):
        raise ValueError(f"pos: pawns never share a space, not {pawns}")
    return tuple(pawns)


def _placed(value: object, seats: int) -> tuple[Area, ...]:
    areas = values.names("areas", value, list(map(str, AREAS)))
    empty: list[list[int]] = [[]] * seats
    return tuple(_heaps(f"area {number}", areas.get(str(number), empty), values.exactly(seats)) for number in AREAS)


def _tape(case: Case) -> ScriptedDice:
    return ScriptedDice(values.faces("tape", case.get("tape", []), range(1000)))


def _options(case: Case) -> Options:
    return GAME.options(values.names("layout", case.get("layout", {}), GAME.defaults))


def _board(case: Case) -> Board:
    options = _options(case)
    return Board(tuple(options["areas"]), options["start"])


def _state(value: object, board: Board) -> State:
    position = {"areas": {}, **values.names("state", value, ("hands", "pos", "areas", "current"))}
    pawns = _pawns(position.get("pos"), GAME.seats)
    seats = len(pawns)
    state = State(
        board,
        turn=values.number("current", position.get("current"), range(seats)),
        pawns=pawns,
        hands=_heaps("hands", position.get("hands"), values.exactly(seats)),
        placed=_placed(position["areas"], seats),
    )
    _check_dice(state)
    return state


def _check_dice(state: State) -> None:
    """Raise ValueError for a seat with too many dice, or for hands that do not run out in turn order."""
    for seat, heaps in enumerate(zip(state.hands, *state.placed, strict=True)):
        if sum(len(faces(dice)) for dice in heaps) > DICE:
            raise ValueError(f"seat {seat} has more than {DICE} dice")
    sizes = [len(faces(hand)) for hand in state.hands]
    ahead = sizes[state.mover :] + sizes[: state.mover]
    if ahead != sorted(ahead, reverse=True) or ahead[0] - ahead[-1] > 1:
        raise ValueError(f"hands of {sizes} dice do not run out in turn order from seat {state.mover}")


def _absolute(case: Case) -> int:
    counted = values.names("counts", case["counts"], list(map(str, AREAS)))
    counts = [values.number("counts", counted.get(str(number), 0), UP_TO_ALL) for number in AREAS]
    return absolute(tuple(heap([1] * count) for count in counts))


def _relative_area(case: Case) -> list[int]:
    sums = values.items("sums", case["sums"], FEW)
    return list(contested([values.number("sums", own, range(6 * DICE + 1)) for own in sums]))


def _move(case: Case) -> dict[str, Any]:
    board, pawns = _board(case), _pawns(case["pos"], FEW)
    mover = values.number("mover", case["mover"], range(len(pawns)))
    landings = path(pawns, mover, values.number("face", case["face"], range(1, 7)))
    land = landings[-1]
    return {
        "path": landings,
        "land": land,
        "area": board.areas[land],
        "jumps": len(landings) - 1,
        "break": land == board.start,
    }


def _place(case: Case) -> dict[str, Any]:
    area, dice = _heaps("dice", case["dice"], FEW), _tape(case)
    mover = values.number("mover", case["mover"], range(len(area)))
    after = place(area, mover, values.number("face", case["face"], range(1, 7)), dice, "birth")
    dice.assert_done()
    return {"rerolled": len(case.get("tape", [])), "dice": [list(faces(own)) for own in after]}


def _legal(case: Case) -> list[int]:
    return list(actions(heap(values.faces("hand", case["hand"], UP_TO_ALL))))


def _score(case: Case) -> dict[str, Any]:
    pawns = _pawns(case["pos"], FEW)
    hands = (0,) * len(pawns)
    state = State(_board(case), 0, pawns, hands, _placed(case["areas"], len(pawns)))
    _check_dice(state)
    return _scored(state)


def _setup(case: Case) -> dict[str, Any]:
    dice = _tape(case)
    state = GAME.start(values.number("n", case["n"], GAME.seats), dice, _options(case))
    dice.assert_done()
    return _results(state)


def _turn(case: Case) -> dict[str, Any]:
    return _played(case, [case["face"]])


def _play(case: Case) -> dict[str, Any]:
    return _played(case, values.items("faces", case["faces"], range(DICE * GAME.seats[-1] + 1)))


def _played(case: Case, chosen: Sequence[object]) -> dict[str, Any]:
    state, dice = _state(case["state"], _board(case)), _tape(case)
    for face in chosen:
        if not GAME.pending(state):
            raise ValueError(f"the match is over before the {face!r} is played")
        action = values.number("face", face, range(1, 7)) - 1
        state = GAME.apply(state, {state.mover: action}, dice)
    dice.assert_done()
    return _results(state)


def _results(state: State) -> dict[str, Any]:
    over = not GAME.pending(state)
    placed = zip(AREAS, state.placed, strict=True)
    return {
        "hands": [list(faces(hand)) for hand in state.hands],
        "pos": state.pawns,
        "areas": {str(number): [list(faces(dice)) for dice in area] for number, area in placed},
        "current": None if over else state.mover,
        "over": over,
        **_scored(state),
        **({} if over else {"winner": None}),
    }


def _scored(state: State) -> dict[str, Any]:
    scored = points(state.placed)
    return {
        "abs": scored.absolute,
        "rel": scored.relative,
        "total": GAME.scores(state),
        "winner": GAME.ranks(state).index(0),
    }


def _piles(piles: Iterable[Iterable[int]]) -> list[list[int]]:
    return [sorted(dice) for dice in piles]


def _areas(areas: Mapping[str, Iterable[Iterable[int]]]) -> dict[str, list[list[int]]]:
    return {number: _piles(area) for number, area in areas.items() if any(area)}


def _unordered(results: Mapping[str, Any]) -> dict[str, Any]:
    """Without the order of dice in a hand or heap, and without empty areas: neither means anything."""
    normal: Mapping[str, Callable[[Any], Any]] = {"hands": _piles, "dice": _piles, "areas": _areas}
    return {name: normal.get(name, same)(value) for name, value in results.items()}


def _op(
    run: Callable[[Case], Any],
    required: str,
    optional: str = "",
    expects: str = "",
    normal: Callable[[Any], Any] = same,
) -> Op:
    def checked(case: Case) -> Any:
        _board(case)  # also where it makes no difference
        return run(case)

    fields = frozenset(required.split()), frozenset(f"layout {optional}".split())
    return Op(checked, *fields, frozenset(expects.split()), normal)


_RESULTS = "hands pos areas current over abs rel total winner"

OPS: Mapping[str, Op] = {
    "absolute": _op(_absolute, "counts"),
    "relative_area": _op(_relative_area, "sums"),
    "move": _op(_move, "pos mover face", expects="path land area jumps break"),
    "place": _op(_place, "dice mover face", "tape", "rerolled dice", _unordered),
    "legal": _op(_legal, "hand"),
    "score": _op(_score, "areas pos", expects="abs rel total winner"),
    "setup": _op(_setup, "n tape", "", _RESULTS, _unordered),
    "turn": _op(_turn, "state face", "tape", _RESULTS, _unordered),
    "play": _op(_play, "state faces", "tape", _RESULTS, _unordered),
}
