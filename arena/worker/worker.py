"""Play matches with a referee and bot processes of one's own; values in, values out.

The event loop and the bot processes stay warm from one batch to the next. No bot foresees a die: before a seed is
played a second time, in other seats or since the first time did not count, the worker rests, which ends all its bots.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from arena.base.loops import check_watches, new_loop
from arena.referee import loans
from arena.referee.match import Fault, Void, VoidReason
from arena.referee.stream import Heard
from arena.sandbox import UNCONFINED, Sandbox
from arena.sandbox.process import adopt_orphans, allow_many_files
from arena.sandbox.run_folder import let_through, remove
from arena.worker import control
from arena.worker.bot_output import Logged, Piece, Sink
from arena.worker.bot_pool import BotPool
from arena.worker.bot_process import Bot
from arena.worker.capacity import Share, share_for_each
from arena.worker.dispatcher import Dispatcher
from arena.worker.effort_meter import EffortMeter
from arena.worker.faults import FaultPolicy, Ruling
from arena.worker.heartbeat import Heartbeat
from arena.worker.jobs import Delivery, Key, Link, Played, StartCommand, Task, Trouble
from arena.worker.matches_in_play import MatchesInPlay, MatchInPlay
from arena.worker.queue import Queue, Queues

_AS_BEFORE = 1.0
"""Seconds for which the machine starts bots, or none, as it did when that was tried. Many bots may fail at once.

