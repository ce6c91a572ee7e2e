"""The matches that a worker has in play: brings answers to their tables, and the next questions to the bots."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVarTuple

from arena import games
from arena.games.dice import KeyedDice
from arena.games.rules import Seat
from arena.referee import frames, loans
from arena.referee.limits import NO_LIMITS
from arena.referee.match import Fault, Match, MatchOutcome, Void, VoidReason
from arena.referee.seat import BotSeat
from arena.referee.stream import BotStream
from arena.referee.table import Outgoing, Table
from arena.worker.bot_process import Bot
from arena.worker.dispatcher import Dispatcher
from arena.worker.jobs import Played, SeatRecord, Task

MatchArgs = TypeVarTuple("MatchArgs")


class MatchInPlay:
    """A match in play: what was to be played, who plays, and the state of the play.

    It may be lent, as long as nothing unusual happens; who looks at the table takes it back.
    """

    __slots__ = ("_loan", "_table", "bots", "streams", "task")

    def __init__(self, task: Task, bots: Mapping[Seat, Bot], streams: Mapping[Seat, BotStream], table: Table) -> None:
        self.task = task
        self.bots = bots
        self.streams = streams
        """The streams of these bots, which have all joined."""
        self._table = table
        self._loan: loans.Loan | None = None

    @property
    def table(self) -> Table:
        """The table at which the match goes on from now."""
        if self._loan is not None:
            self.take_back()
        return self._table

    @property
    def is_lent(self) -> bool:
        """Whether it is away from its table."""
        return self._loan is not None

    @property
    def at(self) -> Mapping[Seat, BotSeat]:
        """The seats that are played by a bot, whoever plays the match."""
        return self._table.at

    def lend(self) -> bool:
        """Lend a match that has not begun, if that can be; return whether it is lent."""
        if not any(bot.entrant.is_external for bot in self.bots.values()):
            seats = [(self.streams[seat].questions, at) for seat, at in sorted(self.at.items())]
            self._loan = loans.lend(self, self._table.match, self.task.options, self.task.seed, seats)
        return self.is_lent

    def take_back(self) -> None:
        """Have the table go on with a match that was lent."""
        loan, returned = self.end_loan()
        self._table.resume(loan.steps, loan.view, returned.choices, returned.chosen)
        for seat in self._table.match.pending:
            if seat not in returned.owing:
                self.streams[seat].questions.ask(self.at[seat])

    def end_loan(self) -> tuple[loans.Loan, loans.Returned]:
        """Take what is known of a match that was lent, without going on."""
        loan, self._loan = self._loan, None
        assert loan is not None, "this match is not lent"
        return loan, loan.end()

    def times(self, seat: Seat) -> Sequence[float]:
        """Give the seconds of a seat's decisions, which grow while it plays; none if its bot never joined."""
        return self.table.at[seat].times if seat in self.table.at else ()

    def charged(self, seat: Seat) -> Mapping[int, float]:
        """Give the seconds that a seat was charged, by index in its times, where these are not its times."""
        return self.table.at[seat].charged if seat in self.table.at else {}


