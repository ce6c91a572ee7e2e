"""The hosts of a cluster, as whoever deals matches sees them. A thread talks to them; only this side knows the run.

A host that has not answered for `LOST` seconds is lost: its matches go to others, and nothing that it still delivers
counts, since its session is over. When it answers again it joins anew, without any bot from before.
"""

from __future__ import annotations

import asyncio
import pickle
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from arena.cluster import endpoint, error_line, programs
from arena.cluster.engine import Engine, Function, Place
from arena.cluster.messages import (
    LOST,
    SEND_PATIENCE,
    Bug,
    Card,
    Ended,
    Hear,
    HostNews,
    HostOrder,
    HostRequest,
    Join,
    Parcel,
    Tell,
    Terms,
    Versions,
)
from arena.cluster.self_check import package_versions
from arena.cluster.tally import Tally
from arena.referee.match import VoidReason
from arena.sandbox import Grade, Sandbox
from arena.sandbox.grades import MIB
from arena.submission.program_store import tree_digest
from arena.worker.hosts import HostLost, RunningWorker, WorkerEnded
from arena.worker.jobs import Delivery, Entrant, StartCommand, Task

LOOK_INTERVAL = 0.5
"""Seconds between two looks at which hosts there are; any time that is short beside `LOST` would do."""
RETRY_INTERVAL = 0.3
"""Seconds between two attempts at a call that failed; any time that is short beside `EXPIRES` would do."""
JOINING = 60.0
"""Seconds that a host may take to try out its sandbox and to compile the core; any time that suffices would do."""
FIRST_PARCEL = 3.0
"""Seconds for which the first matches wait until all hosts that are listed have joined.

Any time that nobody minds would do: who joins later plays from then on.
"""
LATER = 3.0
"""Seconds after which a host joins again that has gone, or could not join; about any time would do."""
TRIES = 3
"""Number of failures of a host as it joins, or soon after, at which people are told, once; a page says so."""
_SLOW = 2.0
"""Seconds after which people are told that the scheduler is waited for; about any time would do."""
_GOODBYE = 3.0
"""Seconds that hosts have to end a run's processes when it is over; what is left then ends after `EXPIRES` seconds."""
_PARCELS = 256 * MIB
"""Bytes of packed programs that are kept for the next host; with fewer, programs are packed again for each."""
_NOBODY = 4.0
"""Seconds without any host after which people are told so; about any time would do."""
STARTLESS = 3
"""Moments in a row in which a host could start no bot, after which it rests.

One moment may be a shortage that passes; meanwhile all its matches are void.
"""
MOMENT = 2.0
"""Seconds within which several deliveries without a start are one moment: a shortage meets all workers at once."""
_RESTING = 30.0
"""Seconds after which a host joins again on which no bot started; about any time would do."""
_DIFFERENT = {
    "rules": "rules differ: install the same arena there",
    "protocol": "protocol is {theirs}, here {ours}: install the same arena there",
    "machine": "processor is {theirs}, and bots come built for {ours}",
    "python": "Python is {theirs}, and packages of bots come for {ours}",
    "results": "results differ: install the same arena there, and Python from the same source",
}
"""What is said of a host that differs, by the name of what differs in `Versions`."""


class RemoteWorker:
    """A worker on another machine."""

    def __init__(self, session: Session, number: int) -> None:
        self._session = session
        self._number = number
        self.news: deque[Delivery | Ended | Bug] = deque()
        self.is_lost = False
        self._has_ended = False

    def send(self, order: StartCommand | None) -> None:
        """Pass an order to the host."""
        self._session.order(self._number, order)

    def receive(self) -> Delivery:
        """Return the next delivery, or raise how the worker ended; `Hosts.wait` says when there is something."""
        if not self.news:
            if self._has_ended:
                raise WorkerEnded("has ended")
            self._has_ended = True
            raise HostLost(f"was lost with {self._session.name}")
        what = self.news.popleft()
        if isinstance(what, Delivery):
            self._has_ended = what.last
            return what
        self._has_ended = True
        if isinstance(what, Ended):
            raise WorkerEnded(f"on {self._session.name} {what.how}")
        raise RuntimeError(f"on {self._session.name}: {what.trace}")

    @property
    def has_news(self) -> bool:
        """Whether there is something to receive."""
        return bool(self.news) or self.is_lost or self._has_ended

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._has_ended or self.is_lost or any(not isinstance(what, Delivery) for what in tuple(self.news))

    def kill(self) -> None:
        """Do nothing: the host ends it with the session."""

    def close(self) -> None:
        """Do nothing: a worker's host waits for its end."""


