"""Workers, wherever they run: they are dealt matches and deliver results; one that dies does not stop the others.

Matches are played in phases. No two matches of a phase share a seed, and between two phases every worker ends its
bots: at that moment no process of a bot is alive that has seen any dice. So no bot can be told of dice that are still
to be rolled in one of its matches, whatever way two processes find to communicate.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import TracebackType
from typing import NamedTuple

from arena.referee.match import Void, VoidReason
from arena.sandbox import Sandbox
from arena.tournament import NothingStarts, WorkersDied
from arena.tournament.workforce import DEALT_MATCHES, DealtWorker, Workforce
from arena.worker.bot_output import Logged, Piece
from arena.worker.hosts import HostLost, Hosts, WorkerEnded
from arena.worker.jobs import Delivery, Played, StartCommand, Task, Trouble

_SLOW = 0.05
"""Seconds a match: a bot that needs more may be what a phase waits for at its end."""
_WORTH = 128
"""Number of matches for which it is always worth starting the bots in one more worker."""
_START = 1.0
"""Seconds of a core that it takes to start one bot, while all cores are busy."""
LOSSES = 3
"""How often hosts may be lost while they hold a match, before it is played apart from all others."""
_STARTLESS = frozenset({VoidReason.NO_STARTS, VoidReason.SANDBOX})
"""Reasons for which a match is void that did not even begin."""
MANY_STARTLESS = 8
"""Deliveries in a row without a match that began, after which a run stops: a bad moment uses up no schedule."""
_TOO_BUSY = (VoidReason.OVERLOAD, VoidReason.NO_STARTS)
"""Reasons that say that fewer workers would do better."""
ALONE = 2
"""How often hosts may then be lost while they play it, before it is void."""
DEATHS = 8
"""Number of matches that may each kill a worker, with no result in between, before that is an error."""


class Stock:
    """The matches of a phase that are still to be dealt to workers."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = iter(tasks)
        self._spared: deque[Task] = deque()

    def take(self, count: int, trouble: Trouble) -> list[Task]:
        """Return up to `count` matches that no retired bot is in: in order, and last those that workers gave back."""
        tasks = chain(self._tasks, self._take_spared())
        return list(islice((task for task in tasks if not trouble.leaves_out(task)), count))

    def _take_spared(self) -> Iterator[Task]:
        while self._spared:
            yield self._spared.popleft()

    def is_empty(self, trouble: Trouble) -> bool:
        """Whether nothing is left to be dealt."""
        self._spared.extendleft(self.take(1, trouble))
        return not self._spared

    def give_back(self, tasks: Iterable[Task]) -> None:
        """Take back matches that were dealt but did not begin, for another worker."""
        self._spared.extend(tasks)


class _Startless(NamedTuple):
    """Deliveries in a row of which no match began."""

    times: int
    bots: frozenset[str]
    """Labels of the bots that were in all of these matches."""
    reasons: frozenset[VoidReason]
    last: Void


