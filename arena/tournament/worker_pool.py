"""Worker processes: they are dealt matches and deliver results; a worker that dies does not stop the others.

Matches are played in phases. No two matches of a phase share a seed, and between two phases every worker ends its
bots: at that moment no process of a bot is alive that has seen any dice. So no bot can be told of dice that are still
to be rolled in one of its matches, whatever way two processes find to communicate.
"""

from __future__ import annotations

import contextlib
import gc
import math
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING

from arena.referee.match import Void, VoidReason
from arena.sandbox import UNCONFINED, Sandbox
from arena.sandbox.process import adopt_orphans, end_orphans, ended_in_words
from arena.sandbox.run_folder import run_folder
from arena.tournament import WorkersDied
from arena.worker.jobs import Command, Delivery, Link, Played, Task, Trouble
from arena.worker.logs import Logged, Piece
from arena.worker.worker import Worker
from arena.worker.worker_process import start_process

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

CHUNK = 4
"""Number of matches dealt to a worker at a time, in turn, until each worker has enough."""
FIRST_BACKLOG = 128
"""Number of matches that a worker may hold before its speed is known."""
BACKLOG_SECONDS = 5.0
"""How many seconds the matches a worker holds should last: enough to fill frames, and no worker idle at the end."""
SLOW = 0.05
"""Seconds a match: a bot that needs more may be what a phase waits for at its end."""
WORTH = 128
"""Number of matches for which it is always worth starting the bots in one more worker."""
START = 1.0
"""Seconds of a core that it takes to start one bot, while all cores are busy."""
HICCUP = 2.0
"""Seconds within which several complaints of workers that the machine is too busy count as one."""
QUIET = 10.0
"""Seconds without such a complaint after which one more worker plays."""
DEATHS = 8
"""Number of matches that may each kill a worker, with no result in between, before that is an error."""

GARBAGE = 10_000
"""Number of objects that a worker makes before it collects garbage: it has hardly any, since a match that ends leaves
none, and collecting after every 700, as is usual, takes a twentieth of a worker's time."""


class WorkerProcess:
    """One worker process and the matches it holds."""

    def __init__(self, scratch: str, in_flight: int | None, sandbox: Sandbox, *, logs: bool) -> None:
        self._process: BaseProcess
        self.link: Connection[Command | None, Delivery | str]
        self.holds: dict[str, Task] = {}
        self.backlog = FIRST_BACKLOG
        self.has_bots = False
        """Whether the worker may have bots that are alive: from the first match it is dealt until it has rested."""
        self.is_resting = False
        self.was_asked = False
        """Whether the worker was asked for matches that it can spare, and has not answered yet."""
        self.spares = True
        """Whether the worker may hold matches that have not begun."""
        self.is_suspicious = False
        """Whether the worker plays matches of which one may have killed a worker: then it gets no others."""
        self._heard: float | None = None
        self._process, self.link = start_process(_work, scratch, in_flight, sandbox, logs)

    def deal(self, tasks: Collection[Task], trouble: Trouble) -> None:
        """Give the worker matches to play, and tell it of the trouble known."""
        self.holds.update((task.id, task) for task in tasks)
        self.has_bots = self.spares = True
        self.tell(Command(tuple(tasks), trouble))

    def ask(self) -> None:
        """Ask the worker to give back some matches that have not begun."""
        self.was_asked = True
        self.tell(Command(spare=True))

    def rest(self) -> None:
        """Tell the worker to end its bots."""
        self.is_resting = True
        self.tell(Command(rest=True))

    def tell(self, command: Command | None) -> None:
        """Send a command, or None to end the process. If the worker has died, `hear` raises it, not this."""
        with contextlib.suppress(OSError):
            self.link.send(command)

    def finish(self) -> None:
        """Tell the worker to abandon the matches in play, end its bots and stop."""
        self.tell(None)

    def hear(self) -> Delivery:
        """Return the worker's next delivery. Raises EOFError if it died, and RuntimeError if a bug of ours ended it."""
        try:
            delivery = self.link.recv()
        except OSError as error:
            raise EOFError from error
        if isinstance(delivery, str):
            raise RuntimeError(f"a worker failed:\n{delivery}")
        if delivery.spared is not None:
            self.was_asked, self.spares = False, bool(delivery.spared)
        if delivery.rested:
            self.has_bots = self.is_resting = False
        self._pace(len(delivery.played))
        return delivery

    def _pace(self, played: int) -> None:
        """Adapt the backlog to the worker's speed, leaving out the time to the first delivery, which is its start."""
        now = time.monotonic()
        if self._heard is not None and now > self._heard:
            wanted = BACKLOG_SECONDS * played / (now - self._heard)
            self.backlog = int(min(2000, max(CHUNK, 0.7 * self.backlog + 0.3 * wanted)))
        self._heard = now

    @property
    def is_hungry(self) -> bool:
        """Whether the worker should be dealt more matches."""
        return not (self.is_suspicious or self.is_resting) and len(self.holds) < self.backlog

    @property
    def is_dead(self) -> bool:
        """Whether the process has ended."""
        return self._process.exitcode is not None

    def exit_in_words(self) -> str:
        """Return how the process ended, such as "was killed by SIGKILL"; it must have ended."""
        return ended_in_words(self._process.exitcode or 0)

    def end(self) -> None:
        """Wait until the process has ended, and close the link."""
        self._process.join()
        self.link.close()


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

    def give_back(self, tasks: Iterable[Task]) -> None:
        """Take back matches that were dealt but did not begin, for another worker."""
        self._spared.extend(tasks)


