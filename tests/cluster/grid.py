"""A cluster on this machine: each host is a network namespace with a home and a core of its own, joined by TLS."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from distributed.core import rpc
from distributed.security import Security

from tests.cli.commands import environment

DASK = Path(sys.executable).with_name("dask")
_SHARER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
"""Number of this process among those that share the tests: each has a port and addresses of its own."""
PORT = 8786 + _SHARER
SUBNET = f"10.{213 + _SHARER}"
"""First half of all addresses: host number n is at SUBNET.n.2, and reaches this side at SUBNET.n.1."""
PATIENCE = 120.0
"""Seconds that a cluster may take to start."""
AGAIN = 'while :; do "$@"; sleep 0.5; done'
"""What an organiser has the machine's own supervisor do: start a worker of Dask again whenever it ends."""
CERTIFICATE = """
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=arena -keyout key.pem -out request.pem
openssl x509 -req -days 2 -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem
"""


def certificates(folder: Path) -> Path:
    """Make an authority and a certificate of it in a new folder."""
    folder.mkdir(parents=True)
    for line in CERTIFICATE.strip().splitlines():
        subprocess.run(shlex.split(line), cwd=folder, capture_output=True, check=True)
    return folder


def tls(folder: Path) -> list[str]:
    """Return the options of Dask's commands for the certificates in a folder."""
    files = {"ca-file": "ca.pem", "cert": "cert.pem", "key": "key.pem"}
    return [f"--tls-{option}={folder / name}" for option, name in files.items()]


def until(there: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait until something is there."""
    ends = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < ends, f"no {what} within {seconds:g} s"
        time.sleep(0.05)


def command(process: psutil.Process) -> str:
    """Return the command of a process; nothing if it has ended, even if nobody has been told yet."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


class Host:
    """A network namespace in which a worker of Dask runs, started again whenever it ends."""

    def __init__(self, grid: Grid, number: int, name: str) -> None:
        self.name = name
        self.grid = grid
        self.home = grid.folder / f"home-{name}"
        self.log = grid.folder / f"{name}.log"
        self._space = f"arena{os.getpid() % 100_000}{name}"
        self._link = f"ar{os.getpid() % 100_000}v{number}"
        self._number = number
        self._process: subprocess.Popen[bytes] | None = None
        self.home.mkdir(mode=0o700)
        near, far = f"{SUBNET}.{number}.1", f"{SUBNET}.{number}.2"
        for line in (
            f"ip netns add {self._space}",
            f"ip link add {self._link} type veth peer name cable netns {self._space}",
            f"ip addr add {near}/30 dev {self._link}",
            f"ip link set {self._link} up",
            f"ip -n {self._space} addr add {far}/30 dev cable",
            f"ip -n {self._space} link set cable up",
            f"ip -n {self._space} link set lo up",
        ):
            subprocess.run(line.split(), check=True, capture_output=True)
        self.address = far
        self.scheduler = f"tls://{near}:{PORT}"

    def start(self, folder: Path | None = None, **more: str) -> None:
        """Start its worker, with other certificates or with more variables in its environment if they are given."""
        words = [
            str(DASK), "worker", self.scheduler, "--name", self.name, "--nthreads", "1", "--host", self.address,
            "--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--death-timeout", "10",
            "--local-directory", str(self.home), *tls(folder or self.grid.certificates),
        ]  # fmt: skip
        core = sorted(os.sched_getaffinity(0))[self._number % len(os.sched_getaffinity(0))]
        tools = [shutil.which(tool) or tool for tool in ("ip", "taskset", "sh")]  # whatever PATH it is given
        command = [tools[0], "netns", "exec", self._space, tools[1], "-c", str(core), tools[2], "-c", AGAIN, "worker"]
        env = {**environment(), "HOME": str(self.home), "PYTHONUNBUFFERED": "1", **more}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *words], env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def family(self) -> list[psutil.Process]:
        """Return all processes of the host, those of bots, too."""
        assert self._process is not None
        with suppress(psutil.NoSuchProcess):
            first = psutil.Process(self._process.pid)
            return [first, *first.children(recursive=True)]
        return []

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all processes of the host."""
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def freeze(self) -> None:
        """Stop all its processes, as a machine that hangs does."""
        for _ in range(3):  # those that are started meanwhile, too
            self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let its processes go on."""
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill all its processes at once, as a loss of power does."""
        if self._process is None:
            return
        self.freeze()  # nothing can be started meanwhile
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait()
        self._process = None

    def cut(self) -> None:
        """Take its cable out."""
        subprocess.run(["ip", "link", "set", self._link, "down"], check=True)

    def mend(self) -> None:
        """Put the cable in again."""
        subprocess.run(["ip", "link", "set", self._link, "up"], check=True)

    def remove(self) -> None:
        """Remove the namespace with everything in it."""
        self.kill()
        subprocess.run(["ip", "netns", "del", self._space], check=False, capture_output=True)


class Grid:
    """A scheduler of Dask and hosts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.certificates = certificates(folder / "certificates")
        self.hosts: list[Host] = []
        self._scheduler: subprocess.Popen[bytes] | None = None
        self.log = folder / "scheduler.log"

    @property
    def address(self) -> str:
        """Address of the scheduler on this side."""
        return f"tls://127.0.0.1:{PORT}"

    def start(self) -> None:
        """Start the scheduler."""
        words = [
            str(DASK), "scheduler", "--host", "tls://0.0.0.0", "--port", str(PORT),
            "--no-dashboard", "--dashboard-address", "127.0.0.1:0", *tls(self.certificates),
        ]  # fmt: skip
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self._scheduler = subprocess.Popen(
                words, env=environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

        def ready() -> bool:
            said = self.log.read_bytes()[before:]
            assert self._scheduler is not None
            assert self._scheduler.poll() is None, said.decode()  # for example because the port is taken
            return b"Scheduler at" in said

        until(ready, "scheduler")

    def listed(self) -> list[str]:
        """Return the names of the hosts that the scheduler lists."""
        security = Security(
            tls_ca_file=str(self.certificates / "ca.pem"),
            tls_client_cert=str(self.certificates / "cert.pem"),
            tls_client_key=str(self.certificates / "key.pem"),
            require_encryption=True,
        )

        async def asked() -> list[str]:
            async with rpc(self.address, connection_args=security.get_connection_args("client")) as scheduler:
                found = await scheduler.identity(n_workers=-1)
            return [each["name"] for each in found["workers"].values()]

        return asyncio.run(asked())

    def kill(self) -> None:
        """Kill the scheduler."""
        if self._scheduler is not None:
            self._scheduler.kill()
            self._scheduler.wait()
            self._scheduler = None

    def add(self, name: str) -> Host:
        """Add a host, which is not started yet."""
        self.hosts.append(Host(self, len(self.hosts) + 1, name))
        return self.hosts[-1]


@contextmanager
def grid(folder: Path, names: Sequence[str] = ("one", "two")) -> Iterator[Grid]:
    """Yield a cluster with a scheduler and hosts of these names, all started; remove it in the end."""
    made = Grid(folder)
    try:
        made.start()
        for name in names:
            made.add(name).start()
        yield made
    finally:
        for host in made.hosts:
            host.remove()
        made.kill()
        for host in made.hosts:
            shutil.rmtree(host.home, ignore_errors=True)


def words(made: Grid) -> list[str]:
    """Return the options with which the arena uses a cluster."""
    return ["--cluster", made.address, "--certificates", str(made.certificates)]
