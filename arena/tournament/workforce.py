"""The workers of all hosts: which there are, what each holds, how many play, and where one more may be started."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Sequence
from operator import itemgetter

from arena.tournament.crews import Crew
from arena.worker.hosts import Host, RunningWorker
from arena.worker.jobs import Delivery, StartCommand, Task, Trouble

DEALT_MATCHES = 4
"""Matches dealt to a worker at a time, in turn, until each has enough. Any few would do, so that all get some."""
FIRST_BACKLOG = 128
"""Matches that a worker may hold before its speed is known. Dozens or hundreds would do: others take what it spares."""
_BACKLOG_SECONDS = 5.0
"""How many seconds the matches a worker holds should last: enough to fill frames, and no worker idle at the end."""
_LARGEST_BACKLOG = 2000
"""Matches that a worker holds at most. More than a bot's process is asked at once; any such number would do."""
_HELD = 40
"""Matches for each bot that fill its frames: half of them wait for another bot, and some for their own turn."""
HICCUP = 2.0
"""Seconds within which complaints that the machine is too busy count as one: all workers feel a moment's overload."""
QUIET = 10.0
"""Seconds without such a complaint after which one more worker plays: too soon costs a void match, too late time."""


class DealtWorker:
    """A worker as it is dealt matches: which it holds, and what is known of it."""

    def __init__(self, host: HostWorkers, running: RunningWorker, clock: Callable[[], float]) -> None:
        self.host = host
        self.running = running
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
        self.crew = Crew()
        self._clock = clock
        self._heard_at: float | None = None

    def deal(self, tasks: Collection[Task], trouble: Trouble) -> None:
        """Give the worker matches to play, and tell it of the trouble known."""
        self.holds.update((task.id, task) for task in tasks)
        self.has_bots = self.spares = True
        self.running.send(StartCommand(tuple(tasks), trouble))

    def ask(self) -> None:
        """Ask the worker to give back some matches that have not begun."""
        self.was_asked = True
        self.running.send(StartCommand(spare=True))

    def rest(self) -> None:
        """Tell the worker to end its bots."""
        self.is_resting = True
        self.running.send(StartCommand(rest=True))

    def receive(self) -> Delivery:
        """Return the worker's next delivery; raises as that of `RunningWorker` does."""
        delivery = self.running.receive()
        if delivery.spared is not None:
            self.was_asked, self.spares = False, bool(delivery.spared)
        if delivery.room is not None:
            self.crew.most = delivery.room
        if delivery.rested:
            self.has_bots = self.is_resting = False
        self._adapt(len(delivery.results))
        return delivery

    def _adapt(self, count: int) -> None:
        """Adapt the backlog to the worker's speed, leaving out the time to the first delivery, which is its start."""
        now = self._clock()
        if self._heard_at is not None and now > self._heard_at:
            wanted = _BACKLOG_SECONDS * count / (now - self._heard_at)
            self.backlog = int(min(_LARGEST_BACKLOG, max(DEALT_MATCHES, 0.7 * self.backlog + 0.3 * wanted)))
        self._heard_at = now

    def is_hungry(self, most: int) -> bool:
        """Whether the worker should be dealt more matches; with many bots up to `most`, so that their frames fill."""
        if self.is_suspicious or self.is_resting:
            return False
        return len(self.holds) < max(self.backlog, min(_HELD * len(self.crew.bots), most))


class HostWorkers:
    """The workers of one host, and how many of them play."""

    def __init__(self, host: Host, clock: Callable[[], float]) -> None:
        self.width = Width(host.jobs, clock)
        self.workers: list[DealtWorker] = []
        self._host = host
        self._clock = clock

    @property
    def has_room(self) -> bool:
        """Whether one more worker may be started here now."""
        return len(self.workers) < self.width.now

    def start(self) -> DealtWorker:
        """Start one more worker."""
        self.workers.append(DealtWorker(self, self._host.start(), self._clock))
        return self.workers[-1]


class Width:
    """Number of workers that play: one fewer each time the machine is too busy, one more every `QUIET` seconds."""

    def __init__(self, jobs: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._jobs = self._jobs_allowed = jobs
        self._clock = clock
        self._since = -HICCUP
        """Time, by `clock`, at which the machine was last too busy."""

    @property
    def now(self) -> int:
        """Number of workers that may play now, from 1 to the number of jobs."""
        if self._jobs_allowed == self._jobs:
            return self._jobs
        return min(self._jobs, self._jobs_allowed + int((self._clock() - self._since) / QUIET))

    def narrow(self) -> None:
        """Let one worker fewer play, since the machine was too busy; complaints within `HICCUP` seconds count once."""
        if self._jobs_allowed < self._jobs and self._clock() - self._since < HICCUP:
            return
        self._jobs_allowed, self._since = max(1, self.now - 1), self._clock()


class Workforce:
    """All workers. Hosts come and go; no more of them play than a phase is worth."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.enough = sys.maxsize
        """Number of workers that the phase is worth."""
        self._clock = clock
        self._of_host: dict[Host, HostWorkers] = {}

    @property
    def workers(self) -> list[DealtWorker]:
        """All of them, those of a host together in the order in which they were started."""
        return [worker for host in self._of_host.values() for worker in host.workers]

    def see_hosts(self, present: Sequence[Host]) -> None:
        """Add hosts that have come, and forget those that have gone, once nothing of theirs is left."""
        for host in present:
            if host not in self._of_host:
                self._of_host[host] = HostWorkers(host, self._clock)
        for host in [host for host, workers in self._of_host.items() if host not in present and not workers.workers]:
            del self._of_host[host]

    def wanted(self) -> list[DealtWorker]:
        """Return the workers that are to play now: as many as the phase is worth, about as many on each host."""
        hosts = self._of_host.values()
        numbered = [pair for host in hosts for pair in enumerate(host.workers[: host.width.now])]
        return [worker for _, worker in sorted(numbered, key=itemgetter(0))][: self.enough]

    def next_host(self) -> HostWorkers | None:
        """Return the host on which the next worker is to be started, that with the fewest; None if there are enough."""
        if len(self.wanted()) >= self.enough:
            return None
        able = [host for host in self._of_host.values() if host.has_room]
        return min(able, key=lambda host: len(host.workers), default=None)

    def remove(self, worker: DealtWorker) -> None:
        """Remove a worker that has ended."""
        worker.running.close()
        worker.host.workers.remove(worker)

    def bury(self) -> None:
        """Remove workers that died while they had nothing to do, so that no match is blamed for it."""
        for worker in [worker for worker in self.workers if worker.running.has_ended]:
            self.remove(worker)