class Width:
    """Number of workers that play: one fewer each time the machine is too busy, one more every `QUIET` seconds."""

    def __init__(self, jobs: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._jobs = self._left = jobs
        self._clock = clock
        self._since = -HICCUP
        """Time, by `clock`, at which the machine was last too busy."""

    @property
    def now(self) -> int:
        """Number of workers that may play now, from 1 to the number of jobs."""
        if self._left == self._jobs:
            return self._jobs
        return min(self._jobs, self._left + int((self._clock() - self._since) / QUIET))

    def narrow(self) -> None:
        """Let one worker fewer play, since the machine was too busy; complaints within `HICCUP` seconds count once."""
        if self._left < self._jobs and self._clock() - self._since < HICCUP:
            return
        self._left, self._since = max(1, self.now - 1), self._clock()


class Workers:
    """Worker processes, each with a referee and bots of its own. A context manager."""

    def __init__(
        self,
        jobs: int,
        *,
        in_flight: int | None = None,
        sandbox: Sandbox = UNCONFINED,
        logs: bool = False,
        all_play: bool = False,
    ) -> None:
        """Prepare up to `jobs` workers.

        With `logs` what bots print is gathered, and whoever plays takes it. With `all_play` all play every phase,
        however short, as `arena bench` needs.
        """
        self.jobs = jobs
        self._all_play = all_play
        self._width = Width(jobs)
        self._enough = jobs
        """Number of workers that the phase is worth."""
        self._in_flight = in_flight
        self._keeps_logs = logs
        self._logs: list[Logged | Piece] = []
        self.sandbox = sandbox
        self.trouble = Trouble()
        """What is known of faults and retirements of bots."""
        self._stopped = False
        self._suspects: list[list[Task]] = []
        """Matches held by workers that died, to be played apart from the others in the next phase."""
        self._killers: set[str] = set()
        self._pace: dict[str, float] = {}
        """About how many seconds of thinking a bot needs for a match, by digest."""
        self._resources = contextlib.ExitStack()
        self._processes: list[WorkerProcess] = []

    def __enter__(self) -> Workers:
        adopt_orphans()
        self._scratch = self._resources.enter_context(run_folder())
        return self

    def __exit__(self, *error: object) -> None:
        with self._resources:
            for process in self._processes:
                process.finish()
            for process in self._processes:
                with contextlib.suppress(EOFError, RuntimeError):
                    while not process.hear().last:
                        pass
                process.end()
            end_orphans()

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
        alone is void. Raises WorkersDied if too many do.
        """
        self._bury()
        end_orphans()
        self._enough = self._worth(tasks) if isinstance(tasks, Sequence) else self.jobs
        stock, hands = self._apart(tasks)
        while not self._stopped:
            self._deal(stock, hands)
            self._even_out(hands)
            busy = [process for process in self._processes if process.holds or process.is_resting]
            if not busy:
                break
            ready = wait([process.link for process in busy], timeout=0.1)
            for process in busy:
                if process.link in ready:
                    yield self._hear(process, stock)
            if not ready:
                yield []
        if self._stopped:
            yield from self._last_results()
        else:
            assert not any(process.has_bots for process in self._processes), "a phase ended while bots were alive"

    def _bury(self) -> None:
        """Remove workers that died while they had nothing to do, so that no match is blamed for it."""
        for process in [process for process in self._processes if process.is_dead]:
            process.end()
            self._processes.remove(process)

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
        links = {process.link: process for process in self._processes}
        for process in self._processes:
            process.finish()
        while links:
            for link in [link for link in wait(list(links)) if link in links]:
                try:
                    delivery = links[link].hear()
                except EOFError:
                    del links[link]
                    continue
                if delivery.last:
                    del links[link]
                self.trouble = self.trouble.merge(delivery.trouble)  # no need to tell the others: they stop
                self._logs += delivery.logs
                yield list(delivery.played)

    def _deal(self, stock: Stock, hands: deque[list[Task]]) -> None:
        self._deal_suspects(hands)
        while len(self._processes) < self._wide and (chunk := stock.take(CHUNK, self.trouble)):
            self._processes.append(self._start_process())
            self._processes[-1].deal(chunk, self.trouble)
        while hungry := [process for process in self._wanted() if process.is_hungry]:
            for process in sorted(hungry, key=lambda process: len(process.holds)):
                if not (chunk := stock.take(CHUNK, self.trouble)):
                    return
                process.deal(chunk, self.trouble)

    @property
    def _wide(self) -> int:
        """Number of workers that are to play now."""
        return min(self._width.now, self._enough)

    def _wanted(self) -> list[WorkerProcess]:
        """Return the workers that are to play now."""
        return self._processes[: self._wide]

    def _deal_suspects(self, hands: deque[list[Task]]) -> None:
        while hands and len(self._processes) < self._wide:
            self._processes.append(self._start_process())
        for process in self._processes:
            if not process.holds and not process.is_resting:
                hand: list[Task] = []
                while hands and not hand:
                    hand = self._still_to_play(hands.popleft())
                process.is_suspicious = bool(hand)
                if hand:
                    process.deal(hand, self.trouble)

    def _even_out(self, hands: deque[list[Task]]) -> None:
        """Ask for matches that have not begun, for a worker that has nothing left; if there are none, let it rest.

        A worker that is not to play now, since the machine is too busy, gives back, bit by bit, all it has not begun.
        """
        others = [other for other in self._processes if other.holds and not other.is_suspicious]
        able = [other for other in others if other.spares and len(other.holds) > 1]
        wanted = self._wanted()
        for process in others:
            if process not in wanted and process.spares and not process.was_asked:
                process.ask()
        for process in self._processes:
            if process.holds or process.is_resting or not process.has_bots or hands:
                continue
            if process in wanted and any(other.was_asked for other in others):
                return
            if process in wanted and able:
                max(able, key=lambda other: len(other.holds)).ask()
            else:
                process.rest()

    def _hear(self, process: WorkerProcess, stock: Stock) -> list[Played]:
        try:
            delivery = process.hear()
        except EOFError:
            return self._replace(process)
        stock.give_back(process.holds.pop(id) for id in delivery.spared or ())
        for id in delivery.taken_back:
            process.holds.pop(id)
        for played in delivery.played:
            self._note_pace(process.holds.pop(played.id), played)
        if delivery.played:
            self._killers.clear()
        self.learn(delivery.trouble)
        if any(played.is_void_by(VoidReason.OVERLOAD) for played in delivery.played):
            self._width.narrow()
        self._logs += delivery.logs
        return list(delivery.played)

    def _note_pace(self, task: Task, played: Played) -> None:
        for entrant, seat in zip(task.lineup, played.seats, strict=False):  # no seats if it was void
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
        if slowest > SLOW:
            return slowest
        return SLOW if any(map(self.trouble.plays_singly, digests)) else 0.0

    def _worth(self, tasks: Sequence[Task]) -> int:
        """Return how many workers the matches are worth, as each starts the bots: all if a bot is slow or unknown.

        With n workers a phase lasts `thinking / n + START * bots * n / jobs`: the time that the bot needs that thinks
        longest, and the starts, which share the cores. The sum is least where both are equal.
        """
        count = Counter(entrant.digest for task in tasks for entrant in task.lineup)
        if self._all_play or not count or not count.keys() <= self._pace.keys() or any(map(self._lasts, tasks)):
            return self.jobs
        thinking = max(self._pace[digest] * matches for digest, matches in count.items())
        best = math.sqrt(thinking * self.jobs / (START * len(count)))
        return max(1, len(tasks) // WORTH, int(best))

    def learn(self, trouble: Trouble) -> None:
        """Add to what is known of bots, and tell workers of new second chances and retirements.

        The workers give back the matches of those bots.
        """
        known, self.trouble = self.trouble, self.trouble.merge(trouble)
        if trouble.chances.keys() - known.chances.keys() or trouble.retired - known.retired:
            for process in self._processes:
                process.tell(Command(trouble=self.trouble))

    def _replace(self, dead: WorkerProcess) -> list[Played]:
        """Start another worker in place of a dead one; return the match it died of, void, if it held no other."""
        dead.end()
        end_orphans()
        self._processes[self._processes.index(dead)] = self._start_process()
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
        why = f"the worker process {dead.exit_in_words()}, and it played nothing else"
        return [Played(held[0].id, None, Void(VoidReason.INTERRUPTED, why))]

    def _start_process(self) -> WorkerProcess:
        return WorkerProcess(str(self._scratch), self._in_flight, self.sandbox, logs=self._keeps_logs)


def _work(link: Link, scratch: str, in_flight: int | None, sandbox: Sandbox, logs: bool) -> None:
    """Run a worker in its own process until the arena sends None, closes the link or ends."""
    gc.freeze()  # what is imported stays: it need not be searched for garbage
    gc.set_threshold(GARBAGE)
    own = Worker(Path(scratch), in_flight=in_flight, sandbox=sandbox, logs=[] if logs else None)
    try:
        own.serve(link)
    except Exception:
        link.send(traceback.format_exc())
    finally:
        own.close()