With less, each failure would take a start of the control. With more, it would be seen later that bots start again.
"""
_GATHERING = 0.1
"""Seconds for which results gather before they are delivered together. It changes no result."""


class Worker:
    """A referee with its bot processes. Everything happens in the thread that calls it."""

    def __init__(
        self,
        root: Path,
        *,
        in_flight: int | None = None,
        share: Share | None = None,
        waiting: Callable[[str, str, str], None] | None = None,
        sandbox: Sandbox = UNCONFINED,
        logs: Sink | None = None,
        sorts_logs: bool = False,
    ) -> None:
        """Prepare a worker whose bots hold up to `in_flight` matches each; None: as many as are fastest here.

        All bots together may use a `share` of the machine before idle ones have to go; None: that of a lone worker.

        What bots print is gathered in `logs`, if there is such a list.

        With `sorts_logs` a process that prints lines without a tag plays one match at a time, so that it is known to
        which match a line belongs.
        """
        check_watches()
        adopt_orphans()
        allow_many_files()
        self.sandbox = sandbox
        self.logs = logs
        self._sorts_logs = sorts_logs
        self._in_flight = in_flight or loans.in_flight()
        self._waiting = waiting
        self._runner = asyncio.Runner(loop_factory=partial(new_loop, shares_user=not sandbox.own_user))
        self._loop = self._runner.get_loop()
        self._root = Path(tempfile.mkdtemp(prefix="w", dir=root))
        let_through(self._root)
        self.copies = root / "programs"
        self.clock = Heartbeat(self._loop, sandbox.grade.value)
        self.clock.start()
        self._pool = BotPool(self._root, self, self._loop, share or share_for_each(1))
        self._dispatcher = Dispatcher(self._loop, self._pool.are_starting)
        self._matches = MatchesInPlay(self._dispatcher, lambda: self.clock.conditions, self._match_ended)
        self._policy = FaultPolicy()
        self._effort = EffortMeter()
        self._queues = Queues()
        self._results: list[Played] = []
        self._taken_back: list[str] = []
        self._spared: list[str] | None = None
        self._met: set[bytes] = set()
        """The seeds of matches that began since the last rest."""
        self._wants_rest = False
        self._controlling = asyncio.Lock()
        self._controlled = float("-inf")
        """When the control was started last, by the loop's clock."""
        self._nothing_starts: Void | None = None
        """What it told: why matches are void if it did not join."""
        self._returned: Any = None
        self._news = asyncio.Event()
        self._bug: Exception | None = None

    @property
    def trouble(self) -> Trouble:
        """What befell versions here and, as far as it was told, in other workers."""
        return self._policy.trouble

    def in_play(self) -> list[MatchInPlay]:
        """Return the matches in play, to look at them."""
        return self._matches.where(lambda _: True)

    # The batch

    def play(self, tasks: Sequence[Task], *, stop: Callable[[], bool] = lambda: False) -> list[Played]:
        """Play all matches, or until `stop` returns True; return the finished ones in the order they finished.

        Raises the first exception of our own that came up; those that follow from it are not the next batch's.
        """
        try:
            return self._runner.run(self._play(tasks, stop))
        except BaseException:
            self._bug = None
            raise

    async def _play(self, tasks: Sequence[Task], stop: Callable[[], bool]) -> list[Played]:
        self._results = []
        of_id = {task.id: task for task in tasks}
        stopped = False
        try:
            while tasks and not stopped:
                if any(task.seed in self._met for task in tasks):
                    await self._rest()
                due = len(self._results) + len(tasks)
                self._add(tasks)
                while len(self._results) + len(self._taken_back) < due and not (stopped := stop()):
                    await self._some_news(0.1)
                tasks = [of_id[id] for id in self._take_taken_back()]
        finally:
            self._abandon()
        return self._take_results()

    def serve(self, link: Link) -> None:
        """Carry out the orders that come over a link until None comes; results go back as they come."""
        self._runner.run(self._serve(link))

    async def _serve(self, link: Link) -> None:
        closed = False

        def hear() -> None:
            nonlocal closed
            try:
                while not closed and link.poll():
                    command = link.recv()
                    if closed := command is None:
                        self._news.set()
                    else:
                        self._carry_out(command)
            except Exception as error:
                self.bug(error)

        self._loop.add_reader(link.fileno(), hear)
        try:
            while not closed:
                await self._some_news(None)
                if self._matches:
                    await asyncio.sleep(_GATHERING)
                if (delivery := await self._delivery()) is not None:
                    # A thread, since clocks go on here while the other end is busy writing.
                    await self._loop.run_in_executor(None, link.send, delivery)
        finally:
            self._loop.remove_reader(link.fileno())
            self._abandon()
        link.send(Delivery(self._take_results(), self.trouble))
        await self._rest()  # bots may print when they are told to go
        link.send(Delivery((), self.trouble, logs=self._take_logs(), last=True))

    def _carry_out(self, command: StartCommand) -> None:
        self.learn(command.trouble)
        self._add(command.tasks)
        if command.spare:
            self._spared = [task.id for task in self._queues.spare()]
        self._wants_rest |= command.rest  # until it has rested, whatever it is told meanwhile
        if command.call is not None:
            self._returned = command.call()
        if command.spare or command.rest or command.call is not None:
            self._news.set()

    async def _delivery(self) -> Delivery | None:
        """Collect what is to be given back now, None if nothing is; end every bot first if that was asked for."""
        if rests := self._wants_rest:
            self._wants_rest = False
            await self._rest()
        spared, self._spared = self._spared, None
        returned, self._returned = self._returned, None
        results, taken_back = self._take_results(), self._take_taken_back()
        if not (results or taken_back or rests) and spared is None and returned is None:
            return None
        return Delivery(
            results,
            self.trouble,
            taken_back,
            spared,
            rests,
            self._take_logs(),
            starts=self._pool.take_starts(),
            frames=self._dispatcher.take_frames(),
            effort=self._effort.look(list(self._pool)),
            room=self._pool.room(),
            returned=returned,
        )

    async def _rest(self) -> None:
        """End every bot with all that it started, so that no process is left that has seen a die."""
        await self._pool.empty()
        self._met.clear()

    def learn(self, trouble: Trouble) -> None:
        """Take over what other workers found out about versions."""
        learned = self._policy.learn(trouble)
        for digest in learned.second_chances:
            self._take_back(self._matches.of_version(digest))
        if learned.retires_bots:
            leaves_out = self.trouble.leaves_out
            self._taken_back += [task.id for task in self._queues.remove(leaves_out)]
            self._take_back(self._matches.where(leaves_out))
            self.settle()
        for digest in learned.one_at_a_time:
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
            self._queues.add(task)
        self.settle()

    def _abandon(self) -> None:
        """Begin nothing more, and end what is in play without results."""
        self._queues.clear()
        self._taken_back.clear()
        self._matches.abandon()
        self.settle()

    async def _some_news(self, patience: float | None) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), patience)
        self._news.clear()
        self._raise_bug()

    def _take_results(self) -> list[Played]:
        results, self._results = self._results, []
        return results

    def _take_logs(self) -> Sequence[Logged | Piece]:
        logs = list(self.logs or ())
        if self.logs:
            self.logs.clear()  # the list itself is what bots hold
        return logs

    def _take_taken_back(self) -> list[str]:
        taken_back, self._taken_back = self._taken_back, []
        return taken_back

    # What waits

    def settle(self) -> None:
        """Begin the matches for which there is room now, then send what has gathered for any bot."""
        while queues := self._queues.ready():
            for queue in queues:
                self._fill(queue)
        self._dispatcher.send()

    def _fill(self, queue: Queue) -> None:
        while queue.tasks and (bots := self._free_bots(queue)) is not None:
            self._begin(queue.take(), bots)
        if not queue.tasks:
            self._queues.forget(queue)

    def _free_bots(self, queue: Queue) -> dict[int, Bot] | None:
        """Find the bots for a queue's next match, by seat, without disabled ones; None if one has to be waited for."""
        wanted = {seat: key for seat, key in enumerate(queue.keys) if key[0] not in self.trouble.disabled}
        if not all(key in self._pool for key in wanted.values()) and not self._spawn(queue, wanted):
            self._queues.crowd_out(queue)
            return None
        self._queues.let_in(queue)
        bots = {seat: self._pool[key] for seat, key in wanted.items()}
        return bots if all(bot.has_room for bot in bots.values()) else None

    def _spawn(self, queue: Queue, wanted: Mapping[int, Key]) -> bool:
        """Start the processes that a queue lacks, all of them or, if there is no room, none; False then.

        A process that another queue waits for is kept as long as others play or start: else queues could take each
        other's processes for ever. Where nobody does, the match is played even if that takes more processes than are
        kept otherwise.
        """
        missing = {key: queue.lineup[seat] for seat, key in wanted.items() if key not in self._pool}
        own_keys, others_go_on = set(wanted.values()), bool(self._matches) or not self._pool.are_all_started()

        def keep(key: Key) -> bool:
            return key in own_keys or (others_go_on and self._queues.are_waiting_for(key))

        if not self._pool.make_room(len(missing), keep, or_none=others_go_on):
            return False
        self._pool.spawn(missing, queue.start_limit)
        return True

    def _begin(self, task: Task, bots: Mapping[int, Bot]) -> None:
        if task.seed in self._met:
            raise ValueError(f"match {task.id} has a seed that bots may have met: a rest has to come first")
        self._met.add(task.seed)
        for bot in bots.values():
            self._policy.started(bot.entrant.digest)
            bot.count_match(task.limits)
        disabled = self.trouble.disabled
        absent = {seat: entrant.digest for seat, entrant in enumerate(task.lineup) if seat not in bots}
        self._matches.begin(task, bots, {seat: disabled[digest] for seat, digest in absent.items()})

    def _match_ended(self, playing: MatchInPlay, result: Played | None) -> None:
        """Handle the end of a match: its bots have room again."""
        for bot in playing.bots.values():
            bot.rested()
            if bot.entrant.digest in self.trouble.single_use and bot.idle and self._pool.has(bot):
                self._pool.let_go(bot)
            self._queues.wake(bot.key)
        if result is not None:
            self._result(result)

    def _result(self, result: Played) -> None:
        self._results.append(result)
        self._news.set()

    def _take_back(self, matches: Iterable[MatchInPlay]) -> None:
        """End matches without a result; they may be played again after a rest."""
        self._taken_back += self._matches.take_back(matches)
        self._news.set()

    # What bots tell

    def joined(self, bot: Bot) -> None:
        """Handle a bot's Hello: it can be given matches."""
        single = self.trouble.plays_singly(bot.entrant.digest)
        bot.playing_stream().window.keep_to(1 if single else self._in_flight)
        self._dispatcher.add(bot.playing_stream())
        self._queues.wake(bot.key)
        self.settle()

    def hear(self, bot: Bot, news: Heard) -> None:
        """Handle a frame of a bot: its answers go to their tables, and what follows from them to the bots."""
        if self._sorts_logs and bot.log.is_untagged:
            bot.playing_stream().window.keep_to(1)
        if news.slow:
            self._policy.was_slow(bot.entrant.digest)
            self._one_at_a_time(bot.entrant.digest)
        for stream in news.touched:
            self._dispatcher.add(stream)
        self._matches.ended(news.ended)
        if news.answers:
            self._dispatcher.add(bot.playing_stream())
            self._matches.answered(news.answers)
        if news.verdict is not None:
            bot.judge(news.verdict)
        self.settle()

    def ended(self, bot: Bot, fault: Fault) -> None:
        """Handle the end of a process by its own doing: `FaultPolicy.rule` says what it costs."""
        if bot.stream is not None:
            bot.stream.close()
        if not bot.matches:
            self._pool.run_in_background(self._failed_start(bot, fault))
            return
        self._pool.remove(bot)
        self._lose_bot(bot, fault)
        self._queues.wake(bot.key)
        self.settle()

    async def _failed_start(self, bot: Bot, fault: Fault) -> None:
        """Rule on a start that failed: where the arena's own bot does not start either, nobody's is to blame.

        The bot stays in the pool meanwhile, so that no other process is started for its matches.
        """
        digest, evidence = bot.entrant.digest, bot.evidence()
        void: Void | None = None
        if (lack := self._policy.lacked(digest, evidence.get("output", ()))) is not None:
            void = Void(VoidReason.LACK, lack)
        elif self._policy.is_last_start(digest) and not bot.entrant.is_external:
            await bot.end()  # or what it holds would keep the control from starting
            void = await self._why_none_starts()
        is_waited_for = self._pool.has(bot)  # not if the worker rested meanwhile
        if is_waited_for:
            self._pool.remove(bot)
        if void is None:
            self._policy.failed_start(digest, {"detail": fault.detail, **evidence})
        elif is_waited_for:
            self._void_waiting(bot, void)
        self._queues.wake(bot.key)
        self.settle()

    async def _why_none_starts(self) -> Void | None:
        """Start the control, one at a time, unless that was done just now; return why a match is void if it fails."""
        async with self._controlling:
            if self._loop.time() >= self._controlled + _AS_BEFORE:
                why = await control.why_none_starts(self._root, self)
                self._nothing_starts = None if why is None else Void(VoidReason.NO_STARTS, why)
                self._controlled = self._loop.time()
            return self._nothing_starts

    def _lose_bot(self, bot: Bot, fault: Fault) -> None:
        digest, stream = bot.entrant.digest, bot.playing_stream()
        held = [at for at in stream.held.values() if not at.closed]
        self._matches.take_over(held)
        ruling = self._policy.rule(
            digest,
            fault,
            held,
            crowded=stream.crowded,
            was_killed=bot.was_killed,
            has_played=bot.matches > 1,
            evidence=bot.evidence,
        )
        if ruling is Ruling.FORFEIT:
            self._matches.forfeit(held, fault)
            return
        is_all = ruling is Ruling.REPLAY_ALL_MATCHES
        self._take_back(self._matches.of_version(digest) if is_all else self._matches.of_seats(held))
        self._one_at_a_time(digest)

    def excused(self, bot: Bot, why: Void) -> None:
        """Nobody loses by what the machine did, or somebody at it; the matches are played again."""
        held = [at for at in bot.playing_stream().held.values() if not at.closed]
        self._matches.void(self._matches.of_seats(held), why)
        if self._pool.has(bot):
            self._pool.let_go(bot)
            self._queues.wake(bot.key)
        self.settle()

    def not_started(self, bot: Bot, why: Void) -> None:
        """Void the next match of every queue that needs a process which the machine cannot hold."""
        if not bot.over:
            self._pool.let_go(bot)
        self._void_waiting(bot, why)
        self._queues.wake(bot.key)
        self.settle()

    def _void_waiting(self, bot: Bot, why: Void) -> None:
        for queue in list(self._queues.waiting_for(bot.key)):
            self._result(Played(queue.take().id, None, why))
            if not queue.tasks:
                self._queues.forget(queue)

    def _one_at_a_time(self, digest: str) -> None:
        for bot in self._pool:
            if bot.entrant.digest == digest and bot.stream is not None:
                bot.stream.window.keep_to(1)

    def waiting(self, bot: Bot, address: str, token: str) -> None:
        """Announce an external bot, which somebody else has to start."""
        if self._waiting is not None:
            self._waiting(bot.entrant.label, address, token)

    def bug(self, error: Exception) -> None:
        """Keep an exception of our own to raise it from `play` or `serve`: it must not look like a bot's fault."""
        self._bug = self._bug or error
        self._news.set()

    def _raise_bug(self) -> None:
        bug, self._bug = self._bug, None
        if bug is not None:
            raise bug

    async def _close(self) -> None:
        await self._rest()
        self._raise_bug()
