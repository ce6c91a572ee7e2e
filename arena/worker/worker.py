"""Play matches with a referee and bot processes of one's own; values in, values out.

The event loop and the bot processes stay warm from one batch to the next. No bot foresees a die: before a seed is
played a second time, in other seats or since the first time did not count, the worker rests, which ends all its bots.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import math
import secrets
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena import games
from arena.games.dice import KeyedDice
from arena.referee import frames
from arena.referee.clock import NO_LIMITS
from arena.referee.match import Forfeit, Match, Outcome, Void, VoidReason
from arena.referee.stream import BotStream, SeatAt
from arena.referee.table import Table
from arena.sandbox import UNCONFINED, Sandbox
from arena.sandbox.cpu_usage import pressure
from arena.sandbox.process import adopt_orphans, allow_many_files, end_orphans
from arena.sandbox.run_folder import let_through, remove
from arena.worker.bot import Bot
from arena.worker.jobs import Delivery, Key, Link, Order, Played, SeatRecord, Task, Trouble
from arena.worker.queue import Lane, Lanes

PROCESSES = 64
"""Bot processes a worker keeps at once; the longest unused makes room."""
STARTING = 4
"""Processes that start at the same time."""
STARTS = 2
"""Starts of a version that may fail in a row before its matches are forfeited without another try."""
GATHERING = 0.1
"""Seconds for which results gather before they are delivered together."""
LINGER = 0.01
"""Seconds that a frame may wait to become fuller while other bots owe answers: some milliseconds for the matches that
could go on, where each frame costs as much as ten decisions."""
HEARTBEAT = 0.25
"""Seconds between two looks whether we were asleep."""
ASLEEP = 1.5
"""Seconds without a look that show that we were."""
IN_FLIGHT = 256
"""Matches a process holds at most, whatever it offers."""


class Seating(NamedTuple):
    """A match in play: what was to be played, and who plays."""

    task: Task
    bots: dict[int, Bot]


class Worker:
    """A referee with its bot processes. Everything happens in the thread that calls it."""

    def __init__(
        self,
        root: Path,
        *,
        in_flight: int = IN_FLIGHT,
        waiting: Callable[[str, str, str], None] | None = None,
        sandbox: Sandbox = UNCONFINED,
    ) -> None:
        adopt_orphans()
        allow_many_files()
        self.sandbox = sandbox
        self.gathered: set[BotStream] = set()
        self.trouble = Trouble()
        self._in_flight = in_flight
        self._waiting = waiting
        self._runner = asyncio.Runner()
        self._loop = self._runner.get_loop()
        self._root = Path(tempfile.mkdtemp(prefix="w", dir=root))
        let_through(self._root)
        self.copies = root / "programs"
        self._bots: dict[Key, Bot] = {}
        self._lanes = Lanes()
        self._playing: dict[Table, Seating] = {}
        self._starts = asyncio.Semaphore(STARTING)
        self._failed_starts: Counter[str] = Counter()
        self._jobs: set[asyncio.Task[None]] = set()
        self._results: list[Played] = []
        self._taken_back: list[str] = []
        self._spared: list[str] | None = None
        self._met: set[bytes] = set()
        """The seeds of matches that began since the last rest."""
        self._wants_rest = False
        self._news = asyncio.Event()
        self._bug: Exception | None = None
        self._linger: asyncio.TimerHandle | None = None
        self._conditions: Mapping[str, Any] = {}
        self._woken = -math.inf
        self._beaten = self._loop.time()
        self._heartbeat()

    # The batch

    def play(self, tasks: Sequence[Task], *, stop: Callable[[], bool] = lambda: False) -> list[Played]:
        """Play them all; gives what was finished when `stop` says true, in the order finished."""
        return self._runner.run(self._play(tasks, stop))

    async def _play(self, tasks: Sequence[Task], stop: Callable[[], bool]) -> list[Played]:
        self._results = []
        of_id = {task.id: task for task in tasks}
        stopped = False
        try:
            while tasks and not stopped:
                if any(task.seed in self._met for task in tasks):
                    await self._rest()
                over = len(self._results) + len(tasks)
                self._add(tasks)
                while len(self._results) + len(self._taken_back) < over and not (stopped := stop()):
                    await self._some_news(0.1)
                tasks = [of_id[id] for id in self._take_taken_back()]
        finally:
            self._abandon()
        return self._take_results()

    def serve(self, link: Link) -> None:
        """Do what comes over a link until it is closed at the other end; results go back as they come."""
        self._runner.run(self._serve(link))

    async def _serve(self, link: Link) -> None:
        closed = False

        def hear() -> None:
            nonlocal closed
            try:
                while not closed and link.poll():
                    order = link.recv()
                    if closed := order is None:
                        self._news.set()
                    else:
                        self._obey(order)
            except Exception as error:
                self.bug(error)

        self._loop.add_reader(link.fileno(), hear)
        try:
            while not closed:
                await self._some_news(None)
                if self._playing:
                    await asyncio.sleep(GATHERING)
                if (delivery := await self._delivery()) is not None:
                    # A thread, since clocks go on here while the other end is busy writing.
                    await self._loop.run_in_executor(None, link.send, delivery)
        finally:
            self._loop.remove_reader(link.fileno())
            self._abandon()
        link.send(Delivery(self._take_results(), self.trouble, last=True))

    def _obey(self, order: Order) -> None:
        self.learn(order.trouble)
        self._add(order.tasks)
        if order.spare:
            self._spared = [task.id for task in self._lanes.spare()]
        self._wants_rest |= order.rest  # until it has rested, whatever it is told meanwhile
        if order.spare or order.rest:
            self._news.set()

    async def _delivery(self) -> Delivery | None:
        """What there is to be given back now; ends every bot first if that was asked for."""
        if rests := self._wants_rest:
            self._wants_rest = False
            await self._rest()
        spared, self._spared = self._spared, None
        results, taken_back = self._take_results(), self._take_taken_back()
        if not (results or taken_back or rests) and spared is None:
            return None
        return Delivery(results, self.trouble, taken_back, spared, rests)

    async def _rest(self) -> None:
        """End every bot, with all that it started: nobody is left who has seen a die."""
        for bot in list(self._bots.values()):
            self._let_go(bot)
        while self._jobs:
            await asyncio.wait(self._jobs)
        end_orphans()
        self._met.clear()

    def learn(self, trouble: Trouble) -> None:
        """Take over what other workers found out about versions."""
        known, self.trouble = self.trouble, self.trouble.and_also(trouble)
        for digest in trouble.chances.keys() - known.chances.keys():
            self._take_back(self._matches_of(digest))
        if trouble.retired - known.retired:
            self._taken_back += [task.id for task in self._lanes.remove(self.trouble.leaves_out)]
            self._take_back(
                [table for table, seating in self._playing.items() if self.trouble.leaves_out(seating.task)]
            )
            self.settle()
        for digest in {*trouble.slow, *trouble.chances, *trouble.leavers}:
            if not known.plays_singly(digest):
                self._one_at_a_time(digest)

    def close(self) -> None:
        """End every bot process; the worker cannot be used afterwards."""
        try:
            self._runner.run(self._close())
        finally:
            self._runner.close()
            remove(self._root)

    def _add(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            self._lanes.add(task)
        self.settle()

    def _abandon(self) -> None:
        """Begin nothing more, and leave what is in play without results."""
        self._lanes.clear()
        self._taken_back.clear()
        for table in list(self._playing):
            self._take_away(table)
        self.settle()

    async def _some_news(self, patience: float | None) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), patience)
        self._news.clear()
        self._raise_bug()

    def _take_results(self) -> list[Played]:
        results, self._results = self._results, []
        return results

    def _take_taken_back(self) -> list[str]:
        taken_back, self._taken_back = self._taken_back, []
        return taken_back

    def settle(self) -> None:
        """Begin the matches for which there is room now, then send what has gathered for any bot."""
        while lanes := self._lanes.ready():
            for lane in lanes:
                self._fill(lane)
        self._send()

    def _send(self) -> None:
        """Send the frames that are full; the others once nobody owes an answer that could add to them, or soon."""
        for stream in [stream for stream in self.gathered if stream.full]:
            self.gathered.discard(stream)
            stream.flush()
        if self.gathered and not any(bot.owes for bot in self._bots.values()):
            self._send_all()
        elif self.gathered and self._linger is None:
            self._linger = self._loop.call_later(LINGER, self._linger_over)

    def _linger_over(self) -> None:
        self._linger = None
        self._send_all()

    def _send_all(self) -> None:
        while self.gathered:
            self.gathered.pop().flush()

    def _fill(self, lane: Lane) -> None:
        while lane.tasks and (bots := self._free_bots(lane)) is not None:
            self._begin(lane.take(), bots)
        if not lane.tasks:
            self._lanes.forget(lane)

    def _free_bots(self, lane: Lane) -> dict[int, Bot] | None:
        """The bots for a lane's next match by seat, benched ones missing; None if one has to be waited for."""
        wanted = {seat: key for seat, key in enumerate(lane.keys) if key[0] not in self.trouble.benched}
        if not all(key in self._bots for key in wanted.values()) and not self._hire(lane, wanted):
            self._lanes.crowd_out(lane)
            return None
        self._lanes.let_in(lane)
        bots = {seat: self._bots[key] for seat, key in wanted.items()}
        return bots if all(bot.has_room for bot in bots.values()) else None

    def _result(self, result: Played) -> None:
        self._results.append(result)
        self._news.set()

    def bug(self, error: Exception) -> None:
        """We raised where a bot was being heard: it must not look like the bot's fault."""
        self._bug = self._bug or error
        self._news.set()

    def _raise_bug(self) -> None:
        bug, self._bug = self._bug, None
        if bug is not None:
            raise bug

    # Matches

    def _begin(self, task: Task, bots: dict[int, Bot]) -> None:
        if task.seed in self._met:
            raise ValueError(f"match {task.id} has a seed that bots may have met: a rest has to come first")
        self._met.add(task.seed)
        match = Match(games.game(task.game), len(task.lineup), task.options, KeyedDice(task.seed))
        table = Table(match, self._finished, self._broken)
        self._playing[table] = Seating(task, bots)
        seats = {seat: self._seat(table, task, seat, bot) for seat, bot in bots.items()}
        absent = {}
        for seat, entrant in enumerate(task.lineup):
            if seat not in bots:
                table.evidence[seat] = evidence = dict(self.trouble.benched[entrant.digest])
                absent[seat] = evidence["detail"]
        table.begin(seats, absent)

    def _seat(self, table: Table, task: Task, seat: int, bot: Bot) -> SeatAt:
        assert bot.stream is not None
        self._failed_starts.pop(bot.entrant.digest, None)
        bot.matches += 1
        bot.used = self._loop.time()
        limits = NO_LIMITS if bot.entrant.by_hand else task.limits
        start = frames.match_start(task.game, len(task.lineup), task.options, task.seed, seat, limits)
        return bot.stream.seat(table, seat, limits, start)

    def _finished(self, table: Table) -> None:
        outcome = table.match.outcome
        assert outcome is not None
        if not table.at:
            return self._void(table, Void(VoidReason.NOBODY))
        seats = tuple(seat_record(table, seat) for seat in range(table.match.seats))
        seating = self._leave(table, outcome)
        self._result(Played(seating.task.id, outcome, None, tuple(table.match.choices), seats, self._conditions))
        return None

    def _broken(self, table: Table, error: Exception) -> None:
        """The rules, or we, raised: nobody's loss."""
        self._void(table, Void(VoidReason.INTERNAL, "".join(traceback.format_exception(error))))

    def _void(self, table: Table, why: Void) -> None:
        self._result(Played(self._leave(table, None).task.id, None, why))

    def _take_away(self, table: Table) -> Task:
        """End a match without a result."""
        return self._leave(table, None).task

    def _leave(self, table: Table, outcome: Outcome | None) -> Seating:
        seating = self._playing.pop(table)
        for at in table.at.values():
            at.stream.end(at, outcome)
        table.clear()
        for bot in seating.bots.values():
            if bot.entrant.digest in self.trouble.leavers and bot.idle and self._bots.get(bot.key) is bot:
                self._let_go(bot)
            self._lanes.wake(bot.key)
        return seating

    # Bots

    def _hire(self, lane: Lane, wanted: dict[int, Key]) -> bool:
        """Start what a lane lacks, all of it or, if there is no room, nothing; False then."""
        missing = {seat: key for seat, key in wanted.items() if key not in self._bots}
        if not self._make_room(len(missing), set(wanted.values())):
            return False
        for seat, key in missing.items():
            # no number: at grade C bots must not be able to guess where another has its door
            bot = Bot(key, lane.lineup[seat], self._root / secrets.token_urlsafe(8), self)
            self._bots[key] = bot
            self._job(self._start(bot, lane.start_limit))
        return True

    def _make_room(self, missing: int, wanted: set[Key]) -> bool:
        """End the processes that were idle longest, as many as it takes.

        A process that a lane waits for is spared as long as others play or start: else lanes could take each other's
        processes for ever.
        """
        surplus = len(self._bots) + missing - PROCESSES
        if surplus <= 0:
            return True
        idle = [bot for key, bot in self._bots.items() if key not in wanted and bot.idle]
        if self._playing or not all(bot.started.is_set() for bot in self._bots.values()):
            idle = [bot for bot in idle if not any(self._lanes.waiting_for(bot.key))]
            if len(idle) < surplus:
                return False
        for bot in sorted(idle, key=lambda bot: bot.used)[:surplus]:
            self._let_go(bot)
        return True

    def _let_go(self, bot: Bot) -> None:
        del self._bots[bot.key]
        bot.over = True
        self._job(bot.leave())

    async def _start(self, bot: Bot, limit: float) -> None:
        async with self._starts:
            if bot.over:
                return
            try:
                await bot.start(limit)
            except OSError as error:
                is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
                self.not_started(bot, Void(VoidReason.DISK if is_full else VoidReason.OVERLOAD, str(error)))
            except Exception:
                if not bot.over:
                    self._let_go(bot)
                raise
            else:
                await bot.started.wait()

    def not_started(self, bot: Bot, why: Void) -> None:
        """The machine cannot hold one more process: the matches that are next to need it are void."""
        if not bot.over:
            self._let_go(bot)
        for lane in list(self._lanes.waiting_for(bot.key)):
            self._result(Played(lane.take().id, None, why))
            if not lane.tasks:
                self._lanes.forget(lane)
        self._lanes.wake(bot.key)
        self.settle()

    def _job(self, job: Coroutine[Any, Any, None]) -> None:
        running = self._loop.create_task(job)
        self._jobs.add(running)
        running.add_done_callback(self._job_done)

    def _job_done(self, job: asyncio.Task[None]) -> None:
        self._jobs.discard(job)
        if not job.cancelled() and isinstance(error := job.exception(), Exception):
            self.bug(error)

    def joined(self, bot: Bot) -> None:
        """A bot said Hello: it can be given matches."""
        assert bot.stream is not None
        bot.stream.matches = min(bot.stream.matches, self._in_flight)
        if self.trouble.plays_singly(bot.entrant.digest):
            bot.stream.matches = 1
        self.gathered.add(bot.stream)
        self._lanes.wake(bot.key)
        self.settle()

    def ended(self, bot: Bot, reason: Forfeit, detail: str) -> None:
        """A process is at its end by its own doing.

        If it held one match, that match pays. If it held several, nobody can tell which, and how many it held is
        chance: every match of its version is taken back, to be played again, and the version plays one at a time from
        now on. A version has this second chance once, and so also when somebody killed it.
        """
        del self._bots[bot.key]
        if bot.stream is not None:
            bot.stream.close()
        if not bot.matches:
            self._failed_start(bot, {"detail": detail, **bot.evidence()})
        else:
            self._lost(bot, reason, detail)
        self._lanes.wake(bot.key)
        self._job(bot.close())
        self.settle()

    def _lost(self, bot: Bot, reason: Forfeit, detail: str) -> None:
        assert bot.stream is not None
        held = [at for at in bot.stream.held.values() if not at.closed]
        digest = bot.entrant.digest
        killed = reason is Forfeit.CRASH and bot.was_killed
        if held and (bot.stream.crowded or killed) and digest not in self.trouble.chances:
            what = {"reason": reason.value, "detail": detail, **bot.evidence()}
            self.trouble = self.trouble.and_also(Trouble(chances={digest: what}))
            self._take_back(self._matches_of(digest))
            self._one_at_a_time(digest)
        elif held and reason is Forfeit.CRASH and bot.matches > 1 and not any(at.answers for at in held):
            # It may have gone because the match before was over, and not have heard of this one. Nothing is gained by
            # that: it has answered nothing, and will be asked the same.
            self.trouble = self.trouble.and_also(Trouble(leavers=frozenset([digest])))
            self._take_back([at.table for at in held])
            self._one_at_a_time(digest)
        else:
            for at in held:
                at.table.gone(at, reason, detail)

    def _matches_of(self, digest: str) -> list[Table]:
        """The matches in which a version plays now."""
        return [
            table
            for table, seating in self._playing.items()
            if any(entrant.digest == digest for entrant in seating.task.lineup)
        ]

    def _take_back(self, tables: Iterable[Table]) -> None:
        """End matches without a result; they may be played again after a rest."""
        self._taken_back += [self._take_away(table).id for table in tables]
        self._news.set()

    def _failed_start(self, bot: Bot, evidence: dict[str, Any]) -> None:
        digest = bot.entrant.digest
        self._failed_starts[digest] += 1
        if self._failed_starts[digest] >= STARTS:
            self.trouble = self.trouble.and_also(Trouble(benched={digest: evidence}))

    def stood_still(self, since: float) -> bool:
        """Whether we were asleep ourselves for a while since a time: stopped, or on a machine that was."""
        self._beat()
        return self._woken > since

    def _beat(self) -> None:
        now = self._loop.time()
        if now - self._beaten > ASLEEP:
            self._woken = now
        self._beaten = now

    def _heartbeat(self) -> None:
        self._beat()
        self._conditions = {"sandbox": self.sandbox.grade.value, "pressure": pressure()}
        self._loop.call_later(HEARTBEAT, self._heartbeat)

    def excused(self, bot: Bot, why: Void) -> None:
        """Nobody loses by what the machine did, or somebody at it; the matches are played again."""
        assert bot.stream is not None
        for at in [at for at in bot.stream.held.values() if not at.closed]:
            self._void(at.table, why)
        if self._bots.get(bot.key) is bot:
            self._let_go(bot)
            self._lanes.wake(bot.key)
        self.settle()

    def over_limit(self, bot: Bot) -> None:
        """A slow thinker: from now on it thinks about one match at a time."""
        self.trouble = self.trouble.and_also(Trouble(slow=frozenset([bot.entrant.digest])))
        self._one_at_a_time(bot.entrant.digest)

    def _one_at_a_time(self, digest: str) -> None:
        for bot in self._bots.values():
            if bot.entrant.digest == digest and bot.stream is not None:
                bot.stream.matches = bot.stream.capacity = 1

    def waiting(self, bot: Bot, address: str, token: str) -> None:
        """Somebody has to start this bot by hand."""
        if self._waiting is not None:
            self._waiting(bot.entrant.label, address, token)

    async def _close(self) -> None:
        await self._rest()
        self._raise_bug()


def seat_record(table: Table, seat: int) -> SeatRecord:
    """What is kept of a seat."""
    at = table.at.get(seat)
    evidence = table.evidence.get(seat)
    return SeatRecord((), evidence) if at is None else SeatRecord(tuple(at.times), evidence, at.charged)