class Session:
    """The time for which a host takes part in a run without a break."""

    def __init__(self, hosts: ClusterHosts, address: str, place: Place, card: Card) -> None:
        self._hosts = hosts
        self.address = address
        self.name = place.name
        self.jobs = place.jobs
        self.card = card
        self.heard_at = self._joined_at = time.monotonic()
        self._workers: dict[int, RemoteWorker] = {}
        self._numbers = count()
        self._programs = set(card.programs)
        self._orders: deque[HostOrder | Parcel] = deque()
        self._due = asyncio.Event()
        self._startless = 0
        """Latest moments, in a row, in which the host could start no bot."""
        self._startless_since = -MOMENT
        """When the last of these began."""
        self.is_lost = False
        self.tally = hosts.tallies.setdefault(place.name, Tally())

    @property
    def line(self) -> str:
        """That it takes part, for people."""
        return f"{self.name} takes part: {self.jobs} at once, sandbox grade {self.card.grade}"

    @property
    def has_lasted(self) -> bool:
        """Whether the host has answered for a while, so that it has not failed as it joined."""
        return self.heard_at - self._joined_at > LOST

    # in the thread that deals

    def start(self) -> RemoteWorker:
        """Start one more worker; the host does so at its first order."""
        number = next(self._numbers)
        worker = self._workers[number] = RemoteWorker(self, number)
        worker.is_lost = self.is_lost  # looked at when the worker can be found by `lose`
        return worker

    def order(self, number: int, command: StartCommand | None) -> None:
        """Queue an order for a worker, after the programs that the host lacks for it."""
        if self.is_lost:
            return
        if command is not None and command.tasks:
            command = command._replace(tasks=tuple(map(self._as_sent, command.tasks)))
        self._orders.append(HostOrder(number, command))
        self._hosts.wake(self._due)

    def _as_sent(self, task: Task) -> Task:
        return task._replace(lineup=tuple(map(self._sent_entrant, task.lineup)))

    def _sent_entrant(self, entrant: Entrant) -> Entrant:
        program = self._hosts.program(entrant)
        if program.cwd not in self._programs:
            self._orders.append(self._hosts.parcel(entrant))
            self._programs.add(program.cwd)
        return program

    # in the thread that talks to hosts

    async def tell(self) -> None:
        """Send orders as they come, until cancelled."""
        sent_count = 0
        while True:
            await self._due.wait()
            self._due.clear()
            while self._orders:
                orders = [self._orders.popleft()]
                while self._orders and not isinstance(orders[-1], Parcel) and not isinstance(self._orders[0], Parcel):
                    orders.append(self._orders.popleft())
                # a program goes alone, and may take long on its way
                await self._ask(Tell(sent_count + 1, orders), None)
                sent_count += len(orders)

    async def hear(self) -> None:
        """Receive deliveries, until cancelled or the host refuses to go on."""
        last = 0
        while True:
            news: HostNews = await self._ask(Hear(last, SEND_PATIENCE), LOST)
            self.heard_at = time.monotonic()
            for number, what in news.deliveries:
                self._workers[number].news.append(self._marked(what) if isinstance(what, Delivery) else what)
            if news.deliveries:
                last = news.first + len(news.deliveries) - 1
                self._hosts.notify()
                self._check_starts([what for _, what in news.deliveries if isinstance(what, Delivery)])
            if news.refusal is not None:
                raise Refused(news.refusal)

    def _check_starts(self, deliveries: Sequence[Delivery]) -> None:
        """Raise StartsNothing if no bot starts on this host, and there are others that can go on without it."""
        for results in (delivery.results for delivery in deliveries if delivery.results):
            void = results[-1].void
            if void is None or not all(result.is_void_by(VoidReason.NO_STARTS) for result in results):
                self._startless = 0
            elif self.heard_at - self._startless_since >= MOMENT:
                self._startless, self._startless_since = self._startless + 1, self.heard_at
                if self._startless >= STARTLESS and len(self._hosts.present()) > 1:
                    raise StartsNothing(" ".join(str(void).split()))

    def _marked(self, delivery: Delivery) -> Delivery:
        """Return a delivery with the host's name in the conditions of each match, and count its matches."""
        self.tally.add(delivery.results)
        marked = [result._replace(conditions={**result.conditions, "host": self.name}) for result in delivery.results]
        return delivery._replace(results=marked)

    async def _ask(self, request: HostRequest, seconds: float | None) -> Any:
        """Return the host's answer to a request, which is repeated while the way there is disturbed."""
        data = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        while True:
            try:
                answer = await self._hosts.call(self.address, endpoint.ask, data, seconds)
            except (OSError, TimeoutError):
                await asyncio.sleep(RETRY_INTERVAL)
            else:
                if answer == endpoint.GONE:
                    raise Gone
                return pickle.loads(answer)

    def lose(self) -> None:
        """End the session: its workers are lost with the matches that they hold."""
        self.is_lost = True
        for worker in list(self._workers.values()):
            worker.is_lost = True


