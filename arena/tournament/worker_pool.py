"""Workers, wherever they run: they are dealt matches and deliver results; one that dies does not stop the others.

Matches are played in phases. No two matches of a phase share a seed, and between two phases every worker ends its
bots: at that moment no process of a bot is alive that has seen any dice. So no bot can be told of dice that are still
to be rolled in one of its matches, whatever way two processes find to communicate.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType

from arena.referee.match import VoidReason
from arena.sandbox import Sandbox
from arena.tournament.crews import Crew
from arena.tournament.failed_starts import FailedStarts
from arena.tournament.paces import Paces
from arena.tournament.phase_stock import Stock
from arena.tournament.suspects import Suspects
from arena.tournament.workforce import DEALT_MATCHES, DealtWorker, HostWorkers, Workforce
from arena.worker.bot_output import Logged, Piece
from arena.worker.hosts import HostLost, Hosts, WorkerEnded
from arena.worker.jobs import Delivery, Played, StartCommand, Task, Trouble

_TOO_BUSY = (VoidReason.OVERLOAD, VoidReason.NO_STARTS)
"""Reasons that say that fewer workers would do better."""


class Workers:
    """Workers on one host or many, which are dealt matches phase by phase. A context manager."""

    def __init__(self, hosts: Hosts, *, all_play: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare to deal; workers are started when there are matches for them.

        What bots printed, if the hosts gather it, is taken by whoever plays. With `all_play` all workers play every
        phase, however short, as `arena bench` needs.
        """
        self.trouble = Trouble()
        """What is known of faults and retirements of bots."""
        self.paces = Paces()
        self.starts = 0
        """How many bot processes the workers have started."""
        self.frames = 0
        """How many frames of decisions they have sent to bots."""
        self._hosts = hosts
        self._all_play = all_play
        self._workforce = Workforce(clock)
        self._suspects = Suspects()
        self._starts = FailedStarts()
        self._logs: list[Logged | Piece] = []
        self._stopped = False

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

    def learn(self, trouble: Trouble) -> None:
        """Add to what is known of bots, and tell workers of new second chances and retirements.

        The workers give back the matches of those bots.
        """
        before, self.trouble = self.trouble, self.trouble.merge(trouble)
        if trouble.chances.keys() - before.chances.keys() or trouble.retired - before.retired:
            for worker in self._workforce.workers:
                worker.running.send(StartCommand(trouble=self.trouble))

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        """Play a phase: matches of which no two share a seed. Yield lists of results as they come, in any order.

        While there are none, it yields an empty list about ten times a second. Afterwards no bot is alive. A match
        without a result is left for a later phase: it was taken back from a bot with a fault, or held with others by a
        worker that died. The latter are then played in ever smaller hands (batches), until a match that kills a worker
        alone is void. Raises WorkersDied if too many do. A match whose host is lost is played by another one, or waits
        until there is one.
        """
        self._workforce.bury()
        self._workforce.enough = self._worth(tasks)
        stock = self._suspects.stock(tasks, self.trouble, self.paces)
        for worker in self._workforce.workers:
            worker.crew = Crew(worker.crew.most)
            stock.join(worker.crew)
        while not self._stopped:
            self._workforce.see_hosts(self._hosts.present())
            self._deal(stock)
            self._even_out()
            busy = [worker for worker in self._workforce.workers if worker.holds or worker.is_resting]
            if not busy and stock.is_empty(self.trouble):
                break
            ready = set(self._hosts.wait([worker.running for worker in busy], 0.1))
            yield from self._results_of([worker for worker in busy if worker.running in ready], stock)
        if self._stopped:
            yield from self._last_results()
        else:
            assert not any(worker.has_bots for worker in self._workforce.workers), "a phase ended while bots were alive"

    def _worth(self, tasks: Iterable[Task]) -> int:
        """Return how many workers a phase is worth: all, if nobody knows what will be in it."""
        if self._all_play or not isinstance(tasks, Sequence):
            return sys.maxsize
        return self.paces.worth(tasks, self.jobs, self.trouble)

    def _deal(self, stock: Stock) -> None:
        self._deal_hands(stock)
        while (host := self._workforce.next_host()) is not None and not stock.is_empty(self.trouble):
            self._deal_to(self._start(host, stock), stock)
        hungry = [worker for worker in self._workforce.wanted() if self._is_hungry(worker)]
        while hungry:
            hungry.sort(key=lambda worker: len(worker.holds))
            hungry = [worker for worker in hungry if self._deal_to(worker, stock) and self._is_hungry(worker)]

    def _is_hungry(self, worker: DealtWorker) -> bool:
        return worker.is_hungry(self.paces.ahead(1, len(worker.crew.bots)))

    def _start(self, host: HostWorkers, stock: Stock) -> DealtWorker:
        worker = host.start()
        stock.join(worker.crew)
        return worker

    def _deal_to(self, worker: DealtWorker, stock: Stock) -> bool:
        """Deal some matches to a worker; return whether there were any for it."""
        count = max(DEALT_MATCHES, len(worker.holds) // 8)
        may_grow = self.paces.are_known or not worker.crew.is_new
        ahead = self.paces.ahead(self.jobs, stock.bots)
        chunk = stock.take(count, self.trouble, worker.crew, ahead=ahead, may_grow=may_grow)
        if chunk:
            worker.deal(chunk, self.trouble)
        return bool(chunk)

    def _deal_hands(self, stock: Stock) -> None:
        """Give suspects to workers that hold nothing."""
        while stock.has_hands and (host := self._workforce.next_host()) is not None:
            self._start(host, stock)
        for worker in self._workforce.workers:
            if not worker.holds and not worker.is_resting:
                hand = stock.take_hand(self.trouble)
                worker.is_suspicious = bool(hand)
                if hand:
                    worker.deal(hand, self.trouble)

    def _even_out(self) -> None:
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
            if worker.holds or worker.is_resting or not worker.has_bots:
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
        self._starts.check()

    def _hear(self, worker: DealtWorker, stock: Stock) -> list[Played]:
        """Return what a worker delivers; one that has ended is removed, with what that says of what it held."""
        try:
            delivery = worker.receive()
        except WorkerEnded as end:
            self._workforce.remove(worker)
            stock.leave(worker.crew)
            held = list(worker.holds.values())
            if isinstance(end, HostLost):
                return self._suspects.note_loss(held, stock, were_apart=worker.is_suspicious)
            return self._suspects.note_death(held, str(end))
        stock.give_back(worker.holds.pop(id) for id in delivery.spared or ())
        for id in delivery.taken_back:
            worker.holds.pop(id)
        dealt = [worker.holds.pop(result.id) for result in delivery.results]
        self._starts.note(dealt, delivery.results)
        for task, result in zip(dealt, delivery.results, strict=True):
            self.paces.note(task, result)
            worker.crew.has_played(task)
        if not worker.holds:
            worker.crew.has_nothing()
        self._suspects.note_results(delivery.results)
        self.learn(delivery.trouble)
        self.paces.note_effort(delivery.effort)
        self.starts += delivery.starts
        self.frames += delivery.frames
        if any(result.is_void_by(reason) for result in delivery.results for reason in _TOO_BUSY):
            worker.host.width.narrow()
        self._logs += delivery.logs
        return _counted(delivery.results)

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

    def _last_results(self) -> Iterator[list[Played]]:
        for delivery in self._finish():
            self.trouble = self.trouble.merge(delivery.trouble)  # no need to tell the others: they stop
            self._logs += delivery.logs
            yield _counted(delivery.results)


def _counted(results: Sequence[Played]) -> list[Played]:
    """Leave out matches for which no bot at all could be started: they stay scheduled, and no attempt is counted."""
    return [result for result in results if not result.is_void_by(VoidReason.NO_STARTS)]
