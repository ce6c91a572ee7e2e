"""Worker processes: matches out, results in, whatever becomes of a worker on the way.

Matches are played in phases. Of those in a phase no two share a seed, and between two phases every worker ends its
bots: there is a moment at which nobody is alive who has seen a die. So no bot can be told one that is still to fall,
whatever way two processes find to talk.
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
from arena.worker import worker
from arena.worker.jobs import Delivery, Link, Order, Played, Task, Trouble
from arena.worker.spawn import start_process
from arena.worker.worker import Worker

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

CHUNK = 4
"""Matches dealt to a worker at a time, round and round until each has enough."""
FIRST_BACKLOG = 128
BACKLOG_SECONDS = 5.0
"""How long the matches a worker holds should last: enough in play for full frames, and none idle at the end."""
SLOW = 0.05
"""Seconds for a match from which on a bot may be what a phase waits for at its end."""
WORTH = 128
"""Matches for which it is always worth starting the bots in one more worker."""
START = 1.0
"""Seconds that a core is taken up with starting one bot, while all are busy."""
HICCUP = 2.0
"""Seconds in which several workers may find the machine too busy for one and the same reason."""
QUIET = 10.0
"""Seconds without such a complaint after which one more worker plays."""
DEATHS = 8
"""Matches that may each kill a worker, without a result between, before it is an error."""

GARBAGE = 10_000
"""Objects that a worker makes before it looks for garbage: it has hardly any, since a match that ends leaves none, and
looking after every 700, as is usual, takes it one part in twenty of its time."""


class WorkerProcess:
    """One worker process and the matches it holds."""

    def __init__(self, scratch: str, in_flight: int, sandbox: Sandbox) -> None:
        self._process: BaseProcess
        self.link: Connection[Order | None, Delivery | str]
        self.holds: dict[str, Task] = {}
        self.backlog = FIRST_BACKLOG
        self.has_bots = False
        """Whether it may have some: until it has rested."""
        self.is_resting = False
        self.was_asked = False
        """Whether it has still to say what it can spare."""
        self.spares = True
        """Whether it may have matches that have not begun."""
        self.is_suspicious = False
        """Whether it plays matches one of which may have killed its predecessor: then it gets no others."""
        self._heard: float | None = None
        self._process, self.link = start_process(_work, scratch, in_flight, sandbox)

    def deal(self, tasks: Collection[Task], trouble: Trouble) -> None:
        """Give it matches."""
        self.holds.update((task.id, task) for task in tasks)
        self.has_bots = self.spares = True
        self.tell(Order(tuple(tasks), trouble))

    def ask(self) -> None:
        """Have it give back some of what has not begun."""
        self.was_asked = True
        self.tell(Order(spare=True))

    def rest(self) -> None:
        """Have it end its bots."""
        self.is_resting = True
        self.tell(Order(rest=True))

    def tell(self, order: Order | None) -> None:
        """Send an order, None to end; a worker that has died says so when it is listened to."""
        with contextlib.suppress(OSError):
            self.link.send(order)

    def finish(self) -> None:
        """Tell it to leave what is in play and to end its bots."""
        self.tell(None)

    def hear(self) -> Delivery:
        """What it delivers next. Raises EOFError if it died and RuntimeError if it failed by a bug of ours."""
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
        """Follow the worker's speed; the time to the first delivery is its start and says nothing."""
        now = time.monotonic()
        if self._heard is not None and now > self._heard:
            wanted = BACKLOG_SECONDS * played / (now - self._heard)
            self.backlog = int(min(2000, max(CHUNK, 0.7 * self.backlog + 0.3 * wanted)))
        self._heard = now

    @property
    def is_hungry(self) -> bool:
        """Whether it should be dealt more."""
        return not (self.is_suspicious or self.is_resting) and len(self.holds) < self.backlog

    @property
    def is_dead(self) -> bool:
        """Whether the process has ended."""
        return self._process.exitcode is not None

    def exit_in_words(self) -> str:
        """How it ended, once it has: "was killed by SIGKILL"."""
        return ended_in_words(self._process.exitcode or 0)

    def end(self) -> None:
        """Wait until it is gone."""
        self._process.join()
        self.link.close()