class Workers:
    """Workers on one host or many, which are dealt matches phase by phase. A context manager."""

    def __init__(self, hosts: Hosts, *, all_play: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare to deal; workers are started when there are matches for them.

        What bots printed, if the hosts gather it, is taken by whoever plays. With `all_play` all workers play every
        phase, however short, as `arena bench` needs.
        """
        self._hosts = hosts
        self._workforce = Workforce(clock)
        self._all_play = all_play
        self._logs: list[Logged | Piece] = []
        self.trouble = Trouble()
        """What is known of faults and retirements of bots."""
        self._stopped = False
        self._suspects: list[list[Task]] = []
        """Matches held by workers that died, to be played apart from the others in the next phase."""
        self._startless: _Startless | None = None
        """The deliveries in a row, up to the latest, of which no match began; None if the latest had one that did."""
        self._killers: set[str] = set()
        self._losses = Counter[str]()
        """How often hosts were lost while they held a match, by its id, since it last had a result."""
        self._pace: dict[str, float] = {}
        """About how many seconds of thinking a bot needs for a match, by digest."""

    def __enter__(self) -> Workers:
        self._hosts.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for _ in self._finish(raises=False):
                pass
            for worker in self._workforce.workers:
                worker.running.close()
        finally:
            self._hosts.__exit__(kind, error, trace)

    @property
    def jobs(self) -> int:
        """Number of workers that may play at once, on all hosts that are there now."""
        return max(1, sum(host.jobs for host in self._hosts.present()))

    @property
    def sandbox(self) -> Sandbox:
        """What holds bots, at least."""
        return self._hosts.sandbox

    def stop(self) -> None:
        """Begin no more matches; `play` ends once the workers have delivered those that are finished."""
        self._stopped = True

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    def take_logs(self) -> list[Logged | Piece]:
        """Return what bots printed in matches whose results were yielded, as far as it was not returned before."""
        logs, self._logs = self._logs, []
        return logs

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        """Play a phase: matches of which no two share a seed. Yield lists of results as they come, in any order.

        While there are none, it yields an empty list about ten times a second. Afterwards no bot is alive. A match
        without a result is left for a later phase: it was taken back from a bot with a fault, or held with others by a
        worker that died. The latter are then played in ever smaller hands (batches), until a match that kills a worker
        alone is void. Raises WorkersDied if too many do. A match whose host is lost is played by another one, or waits
        until there is one.
        """
        self._workforce.bury()
        self._workforce.enough = self._worth(tasks) if isinstance(tasks, Sequence) else sys.maxsize
        stock, hands = self._apart(tasks)
        while not self._stopped:
            self._workforce.see_hosts(self._hosts.present())
            self._deal(stock, hands)
            self._even_out(hands)
            busy = [worker for worker in self._workforce.workers if worker.holds or worker.is_resting]
            if not (busy or hands) and stock.is_empty(self.trouble):
                break
            ready = set(self._hosts.wait([worker.running for worker in busy], 0.1))
            yield from self._results_of([worker for worker in busy if worker.running in ready], stock)
        if self._stopped:
            yield from self._last_results()
        else:
            assert not any(worker.has_bots for worker in self._workforce.workers), "a phase ended while bots were alive"

    def _apart(self, tasks: Iterable[Task]) -> tuple[Stock, deque[list[Task]]]:
        """Return the matches to deal and, apart from them and in hands, those held by workers that died."""
        suspects, self._suspects = list(filter(None, map(self._still_to_play, self._suspects))), []
        if not suspects:
            return Stock(tasks), deque()
        of_id = {task.id: task for task in tasks}
        hands = [[of_id.pop(task.id) for task in hand if task.id in of_id] for hand in suspects]
        return Stock(of_id.values()), deque(hand for hand in hands if hand)

    def _still_to_play(self, tasks: Iterable[Task]) -> list[Task]:
        """Return the matches in which no bot has been retired."""
        return [task for task in tasks if not self.trouble.leaves_out(task)]

    def _last_results(self) -> Iterator[list[Played]]:
        for delivery in self._finish():
            self.trouble = self.trouble.merge(delivery.trouble)  # no need to tell the others: they stop
            self._logs += delivery.logs
            yield _counted(delivery.results)

    def _finish(self, *, raises: bool = True) -> Iterator[Delivery]:
        """Tell all workers to stop, and yield what they still deliver. Raises RuntimeError for a bug of the arena's."""
        unfinished = {worker.running for worker in self._workforce.workers}
        for running in unfinished:
            running.send(None)
        while unfinished:
            for running in self._hosts.wait(list(unfinished), 1.0):
                try:
                    delivery = running.receive()
                except (WorkerEnded, RuntimeError) as end:
                    if raises and isinstance(end, RuntimeError):
                        raise
                    unfinished.discard(running)
                else:
                    if delivery.last:
                        unfinished.discard(running)
                    yield delivery

    def _deal(self, stock: Stock, hands: deque[list[Task]]) -> None:
        self._deal_suspects(hands)
        while (host := self._workforce.next_host()) is not None and (chunk := stock.take(DEALT_MATCHES, self.trouble)):
            host.start().deal(chunk, self.trouble)
        while hungry := [worker for worker in self._workforce.wanted() if worker.is_hungry]:
            for worker in sorted(hungry, key=lambda worker: len(worker.holds)):
                if not (chunk := stock.take(DEALT_MATCHES, self.trouble)):
                    return
                worker.deal(chunk, self.trouble)

    def _deal_suspects(self, hands: deque[list[Task]]) -> None:
        while hands and (host := self._workforce.next_host()) is not None:
            host.start()
        for worker in self._workforce.workers:
            if not worker.holds and not worker.is_resting:
                hand: list[Task] = []
                while hands and not hand:
                    hand = self._still_to_play(hands.popleft())
                worker.is_suspicious = bool(hand)
                if hand:
                    worker.deal(hand, self.trouble)

    def _even_out(self, hands: deque[list[Task]]) -> None:
        """Ask for matches that have not begun, for a worker that has nothing left; if there are none, let it rest.

        A worker that is not to play now, since the machine is too busy, gives back, bit by bit, all it has not begun.
        """
        workers = self._workforce.workers
        candidates = [candidate for candidate in workers if candidate.holds and not candidate.is_suspicious]
        able = [candidate for candidate in candidates if candidate.spares and len(candidate.holds) > 1]
        wanted = set(self._workforce.wanted())
        for worker in candidates:
            if worker not in wanted and worker.spares and not worker.was_asked:
                worker.ask()
        for worker in workers:
            if worker.holds or worker.is_resting or not worker.has_bots or hands:
                continue
            if worker in wanted and any(candidate.was_asked for candidate in candidates):
                return
            if worker in wanted and able:
                max(able, key=lambda candidate: len(candidate.holds)).ask()
            else:
                worker.rest()

    def _results_of(self, ready: Iterable[DealtWorker], stock: Stock) -> Iterator[list[Played]]:
        """Yield what these workers deliver in one list, as storing many results together costs much less."""
        results: list[Played] = []
        try:
            for worker in ready:
                results += self._hear(worker, stock)
        except RuntimeError:  # what others have delivered is not lost with it
            yield results
            raise
        yield results
        self._check_starts()

    def _hear(self, worker: DealtWorker, stock: Stock) -> list[Played]:
        try:
            delivery = worker.receive()
        except HostLost:
            return self._lose(worker, stock)
        except WorkerEnded as end:
            return self._ended(worker, str(end))
        stock.give_back(worker.holds.pop(id) for id in delivery.spared or ())
        for id in delivery.taken_back:
            worker.holds.pop(id)
        dealt = {result.id: worker.holds.pop(result.id) for result in delivery.results}
        self._note_starts(dealt, delivery.results)
        for result in delivery.results:
            self._note_pace(dealt[result.id], result)
            self._losses.pop(result.id, None)
        if delivery.results:
            self._killers.clear()
        self.learn(delivery.trouble)
        if any(result.is_void_by(reason) for result in delivery.results for reason in _TOO_BUSY):
            worker.host.width.narrow()
        self._logs += delivery.logs
        return _counted(delivery.results)

    def _note_starts(self, dealt: Mapping[str, Task], results: Sequence[Played]) -> None:
        """Count a delivery of which no match began: one failed start may keep many matches from beginning."""
        voids = [result.void for result in results if result.void is not None and result.void.reason in _STARTLESS]
        if len(voids) < len(results):
            self._startless = None
        elif voids:
            bots = frozenset.intersection(
                *(frozenset(entrant.label for entrant in task.lineup) for task in dealt.values())
            )
            before = self._startless or _Startless(0, bots, frozenset(), voids[-1])
            reasons = before.reasons | {void.reason for void in voids}
            self._startless = _Startless(before.times + 1, before.bots & bots, reasons, voids[-1])

    def _check_starts(self) -> None:
        """Raise NothingStarts if starts failed again and again, and one bot in all those matches is not the reason."""
        starts = self._startless
        if starts is None or starts.times < MANY_STARTLESS:
            return
        if starts.reasons == {VoidReason.NO_STARTS} or not starts.bots:
            why = " ".join(str(starts.last).split())
            again = "run the command again when that is mended, and it goes on"
            raise NothingStarts(f"{why} (nothing began {starts.times} times in a row); {again}")

    def _note_pace(self, task: Task, result: Played) -> None:
        for entrant, seat in zip(task.lineup, result.seats, strict=False):  # no seats if it was void
            if not seat.times:
                continue  # it never joined, and says nothing of how long it thinks
            took = sum(seat.times)
            self._pace[entrant.digest] = 0.9 * self._pace.get(entrant.digest, took) + 0.1 * took

    def slowest_first(self, tasks: Iterable[Task]) -> list[Task]:
        """Sort matches: those of bots that may hold up a phase come first, and the others fill the time meanwhile."""
        return sorted(tasks, key=self._lasts, reverse=True)

    def _lasts(self, task: Task) -> float:
        """Return about how many seconds a match lasts if a bot may hold up the phase; else, or if unknown, 0."""
        digests = [entrant.digest for entrant in task.lineup]
        slowest = max((self._pace.get(digest, 0.0) for digest in digests), default=0.0)
        if slowest > _SLOW:
            return slowest
        return _SLOW if any(map(self.trouble.plays_singly, digests)) else 0.0

    def _worth(self, tasks: Sequence[Task]) -> int:
        """Return how many workers the matches are worth, as each starts the bots: all if a bot is slow or unknown.

        With n workers a phase lasts `thinking / n + START * bots * n / jobs`: the time that the bot needs that thinks
        longest, and the starts, which share the cores. The sum is least where both are equal.
        """
        count = Counter(entrant.digest for task in tasks for entrant in task.lineup)
        if self._all_play or not count or not count.keys() <= self._pace.keys() or any(map(self._lasts, tasks)):
            return sys.maxsize
        thinking = max(self._pace[digest] * matches for digest, matches in count.items())
        best = math.sqrt(thinking * self.jobs / (_START * len(count)))
        return max(1, len(tasks) // _WORTH, int(best))

    def learn(self, trouble: Trouble) -> None:
        """Add to what is known of bots, and tell workers of new second chances and retirements.

        The workers give back the matches of those bots.
        """
        before, self.trouble = self.trouble, self.trouble.merge(trouble)
        if trouble.chances.keys() - before.chances.keys() or trouble.retired - before.retired:
            for worker in self._workforce.workers:
                worker.running.send(StartCommand(trouble=self.trouble))

    def _lose(self, worker: DealtWorker, stock: Stock) -> list[Played]:
        """Take back the matches of a worker whose host is lost, for others; suspects stay apart from them.

        One that is held again and again where a host is lost may be why: it is played alone and, if hosts are lost all
        the same, it is void.
        """
        self._workforce.remove(worker)
        held = list(worker.holds.values())
        self._losses.update(task.id for task in held)
        if worker.is_suspicious and len(held) == 1 and self._losses[held[0].id] >= LOSSES + ALONE:
            losses = self._losses.pop(held[0].id)
            return [_void(held[0], f"hosts were lost {losses} times while they held it, {ALONE} times it alone")]
        self._suspects += [[task] for task in held if self._losses[task.id] >= LOSSES]
        innocent = [task for task in held if self._losses[task.id] < LOSSES]
        if worker.is_suspicious and innocent:
            self._suspects.append(innocent)
        else:
            stock.give_back(innocent)
        return []

    def _ended(self, dead: DealtWorker, how: str) -> list[Played]:
        """Remove a worker that died; return the match it died of, void, if it held no other."""
        self._workforce.remove(dead)
        held = list(dead.holds.values())
        if len(held) != 1:
            middle = len(held) // 2
            self._suspects += [hand for hand in (held[:middle], held[middle:]) if hand]
            return []
        self._killers.add(held[0].id)
        if len(self._killers) > DEATHS:
            raise WorkersDied(
                f"worker processes died, each of another match, {len(self._killers)} times in a row,"
                " perhaps for want of memory: try a smaller -j"
            )
        return [_void(held[0], f"the worker process {how}, and it played nothing else")]


def _counted(results: Sequence[Played]) -> list[Played]:
    """Leave out matches for which no bot at all could be started: they stay scheduled, and no attempt is counted."""
    return [result for result in results if not result.is_void_by(VoidReason.NO_STARTS)]


def _void(task: Task, why: str) -> Played:
    return Played(task.id, None, Void(VoidReason.INTERRUPTED, why))
