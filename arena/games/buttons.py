"""Buttons, a push-your-luck dice game for 2–4 players.

In a turn the active player rolls or quits the round. A roll has a white die, which names a row of the player's own
board, and black dice, which name columns. The active player must put a button where the row meets one of the columns,
and loses all buttons of the round if that is nowhere possible. The others still in the round may use the column of the
black die with gold pips. When all are out, those who quit turn buttons into stars; five stars in a line win, or twelve.

Keys of the dice: `setup/boards` shuffles boards 1–4, and seat s gets the s-th; `setup/cards` deals as described at
`_deal`; `round/R/turn/T` rolls white, gold black, plain blacks. R and T count from 0; T counts all turns of the round.

Different from the printed game: the colours of the boards (see `buttons_data`; the option `boards` replaces them), and
the end after `max_rounds` rounds, without which bots that never quit would play for ever. Pieces never run out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from reprlib import repr as short
from typing import ClassVar, TypeVar

from google.protobuf.message import Message

from arena.games import buttons_board as on
from arena.games.buttons_data import BOARDS, check_boards
from arena.games.buttons_picture import marks, picture
from arena.games.buttons_state import Phase, Position, Status
from arena.games.dice import Dice, shuffled
from arena.games.encoding import block
from arena.games.faster import cached_property, fast_replace
from arena.games.rules import BadOption, Game, Mark, Options, Seat, places
from arena.v1 import buttons_pb2 as wire

ROLL, QUIT, PASS, FRONT, BACK = range(36, 41)
"""Actions after 0 … 35, which are cells: of a button or, in scoring, of a star."""
_NAMES = (
    *(f"place {row},{column}" for row in range(1, 7) for column in range(1, 7)),
    *("roll", "quit", "pass", "front", "back"),
)
"""Names of the actions, by their number."""

SIDE = wire.BUTTONS_PHASE_SIDE
"""Phase in which each seat chooses the side of its board."""
TURN = wire.BUTTONS_PHASE_TURN
"""Phase in which the active seat rolls or quits."""
PLACE = wire.BUTTONS_PHASE_PLACE
"""Phase in which a button may be put on a board."""
STAR = wire.BUTTONS_PHASE_STAR
"""Phase in which those who quit turn buttons into stars."""
OVER = wire.BUTTONS_PHASE_OVER
"""Phase of a match that has ended."""

IN = wire.BUTTONS_STATUS_IN
"""Status of a seat that is still in the round."""
HAS_QUIT = wire.BUTTONS_STATUS_QUIT
"""Status of a seat that quit the round."""
HAS_BUST = wire.BUTTONS_STATUS_BUST
"""Status of a seat that lost the buttons of the round."""

Value = TypeVar("Value")


@fast_replace
class State(Position):
    """A position. A set of cells is an integer whose bit n is cell n."""

    @cached_property
    def pending(self) -> Mapping[Seat, tuple[int, ...]]:
        """Map each seat that must decide to its legal actions; cached, because `apply` needs it again."""
        if self.phase == TURN:
            return {self.active: turn_actions(self.buttons[self.active])}
        if self.phase == PLACE:
            return _offers(self)
        if self.phase == STAR:
            return {seat: on.cells(self.buttons[seat]) for seat, due in enumerate(self.due) if due}
        return dict.fromkeys(range(len(self.status)), (FRONT, BACK)) if self.phase == SIDE else {}

    @property
    def dice_left(self) -> int:
        """Number of dice in the next roll of the round."""
        seats = len(self.status)
        return dice_left(seats, seats - self.status.count(IN))


# --- The rules in pieces; those of one board are in buttons_board


def turn_actions(buttons: int) -> tuple[int, ...]:
    """Return the legal actions of a turn: rolling and, with a button on the board, quitting."""
    return (ROLL, QUIT) if buttons else (ROLL,)


def dice_left(seats: int, out: int) -> int:
    """Count the dice of a roll: each seat that is out has taken one plain die, or two in a match of two."""
    return 6 - out * (2 if seats == 2 else 1)


def _deal(seats: int, dice: Dice) -> tuple[str, ...]:
    """Deal the cards by seat: R, B, Y, G are shuffled and dealt in order; with two players each gets two.

    With two players the first two cards go to seat 0. With three, a draw below 3 first removes B, Y or G.
    """
    if seats == 3:
        left_out, *draws = dice.draws("setup/cards", (3, 3, 2))
        return shuffled(on.COLOURS.replace("BYG"[left_out], ""), draws)
    order = dice.shuffle("setup/cards", on.COLOURS)
    return order if seats == 4 else (hand(order[:2]), hand(order[2:]))


def hand(cards: Iterable[str]) -> str:
    """Return the cards of one seat, in the order R, B, Y, G."""
    return "".join(sorted(cards, key=on.COLOURS.index))


def passed_on(cards: Sequence[str]) -> tuple[str, ...]:
    """Return the cards of the next round: all go one seat clockwise."""
    return (cards[-1], *cards[:-1])


def red_holder(cards: Sequence[str]) -> Seat:
    """Return the seat with the red card, which begins the round."""
    return next(seat for seat, held in enumerate(cards) if "R" in held)


# --- The course of a match


def _choose_sides(state: State, decisions: Mapping[Seat, int], dice: Dice) -> State:
    boards = tuple(sides[decisions[seat] - FRONT] for seat, sides in enumerate(state.sides))
    chosen = state._replace(sides=((),) * len(boards), boards=boards)
    return begin_round(chosen, _deal(len(boards), dice))


def begin_round(state: State, cards: tuple[str, ...]) -> State:
    """Return the state at the start of a round: all seats in, no buttons, and the holder of the red card is active."""
    seats, first = len(cards), red_holder(cards)
    blank, all_in = (0,) * seats, (IN,) * seats
    return state._replace(phase=TURN, turn=0, active=first, starter=first, cards=cards, buttons=blank, status=all_in)


def _take_turn(state: State, action: int, dice: Dice) -> State:
    if action == QUIT:
        return _next_turn(state, state.buttons, _put(state.status, state.active, HAS_QUIT))
    faces = dice.roll(f"round/{state.round}/turn/{state.turn}", state.dice_left)
    rolled = state._replace(phase=PLACE, dice=faces)
    if state.active not in rolled.pending:
        rolled = _bust(rolled)
    return rolled if rolled.pending else _next_turn(rolled, rolled.buttons, rolled.status)


def _bust(state: State) -> State:
    seat = state.active
    return state._replace(buttons=_put(state.buttons, seat, 0), status=_put(state.status, seat, HAS_BUST))


def _offers(state: State) -> dict[Seat, tuple[int, ...]]:
    """Map each seat that can place a button by the roll to its legal actions; a seat that cannot is not asked."""
    offers = {}
    for seat, status in enumerate(state.status):
        if status == IN:
            may = on.active_cells if seat == state.active else on.passive_cells
            if legal := may(state.dice, state.buttons[seat], state.stars[seat]):
                offers[seat] = legal if seat == state.active else (*legal, PASS)
    return offers


def _place(state: State, decisions: Mapping[Seat, int]) -> State:
    buttons = list(state.buttons)
    for seat, action in decisions.items():
        if action != PASS:
            buttons[seat] |= 1 << action
    return _next_turn(state, tuple(buttons), state.status)


def _next_turn(state: State, buttons: tuple[int, ...], status: tuple[Status, ...]) -> State:
    """End a turn with these buttons and statuses; the next seat clockwise that is still in becomes active."""
    if IN not in status:
        return _score(state._replace(buttons=buttons, status=status))
    active = (state.active + 1) % len(status)
    while status[active] != IN:
        active = (active + 1) % len(status)
    return state._replace(phase=TURN, turn=state.turn + 1, active=active, dice=(), buttons=buttons, status=status)


def _score(state: State) -> State:
    earned = map(on.reward, state.boards, state.cards, state.buttons)
    due = tuple(stars if status == HAS_QUIT else 0 for stars, status in zip(earned, state.status, strict=True))
    return _next_round(state._replace(phase=STAR, dice=(), due=due))


def _put_stars(state: State, decisions: Mapping[Seat, int]) -> State:
    buttons, stars, due = list(state.buttons), list(state.stars), list(state.due)
    for seat, cell in decisions.items():
        buttons[seat] ^= 1 << cell
        stars[seat] |= 1 << cell
        due[seat] -= 1
    return _next_round(state._replace(buttons=tuple(buttons), stars=tuple(stars), due=tuple(due)))


def _next_round(state: State) -> State:
    if any(state.due):
        return state
    if on.is_won(state.stars) or state.round + 1 == state.max_rounds:
        return state._replace(phase=OVER)
    return begin_round(state._replace(round=state.round + 1), passed_on(state.cards))


def _put(values: tuple[Value, ...], seat: Seat, value: Value) -> tuple[Value, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


# --- The game


class Buttons(Game[State]):
    """Rules with two options: `boards`, four pairs of sides of 36 colours, and `max_rounds`, the limit of rounds.

    After `max_rounds` rounds the player who is ahead wins, see `Buttons.ranks`.
    """

    name = "buttons"
    title = "Buttons"
    seats = range(2, 5)
    actions = len(_NAMES)
    rules_version = 1
    view_field = "buttons"
    hides = False
    draw_probability = 0.03  # the built-in bot `greedy` against itself: 60 ties in 2,000 matches of two
    beyond_scores = "five stars in a line beat any number of stars"
    defaults: ClassVar[Options] = {"boards": BOARDS, "max_rounds": 60}

    def check_options(self, options: Options) -> None:
        check_boards(options["boards"])
        rounds = options["max_rounds"]
        if type(rounds) is not int or not 1 <= rounds <= 1000:
            raise BadOption(f"option 'max_rounds' is a whole number from 1 to 1000, not {short(rounds):.80}")

    def start(self, seats: int, dice: Dice, options: Options) -> State:
        dealt = dice.shuffle("setup/boards", options["boards"])[:seats]
        blank, none = ("",) * seats, (0,) * seats
        return State(
            phase=SIDE,
            round=0,
            turn=0,
            active=0,
            starter=0,
            dice=(),
            sides=tuple(tuple(side.replace(" ", "") for side in board) for board in dealt),
            boards=blank,
            cards=blank,
            buttons=none,
            stars=none,
            status=(IN,) * seats,
            due=none,
            max_rounds=options["max_rounds"],
        )

    def pending(self, state: State) -> Mapping[Seat, tuple[int, ...]]:
        return state.pending

    def apply(self, state: State, decisions: Mapping[Seat, int], dice: Dice) -> State:
        _check(state.pending, decisions)
        if state.phase == TURN:
            return _take_turn(state, decisions[state.active], dice)
        if state.phase == PLACE:
            return _place(state, decisions)
        return _put_stars(state, decisions) if state.phase == STAR else _choose_sides(state, decisions, dice)

    def ranks(self, state: State) -> tuple[int, ...]:
        return places([on.standing(stars) for stars in state.stars])

    def scores(self, state: State) -> tuple[int, ...]:
        return tuple(stars.bit_count() for stars in state.stars)

    def default_action(self, state: State, seat: Seat) -> int:
        legal = state.pending[seat]
        return legal[-1] if legal[-1] in (ROLL, QUIT, PASS) else legal[0]

    def view(self, state: State, seat: Seat | None) -> wire.ButtonsView:
        return wire.ButtonsView.FromString(self.wire_view(state, seat))

    def wire_view(self, state: State, seat: Seat | None) -> bytes:  # noqa: ARG002 - all seats see the same
        *of_turn, dice, sides, boards, cards, buttons, stars, status, due, _ = state
        seats = map(_shown_seat, sides, boards, cards, buttons, stars, status, due)
        return b"".join([_shown_turn(*of_turn, status), _shown_roll(dice), *seats])

    def from_view(self, view: Message, options: Options) -> State:
        assert isinstance(view, wire.ButtonsView)
        seats = list(view.seats)
        return State(
            phase=view.phase,
            round=view.round,
            turn=view.turn,
            active=view.active,
            starter=view.starter,
            dice=(view.white, view.gold, *view.plain) if view.white else (),
            sides=tuple([tuple(seat.sides) for seat in seats]),
            boards=tuple([seat.board for seat in seats]),
            cards=tuple([seat.cards for seat in seats]),
            buttons=tuple([on.cell_set(seat.buttons) for seat in seats]),
            stars=tuple([on.cell_set(seat.stars) for seat in seats]),
            status=tuple([seat.status for seat in seats]),
            due=tuple([seat.stars_to_place for seat in seats]),
            max_rounds=options["max_rounds"],
        )

    def action_name(self, action: int) -> str:
        if action not in range(len(_NAMES)):
            raise ValueError(f"{action} is no action of buttons: they are 0 … {len(_NAMES) - 1}")
        return _NAMES[action]

    def action(self, name: str) -> int:
        if name not in _NAMES:
            raise ValueError(f"{name!r} is no action of buttons: they are {_NAMES[0]} …, {', '.join(_NAMES[36:])}")
        return _NAMES.index(name)

    def picture(self, state: State) -> str:
        return picture(state, state.dice_left)

    def marks(self, state: State, seat: Seat, legal: Sequence[int]) -> Sequence[Mark]:
        return marks(state, seat, [action for action in legal if action < ROLL])

    def events(self, before: State, decisions: Mapping[Seat, int], after: State) -> Sequence[str]:  # noqa: ARG002
        happened = []
        begins = after.round > before.round
        # Whoever quits has stars to place, so a turn that ends the round without any was a bust.
        if before.phase == TURN and (begins or after.status[before.active] == HAS_BUST):
            happened.append(f"seat {before.active} busts")
        for seat, (earlier, now) in enumerate(zip(before.stars, after.stars, strict=True)):
            if on.has_line(now) and not on.has_line(earlier):
                happened.append(f"seat {seat} has five stars in a line")
        return [*happened, f"round {after.round + 1} begins"] if begins else happened


def _check(pending: Mapping[Seat, Sequence[int]], decisions: Mapping[Seat, int]) -> None:
    if not pending or decisions.keys() != pending.keys():
        raise ValueError(f"seats {sorted(decisions)} decided: asked were {sorted(pending)}")
    for seat, legal in pending.items():
        if decisions[seat] not in legal:
            raise ValueError(f"seat {seat} chose {decisions[seat]}: legal are {', '.join(map(str, legal))}")


# --- On the wire


@lru_cache(maxsize=1 << 13)
def _shown_turn(
    phase: Phase, round_number: int, turn: int, active: Seat, starter: Seat, status: tuple[Status, ...]
) -> bytes:
    remaining = dice_left(len(status), len(status) - status.count(IN))
    view = wire.ButtonsView(
        phase=phase, round=round_number, turn=turn, active=active, starter=starter, dice_left=remaining
    )
    return view.SerializeToString()


def _shown_roll(dice: tuple[int, ...]) -> bytes:
    """Encode the fields `white`, `gold` and `plain` of the view."""
    if not dice:
        return b""
    white, gold, *plain = dice
    return bytes((6 << 3, white, 7 << 3, gold, 8 << 3 | 2, len(plain), *plain))


def _shown_seat(
    sides: tuple[str, ...], board: str, cards: str, buttons: int, stars: int, status: Status, due: int
) -> bytes:
    seat = _shown_standing(sides, board, cards, status, due) + _shown_cells(3, buttons) + _shown_cells(4, stars)
    return block(10, seat)


@lru_cache(maxsize=1 << 10)
def _shown_standing(sides: tuple[str, ...], board: str, cards: str, status: Status, due: int) -> bytes:
    seat = wire.ButtonsSeat(sides=sides, board=board, cards=cards, status=status, stars_to_place=due)
    return seat.SerializeToString()


@lru_cache(maxsize=1 << 12)
def _shown_cells(field: int, marked: int) -> bytes:
    return block(field, bytes(on.cells(marked)))