class Gone(Exception):
    """Error for a host on which this run has no process any more."""


class Refused(Exception):
    """Error for a host that cannot play in this run; the message is one line for people."""


class StartsNothing(Exception):
    """Error for a host on which no bot starts; the message is one line for people."""


class SameMachine(Exception):
    """Error for a host on the machine of another one, which may be about to be lost."""


class ClusterHosts:
    """The hosts of a cluster that take part in a run. A context manager."""

    def __init__(
        self,
        engine: Engine,
        *,
        sandbox: Sandbox,
        wanted: Grade | None = None,
        least: Grade | None = None,
        in_flight: int | None = None,
        memory: int | None = None,
        logs: bool = False,
        say: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """Prepare a run. `sandbox` has what bots may ask for; `say` is given lines about hosts that come and go.

        On each host all bots together may take so many bytes of `memory`; None: half of what is free there.
        """
        self.sandbox = sandbox
        self._least = least
        self._say = say
        self._engine = engine
        self._terms = Terms(secrets.token_hex(8), wanted, sandbox.allowed, in_flight, logs, memory)
        self._sessions: dict[str, Session] = {}
        self._joining: dict[str, asyncio.Task[None]] = {}
        self._refused: set[str] = set()
        self._crowded: set[str] = set()
        """Addresses of hosts of which people were told that their machine takes part already."""
        self._is_over = False
        self._bug: BaseException | None = None
        self._watching: list[asyncio.Task[None]] = []
        self._numbers = count()
        self._named: dict[str, str] = {}
        """The name of the session that each host has, or had last, by address."""
        self._failures = Counter[str]()
        """By name, how often a host failed as it joined, or soon after, since it last took part for a while."""
        self.tallies: dict[str, Tally] = {}
        """What each host has played, by name, over all its sessions."""
        self._news = threading.Condition()
        self._entrants_as_sent: dict[tuple[str, str], Entrant] = {}
        self._parcels: dict[str, Parcel] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hosts", daemon=True)
        self._lonely_since = time.monotonic()

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._connect(), self._loop).result()
        except BaseException:
            self._end()
            raise
        return self

    async def _connect(self) -> None:
        slow = self._loop.call_later(_SLOW, self._tell_people, "waiting for the scheduler of the cluster")
        try:
            await self._engine.connect()
        finally:
            slow.cancel()
        self._start_watching(self._watch)
        self._start_watching(self._listen)
        ends = time.monotonic() + FIRST_PARCEL
        with suppress(OSError):
            for address in await self._engine.places():
                while time.monotonic() < ends and address not in {*self._sessions, *self._refused, *self._crowded}:
                    await asyncio.sleep(0.05)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result(3 * _GOODBYE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _leave(self) -> None:
        """End this run's processes on all hosts that can be reached; the others end theirs by themselves."""
        self._is_over = True
        calls = [self.call(address, endpoint.leave, b"", _GOODBYE) for address in self._joining]
        await asyncio.gather(*calls, return_exceptions=True)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._engine.close()

    # in the thread that deals

    def present(self) -> Sequence[Session]:
        """Return the hosts that take part now."""
        return [session for session in list(self._sessions.values()) if not session.is_lost]

    def wait(self, workers: Sequence[RunningWorker], seconds: float) -> Collection[RunningWorker]:
        """Wait for news of these workers."""
        if self._bug is not None:
            raise self._bug

        def ready() -> list[RunningWorker]:
            return [worker for worker in workers if isinstance(worker, RemoteWorker) and worker.has_news]

        with self._news:
            if workers_with_news := ready():
                return workers_with_news
            self._news.wait(seconds)
            return ready()

    def program(self, entrant: Entrant) -> Entrant:
        """Return an entrant as hosts are told of it, with the digest of its program's folder as `cwd`."""
        program_key = entrant.label, entrant.digest
        if program_key not in self._entrants_as_sent:
            digest = tree_digest(Path(entrant.cwd))
            self._entrants_as_sent[program_key] = programs.as_sent(entrant, digest)
        return self._entrants_as_sent[program_key]

    def parcel(self, entrant: Entrant) -> Parcel:
        """Return the program of an entrant, packed."""
        digest = self.program(entrant).cwd
        if (packed := self._parcels.get(digest)) is not None:
            return packed
        while sum(parcel.size for parcel in self._parcels.values()) > _PARCELS:
            del self._parcels[next(iter(self._parcels))]
        parcel = self._parcels[digest] = programs.packed(Path(entrant.cwd), digest)
        return parcel

    def wake(self, event: asyncio.Event) -> None:
        """Set an event of the other thread."""
        self._loop.call_soon_threadsafe(event.set)

    # in the thread that talks to hosts

    def notify(self) -> None:
        """Wake whoever waits for news."""
        with self._news:
            self._news.notify_all()

    async def call(self, address: str, function: Function, request: bytes, seconds: float | None) -> bytes:
        """Call a function on a host. Raises OSError and TimeoutError, and Refused for whatever the function raised."""
        try:
            return await asyncio.wait_for(self._engine.call(address, function, self._named[address], request), seconds)
        except (OSError, TimeoutError):
            raise
        except Exception as error:
            raise Refused(error_line(error)) from error

    def _tell_people(self, line: str) -> None:
        if not self._is_over:
            with suppress(OSError, ValueError):  # they may have closed the pipe that they read from
                self._say(line)

    def _watched(self, watching: asyncio.Task[None]) -> None:
        """Tell whoever deals of a bug of the arena's: without this, a run would wait for hosts for ever."""
        if not watching.cancelled() and (error := watching.exception()) is not None:
            self._bug = error
            self.notify()

    def _start_watching(self, watch: Callable[[], Coroutine[Any, Any, None]]) -> None:
        watching = asyncio.create_task(watch())
        watching.add_done_callback(self._watched)
        self._watching.append(watching)

    async def _watch(self) -> None:
        """Let hosts join as they come, and lose those that are not listed any more."""
        is_reached = True
        while True:
            try:
                places = await asyncio.wait_for(self._engine.places(), LOST)
            except (OSError, TimeoutError):  # those that take part may be reached all the same
                if is_reached:
                    self._tell_people("the scheduler does not answer: start it again if it has ended")
                is_reached = False
            else:
                is_reached = True
                for session in [
                    lost_session for lost_session in self._sessions.values() if lost_session.address not in places
                ]:
                    self._lose(session, "has gone")
                for address, place in places.items():
                    if address not in {*self._joining, *self._refused, *self._sessions}:
                        joining = self._joining[address] = asyncio.create_task(self._take_part(address, place))
                        joining.add_done_callback(self._watched)
            await asyncio.sleep(LOOK_INTERVAL)

    async def _listen(self) -> None:
        """Lose hosts that do not answer."""
        while True:
            now = time.monotonic()
            for session in list(self._sessions.values()):
                if now - session.heard_at > LOST:
                    self._lose(session, "does not answer")
                elif session.has_lasted:
                    self._lasts(session)
            if self._sessions:
                self._lonely_since = now
            elif now - self._lonely_since > _NOBODY:
                self._tell_people("no host takes part; waiting for one")
                self._lonely_since = float("inf")
            await asyncio.sleep(LOOK_INTERVAL)

    async def _take_part(self, address: str, place: Place) -> None:
        """Let a host join, and talk to it until its session is over."""
        session = None
        try:
            session = await self._joined(address, place)
            await self._talk(session)
        except Refused as why:
            self._refused.add(address)
            self._tell_people(f"{place.name} does not take part: {why}")
        except StartsNothing as why:
            with suppress(OSError, TimeoutError, Refused):
                await self.call(address, endpoint.leave, b"", LOST)
            if not self._fails(place.name):
                self._failures[place.name] = TRIES  # told until it takes part for a while
                self._tell_people(f"{place.name} rests, and tries again every {_RESTING:g} s: {why}")
            await asyncio.sleep(_RESTING)
        except SameMachine as why:
            if address not in self._crowded:
                self._crowded.add(address)
                self._tell_people(f"{place.name} does not take part: {why}")
            await asyncio.sleep(LATER)
        except (OSError, TimeoutError, Gone):
            if session is None:
                self._failed(place.name)
            await asyncio.sleep(LATER if self._fails(place.name) else RETRY_INTERVAL)
        finally:
            self._joining.pop(address, None)

    async def _talk(self, session: Session) -> None:
        """Exchange orders and deliveries with a host until its session is over. Raises Refused and Gone."""
        self._sessions[session.address] = session
        if not self._fails(session.name):
            self._tell_people(session.line)
        self.notify()
        talks = [asyncio.create_task(session.tell()), asyncio.create_task(session.hear())]
        try:
            finished_talks, _ = await asyncio.wait(talks, return_when=asyncio.FIRST_COMPLETED)
            for talk in finished_talks:
                talk.result()
        finally:
            for talk in talks:
                talk.cancel()
            self._lose(session, "has left")

    async def _joined(self, address: str, place: Place) -> Session:
        self._named[address] = f"{self._terms.run}/{next(self._numbers)}"
        join = pickle.dumps(Join(self._terms, place.jobs))
        answer = await self.call(address, endpoint.join_cluster, join, JOINING)
        if answer == endpoint.GONE:
            raise Gone
        card: Card | str = pickle.loads(answer)
        try:
            self._check(card)
        except (Refused, SameMachine):
            with suppress(OSError, TimeoutError):
                await self.call(address, endpoint.leave, b"", LOST)
            raise
        assert isinstance(card, Card)
        return Session(self, address, place, card)

    def _check(self, card: Card | str) -> None:
        """Raise Refused or SameMachine if a host may not take part."""
        if isinstance(card, str):
            raise Refused(card)
        if (why := objection(card, self._least)) is not None:
            raise Refused(why)
        if any(session.card.machine_id == card.machine_id for session in self._sessions.values()):
            raise SameMachine("another worker on its machine does: start one there, with --nthreads for its cores")

    def _lasts(self, session: Session) -> None:
        """Forget the failures of a host that takes part for a while, and say so if people were told of them."""
        if self._fails(session.name):
            self._tell_people(session.line)
        self._failures[session.name] = 0

    def _failed(self, name: str) -> None:
        self._failures[name] += 1
        if self._failures[name] == TRIES:
            self._tell_people(f"{name} failed {TRIES} times as it joined: the log of its worker may say why")

    def _fails(self, name: str) -> bool:
        """Tell whether a host fails again and again, and people were told so."""
        return self._failures[name] >= TRIES

    def _lose(self, session: Session, why: str) -> None:
        if self._sessions.get(session.address) is not session:
            return
        del self._sessions[session.address]
        session.lose()
        if (joining := self._joining.get(session.address)) is not asyncio.current_task() and joining is not None:
            joining.cancel()
        if not self._fails(session.name):
            self._tell_people(f"{session.name} {why}; its matches are played again")
        if not session.has_lasted:
            self._failed(session.name)
        self.notify()


def objection(card: Card, least: Grade | None) -> str | None:
    """Return why a host of this card cannot take part, as one line for people; None if it can."""
    if least is not None and not card.grade.at_least(least):
        return f"its sandbox has grade {card.grade}, and {least} is asked for"
    for name, ours, theirs in zip(Versions._fields, package_versions(), card.versions, strict=True):
        if ours != theirs:
            return f"its {_DIFFERENT[name].format(ours=ours, theirs=theirs)}"
    return None