class MatchesInPlay:
    """All matches in play. `ended` is called for each that ends with its result, None if it was taken back."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        conditions: Callable[[], Mapping[str, Any]],
        ended: Callable[[MatchInPlay, Played | None], None],
    ) -> None:
        self._dispatcher = dispatcher
        self._conditions = conditions
        self._ended = ended
        self._playing: dict[MatchInPlay, None] = {}
        self._of: dict[BotSeat, MatchInPlay] = {}

    def __bool__(self) -> bool:
        return bool(self._playing)

    def begin(self, task: Task, bots: Mapping[Seat, Bot], absent: Mapping[Seat, Mapping[str, Any]]) -> None:
        """Begin a match. `absent` has the seats whose bots cannot be started: they forfeit, with this evidence.

        Evidence is what `Trouble.disabled` has; its "detail" is the detail of the forfeit.
        """
        table = Table(Match(games.game(task.game), len(task.lineup), task.options, KeyedDice(task.seed)))
        table.evidence.update({seat: dict(evidence) for seat, evidence in absent.items()})
        playing = MatchInPlay(task, bots, {seat: bot.playing_stream() for seat, bot in bots.items()}, table)
        self._playing[playing] = None
        seats = {seat: self._seat(playing, seat) for seat in bots}
        table.sit(seats)
        if not playing.lend():
            self._move(playing, table.begin, {seat: evidence["detail"] for seat, evidence in absent.items()})

    def _seat(self, playing: MatchInPlay, seat: Seat) -> BotSeat:
        task, stream = playing.task, playing.streams[seat]
        limits = NO_LIMITS if playing.bots[seat].entrant.is_external else task.limits
        start = frames.match_start(task.game, len(task.lineup), task.options, task.seed, seat, limits)
        at = stream.seat(seat, len(task.lineup), limits, start)
        playing.bots[seat].log.began(at, task.id)
        self._of[at] = playing
        self._dispatcher.add(stream)
        return at

    def answered(self, answers: Iterable[tuple[BotSeat, int]]) -> None:
        """Bring answers to their tables, and what follows from them to the bots."""
        for at, action in answers:
            playing = self._of[at]
            try:  # as `_move`, spelt out since most of the referee's time goes by in here
                outgoing = playing.table.answered(at, action)
            except Exception as error:
                self._break(playing, error)
            else:
                self._send(playing, outgoing)

    def ended(self, matches: Iterable[MatchInPlay]) -> None:
        """Take the results of lent matches that were played to their end."""
        for playing in matches:
            loan, returned = playing.end_loan()
            outcome = loan.outcome
            seats = tuple([SeatRecord(tuple(at.times)) for _, at in sorted(playing.at.items())])
            played = Played(playing.task.id, outcome, None, returned.choices, seats, self._conditions())
            self._end(playing, outcome, played)

    def forfeit(self, seats: Iterable[BotSeat], fault: Fault) -> None:
        """Have seats forfeit whose bot can play no more."""
        for at in seats:
            playing = self._of[at]
            self._move(playing, playing.table.lose_bot, at, fault)

    def of_version(self, digest: str) -> list[MatchInPlay]:
        """Find the matches in which a version plays."""
        return self.where(lambda task: any(entrant.digest == digest for entrant in task.lineup))

    def where(self, is_meant: Callable[[Task], bool]) -> list[MatchInPlay]:
        """Find the matches whose task fulfils a condition."""
        return [playing for playing in self._playing if is_meant(playing.task)]

    def of_seats(self, seats: Iterable[BotSeat]) -> list[MatchInPlay]:
        """Find the match of each of these seats."""
        return [self._of[at] for at in seats]

    def take_over(self, seats: Iterable[BotSeat]) -> None:
        """Have the tables go on with the matches of these seats."""
        for at in seats:
            if self._of[at].is_lent:
                self._of[at].take_back()

    def take_back(self, matches: Iterable[MatchInPlay]) -> list[str]:
        """End matches without results; gives their ids."""
        return [self._end(playing, None, None).task.id for playing in matches]

    def void(self, matches: Iterable[MatchInPlay], why: Void) -> None:
        """End matches that do not count."""
        for playing in matches:
            self._void(playing, why)

    def abandon(self) -> None:
        """End all matches without results."""
        self.take_back(list(self._playing))

    def _move(self, playing: MatchInPlay, move: Callable[[*MatchArgs], Outgoing], *args: *MatchArgs) -> None:
        """Make a move at a table. A game that raises voids its own match and no other."""
        try:
            outgoing = move(*args)
        except Exception as error:
            self._break(playing, error)
        else:
            self._send(playing, outgoing)

    def _break(self, playing: MatchInPlay, error: Exception) -> None:
        self._void(playing, Void(VoidReason.INTERNAL, "".join(traceback.format_exception(error))))

    def _send(self, playing: MatchInPlay, outgoing: Outgoing) -> None:
        seats, updates = outgoing
        streams, add = playing.streams, self._dispatcher.add
        for at, update in updates:
            if not at.opening:  # else it is sent with the first question
                add(streams[at.seat])
            streams[at.seat].update(at, update)
        if playing.table.match.outcome is not None:
            self._finish(playing)
            return
        for at in seats:
            stream = streams[at.seat]
            stream.questions.ask(at)
            add(stream)

    def _finish(self, playing: MatchInPlay) -> None:
        task, table = playing.task, playing.table
        outcome = table.match.outcome
        if not table.at:
            self._void(playing, Void(VoidReason.NOBODY))
            return
        seats = tuple(_seat_record(table, seat) for seat in range(table.match.seats))
        result = Played(task.id, outcome, None, tuple(table.match.choices), seats, self._conditions())
        self._end(playing, outcome, result)

    def _void(self, playing: MatchInPlay, why: Void) -> None:
        self._end(playing, None, Played(playing.task.id, None, why))

    def _end(self, playing: MatchInPlay, outcome: MatchOutcome | None, result: Played | None) -> MatchInPlay:
        del self._playing[playing]
        if playing.is_lent:
            playing.end_loan()
        for at in playing.at.values():
            del self._of[at]
            stream = playing.streams[at.seat]
            stream.end(at, outcome)
            playing.bots[at.seat].log.ended(at, has_result=outcome is not None)
            self._dispatcher.add(stream)
        self._ended(playing, result)
        return playing


def _seat_record(table: Table, seat: Seat) -> SeatRecord:
    """Collect what is kept of a seat when its match has ended."""
    at = table.at.get(seat)
    evidence = table.evidence.get(seat)
    return SeatRecord((), evidence) if at is None else SeatRecord(tuple(at.times), evidence, at.charged)