class Stock:
    """What a phase still has to deal."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = iter(tasks)
        self._spared: deque[Task] = deque()

    def take(self, count: int, trouble: Trouble) -> list[Task]:
        """Up to `count` matches that are still to be played, in order, and at last what a worker gave back."""
        tasks = chain(self._tasks, self._take_spared())
        return list(islice((task for task in tasks if not trouble.leaves_out(task)), count))

    def _take_spared(self) -> Iterator[Task]:
        while self._spared:
            yield self._spared.popleft()

    def give_back(self, tasks: Iterable[Task]) -> None:
        """These were dealt, did not begin, and are to be dealt to another worker."""
        self._spared.extend(tasks)


class Width:
    """How many workers play: one fewer each time the machine is too busy, one more after every quiet while."""

    def __init__(self, jobs: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._jobs = self._left = jobs
        self._clock = clock
        self._since = -HICCUP
        """When it was too busy last."""

    @property
    def now(self) -> int:
        """From 1 to the number of jobs."""
        if self._left == self._jobs:
            return self._jobs
        return min(self._jobs, self._left + int((self._clock() - self._since) / QUIET))

    def narrow(self) -> None:
        """It was too busy; what several workers say of one hiccup counts once."""
        if self._left < self._jobs and self._clock() - self._since < HICCUP:
            return
        self._left, self._since = max(1, self.now - 1), self._clock()


class Workers:
    """Worker processes, each with a referee and bots of its own. A context manager."""

    def __init__(
        self,
        jobs: int,
        *,
        in_flight: int = worker.IN_FLIGHT,
        sandbox: Sandbox = UNCONFINED,
        all_play: bool = False,
    ) -> None:
        """`all_play` has all of them play every phase, however short, as a measurement of so many wants."""
        self._jobs = jobs
        self._all_play = all_play
        self._width = Width(jobs)
        self._enough = jobs
        """How many workers the phase is worth."""
        self._in_flight = in_flight
        self.sandbox = sandbox
        self.trouble = Trouble()
        """What is known to have befallen bots."""
        self._stopped = False
        self._suspects: list[list[Task]] = []
        """What workers held that died, to be played apart from the rest in the next phase."""
        self._killers: set[str] = set()
        self._pace: dict[str, float] = {}
        """About how many seconds a bot needs for a match, by digest."""
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
        """Begin no more matches; `play` ends once the workers have given back what is finished."""
        self._stopped = True

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        """Play a phase: matches of which no two share a seed; gives results as they come, in any order.

        Some ten times a second there are none. Afterwards no bot is alive. A match without a result is for a phase
        to come: it was taken back from a bot with a fault, or held with others by a worker that died. Those are then
        played in ever smaller hands, until one that kills a worker alone is void. Raises WorkersDied if too many do.
        """
        self._bury()
        end_orphans()
        self._enough = self._worth(tasks) if isinstance(tasks, Sequence) else self._jobs
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
        """Those that died while they had nothing to do have not died of what they would be dealt."""
        for process in [process for process in self._processes if process.is_dead]:
            process.end()
            self._processes.remove(process)

    def _apart(self, tasks: Iterable[Task]) -> tuple[Stock, deque[list[Task]]]:
        """The matches, and apart from them, by hands, those that workers held that died."""
        suspects, self._suspects = list(filter(None, map(self._still_to_play, self._suspects))), []
        if not suspects:
            return Stock(tasks), deque()
        of_id = {task.id: task for task in tasks}
        hands = [[of_id.pop(task.id) for task in hand if task.id in of_id] for hand in suspects]
        return Stock(of_id.values()), deque(hand for hand in hands if hand)

    def _still_to_play(self, tasks: Iterable[Task]) -> list[Task]:
        """Those of which no bot was retired."""
        return [task for task in tasks if not self.trouble.leaves_out(task)]

    def _last_results(self) -> Iterator[list[Played]]:
        for process in self._processes:
            process.finish()
        for process in self._processes:
            last = False
            with contextlib.suppress(EOFError):
                while not last:
                    delivery = process.hear()
                    last = delivery.last
                    self.trouble = self.trouble.and_also(delivery.trouble)  # the others do not listen any more
                    yield list(delivery.played)

    def _deal(self, stock: Stock, hands: deque[list[Task]]) -> None:
        self._deal_suspects(hands)
        while len(self._processes) < self._wide and (chunk := stock.take(CHUNK, self.trouble)):
            self._processes.append(self._hire())
            self._processes[-1].deal(chunk, self.trouble)
        while hungry := [process for process in self._wanted() if process.is_hungry]:
            for process in sorted(hungry, key=lambda process: len(process.holds)):
                if not (chunk := stock.take(CHUNK, self.trouble)):
                    return
                process.deal(chunk, self.trouble)

    @property
    def _wide(self) -> int:
        """How many workers are to play now."""
        return min(self._width.now, self._enough)

    def _wanted(self) -> list[WorkerProcess]:
        """Those that are to play now."""
        return self._processes[: self._wide]

    def _deal_suspects(self, hands: deque[list[Task]]) -> None:
        while hands and len(self._processes) < self._wide:
            self._processes.append(self._hire())
        for process in self._processes:
            if not process.holds and not process.is_resting:
                hand: list[Task] = []
                while hands and not hand:
                    hand = self._still_to_play(hands.popleft())
                process.is_suspicious = bool(hand)
                if hand:
                    process.deal(hand, self.trouble)

    def _even_out(self, hands: deque[list[Task]]) -> None:
        """A worker that has nothing left gets what another has not begun; if there is nothing, it rests.

        One that is not to play now, since the machine is too busy, gives back all that it has not begun.
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
        return list(delivery.played)

    def _note_pace(self, task: Task, played: Played) -> None:
        for entrant, seat in zip(task.lineup, played.seats, strict=False):  # no seats if it was void
            if not seat.times:
                continue  # it never joined, and says nothing of how long it thinks
            took = sum(seat.times)
            self._pace[entrant.digest] = 0.9 * self._pace.get(entrant.digest, took) + 0.1 * took

    def slowest_first(self, tasks: Iterable[Task]) -> list[Task]:
        """Matches of bots that hold up a phase before the others, which fill the time meanwhile."""
        return sorted(tasks, key=self._lasts, reverse=True)

    def _lasts(self, task: Task) -> float:
        """About how many seconds a match lasts, if a bot may hold up the phase; else 0, also if nothing is known."""
        digests = [entrant.digest for entrant in task.lineup]
        slowest = max((self._pace.get(digest, 0.0) for digest in digests), default=0.0)
        if slowest > SLOW:
            return slowest
        return SLOW if any(map(self.trouble.plays_singly, digests)) else 0.0

    def _worth(self, tasks: Sequence[Task]) -> int:
        """How many workers, each of which starts the bots, the matches are worth: all if a bot is slow or not known.

        With n of them a phase lasts `thinking / n + START * bots * n / jobs`: what the bot that thinks longest needs,
        and the starts, which share the cores. That is least where both are equal.
        """
        count = Counter(entrant.digest for task in tasks for entrant in task.lineup)
        if self._all_play or not count or not count.keys() <= self._pace.keys() or any(map(self._lasts, tasks)):
            return self._jobs
        thinking = max(self._pace[digest] * matches for digest, matches in count.items())
        best = math.sqrt(thinking * self._jobs / (START * len(count)))
        return max(1, len(tasks) // WORTH, int(best))

    def learn(self, trouble: Trouble) -> None:
        """Know more of what befell bots. Who has had a second chance now, or was retired, gives back its matches."""
        known, self.trouble = self.trouble, self.trouble.and_also(trouble)
        if trouble.chances.keys() - known.chances.keys() or trouble.retired - known.retired:
            for process in self._processes:
                process.tell(Order(trouble=self.trouble))

    def _replace(self, dead: WorkerProcess) -> list[Played]:
        """Another worker in its place; gives the match that it died of, void, if it held no other."""
        dead.end()
        end_orphans()
        self._processes[self._processes.index(dead)] = self._hire()
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

    def _hire(self) -> WorkerProcess:
        return WorkerProcess(str(self._scratch), self._in_flight, self.sandbox)


def _work(link: Link, scratch: str, in_flight: int, sandbox: Sandbox) -> None:
    """What a worker process does, until the arena closes the link or ends."""
    gc.freeze()  # what is imported stays: not to be looked through again and again
    gc.set_threshold(GARBAGE)
    own = Worker(Path(scratch), in_flight=in_flight, sandbox=sandbox)
    try:
        own.serve(link)
    except Exception:
        link.send(traceback.format_exc())
    finally:
        own.close()
