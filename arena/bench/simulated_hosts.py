"""A cluster whose hosts only seem to play: `python -m arena.bench.simulated_hosts NUMBER FOLDER` writes its address.

The folder has the certificates with which it may be reached, and takes what Dask writes.
Dask, its scheduler and one worker for each host are real; all of them are in this process. A host answers the requests
of a coordinator as a real one does, with made-up results. It ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

from arena.bench.made_up import result_of_two
from arena.cluster.dask_engine import silence
from arena.cluster.endpoint import GONE
from arena.cluster.host import GATHERING, is_urgent
from arena.cluster.messages import Card, Hear, HostNews, HostOrder, Join, Tell
from arena.cluster.self_check import package_versions
from arena.sandbox import Grade
from arena.worker.jobs import Delivery, StartCommand, Trouble

LOCAL_ADDRESS = "127.0.0.1"
"""Where the scheduler and all hosts are."""
_NOWHERE = f"{LOCAL_ADDRESS}:0"
"""Any port: Dask answers plain HTTP there, which nobody asks for."""
_ROLES = ("scheduler", "worker")
"""Those whose certificates are needed here, by Dask's names for them."""
_CORES = 8
"""Number of workers that a simulated host seems to run."""


class SimulatedHost:
    """A host that has a result as soon as it is told of a match."""

    def __init__(self) -> None:
        self._last_order = 0
        self._answered = 0.0
        self._news: dict[int, Delivery] = {}
        """What each worker is about to deliver, by its number."""
        self._last_news = HostNews(1, ())

    async def answer(self, request: Tell | Hear) -> object:
        """Answer a request as a real host does."""
        if isinstance(request, Tell):
            for order in request.orders[max(0, self._last_order + 1 - request.first) :]:
                self._last_order += 1
                if isinstance(order, HostOrder):
                    self._news[order.worker] = _delivery(self._news.get(order.worker), order.command)
            return None
        first, ends = request.after + 1, time.monotonic() + request.patience
        if first == self._last_news.first and self._last_news.deliveries:
            return self._last_news  # it did not arrive
        while (now := time.monotonic()) < ends and not self._is_due(now):
            await asyncio.sleep(min(GATHERING / 4, ends - now))
        self._answered = now
        self._last_news = HostNews(first, tuple(self._news.items()))
        self._news = {}
        return self._last_news

    def _is_due(self, now: float) -> bool:
        """Tell whether to answer now, as a real host would."""
        return any(map(is_urgent, self._news.values())) or (bool(self._news) and now >= self._answered + GATHERING)


def _delivery(before: Delivery | None, command: StartCommand | None) -> Delivery:
    """Return what a worker delivers for an order, with what it has not delivered yet: a result for each match."""
    before = before or Delivery((), Trouble())
    if command is None:
        return before._replace(last=True)
    results = [result_of_two(task.id, task.seed[0] % 2) for task in command.tasks]
    return before._replace(
        results=[*before.results, *results],
        spared=() if command.spare else before.spared,
        rested=before.rested or command.rest,
    )


_hosts: dict[str, SimulatedHost] = {}
"""By the name of their sessions, which no two have in common."""


async def join_hosts(session: str, request: bytes) -> bytes:
    """Begin a session, as `arena.cluster.endpoint.join_cluster` does."""
    assert isinstance(pickle.loads(request), Join)
    _hosts[session] = SimulatedHost()
    return pickle.dumps(Card(Grade.D, package_versions(), session, frozenset(), {}, time.time()))


async def ask_hosts(session: str, request: bytes) -> bytes:
    """Answer a request, as `arena.cluster.endpoint.ask` does."""
    if session not in _hosts:
        return GONE
    return pickle.dumps(await _hosts[session].answer(pickle.loads(request)), pickle.HIGHEST_PROTOCOL)


async def leave_hosts(session: str, _request: bytes) -> bytes:
    """End a session, as `arena.cluster.endpoint.leave` does."""
    _hosts.pop(session, None)
    return GONE


def host_certificates(folder: Path) -> Path:
    """Return where in the folder of a cluster its certificates are."""
    return folder / "certificates"


async def serve_hosts(number: int, folder: Path) -> None:
    """Run so many hosts until nobody is at the other end of the standard input; none if there is no Dask."""
    try:
        import dask
        from distributed import Scheduler, Worker
        from distributed.security import Security
    except ModuleNotFoundError:
        return
    silence()
    dask.config.set({"temporary-directory": str(folder / "dask")})
    certificates = host_certificates(folder)
    keys = {f"tls_{role}_{kind}": str(certificates / f"{kind}.pem") for role in _ROLES for kind in ("cert", "key")}
    security = Security(tls_ca_file=str(certificates / "ca.pem"), require_encryption=True, **keys)
    scheduler = Scheduler(
        host=f"tls://{LOCAL_ADDRESS}", port=0, security=security, dashboard=False, dashboard_address=_NOWHERE
    )
    async with scheduler, AsyncExitStack() as on_exit:
        for host in range(number):
            name = f"host{host}"
            await on_exit.enter_async_context(
                Worker(
                    scheduler.address,
                    name=name,
                    nthreads=_CORES,
                    host=LOCAL_ADDRESS,
                    security=security,
                    dashboard_address=_NOWHERE,
                )
            )
        sys.stdout.write(f"{scheduler.address}\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve_hosts(int(sys.argv[1]), Path(sys.argv[2])))
