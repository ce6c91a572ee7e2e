"""Dask distributed as the engine of a cluster: its scheduler lists the hosts and passes calls to them.

No task of Dask's is used, only calls (`Client.run`): a task may run twice or be moved, and takes ten times as long.
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from ssl import SSLError
from typing import Any
from urllib.parse import urlsplit

from arena.cluster import NO_DASK, ClusterError
from arena.cluster.engine import Function, Place
from arena.sandbox import places

CONNECT = 10.0
"""Seconds for which a scheduler that does not answer is tried; any time that suffices on a slow network would do."""
FILES = {"tls_ca_file": "ca.pem", "tls_client_cert": "cert.pem", "tls_client_key": "key.pem"}
"""Names of the files in a folder with certificates, by Dask's names for them."""
PLAIN = "a build on any of its machines could command all hosts: start it with certificates, as docs/cluster.md shows"
"""What is said of a cluster that is reached without TLS, on loopback too: builds share the machine's network."""


class DaskEngine:
    """A connection to a scheduler of Dask, which is made anew whenever it is lost."""

    def __init__(self, address: str, certificates: Path | None) -> None:
        """Prepare a connection with the certificate, its key and that of the authority in a folder.

        Without a folder they are those that Dask is configured with.
        """
        self._address = address
        self._certificates = certificates
        self._client: Any = None

    async def connect(self) -> None:
        """Connect to the scheduler."""
        try:
            url = urlsplit(self._address)
            is_one = url.scheme in ("tcp", "tls") and url.port is not None
        except ValueError:
            is_one = False
        if not is_one:
            raise ClusterError(f"{self._address!r} is no address of a scheduler: write tls://HOST:PORT")
        if url.scheme == "tcp":
            raise ClusterError(f"{self._address!r} is not safe, {PLAIN}")
        if (folder := self._certificates) is not None:
            for file in FILES.values():
                if not (folder / file).is_file():
                    raise ClusterError(f"there is no {file} in {str(folder)!r}")
            _check_key(folder / FILES["tls_client_key"])
        try:
            await asyncio.get_running_loop().getaddrinfo(url.hostname, url.port)
        except OSError as error:
            raise ClusterError(f"{self._address!r}: no machine is called {url.hostname}") from error
        try:
            self._client = await self._connected()
        except TypeError as error:  # Dask found no certificates
            raise ClusterError(f"{self._address} takes certificates: say --certificates FOLDER") from error
        except (OSError, RuntimeError, ValueError) as error:
            what = str(error).splitlines()[0] if str(error) else type(error).__name__
            if isinstance(error, SSLError) or "certificate" in what:
                fit = "ca.pem, cert.pem and key.pem must belong together, and to the authority of its own"
                raise ClusterError(f"{self._address} and these certificates do not fit: {fit}") from error
            raise ClusterError(f"no scheduler at {self._address}: {what}") from error

    async def _connected(self) -> Any:
        try:
            from distributed import Client
            from distributed.security import Security
        except ModuleNotFoundError as error:
            raise ClusterError(NO_DASK) from error

        silence()
        files = {}
        if self._certificates is not None:
            files = {option: str(self._certificates / file) for option, file in FILES.items()}
        with warnings.catch_warnings():  # a connection that fails leaves coroutines that nobody awaits
            warnings.simplefilter("ignore", RuntimeWarning)
            security = Security(**files, require_encryption=True)
            client = Client(self._address, security=security, asynchronous=True, timeout=CONNECT, set_as_default=False)
            try:
                await client
                for door in await client.run_on_scheduler(_doors):
                    if not door.startswith("tls://"):
                        raise ClusterError(f"the cluster at {self._address} also listens on {door}, {PLAIN}")
                return client
            except BaseException:
                await _closed(client)
                raise

    async def places(self) -> Mapping[str, Place]:
        """Return Dask's workers, one a host."""
        if self._client.status == "closed":
            try:
                self._client = await self._connected()
            except (RuntimeError, TypeError, ValueError) as error:
                raise ConnectionError(str(error)) from error
        if self._client.status != "running":
            raise ConnectionError(f"the scheduler at {self._address} does not answer")
        workers = (await self._client.scheduler.identity(n_workers=-1))["workers"]
        return {address: Place(_name(address, worker), worker["nthreads"]) for address, worker in workers.items()}

    async def call(self, address: str, function: Function, session: str, request: bytes) -> bytes:
        """Call a function on one of Dask's workers."""
        if self._client.status != "running":
            raise ConnectionError(f"the scheduler at {self._address} does not answer")
        answers: dict[str, bytes] = await self._client.run(_called, function, session, request, workers=[address])
        if address not in answers:
            raise ConnectionError(f"{address} is not there")
        return answers[address]

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await _closed(self._client)


async def _closed(client: Any) -> None:
    with suppress(OSError, TimeoutError, RuntimeError, AttributeError):  # it may be lost already
        await asyncio.wait_for(client.close(), 5.0)


def _check_key(key: Path) -> None:
    """Raise ClusterError if a build or another user could read the key, with which all hosts can be commanded."""
    if key.stat().st_mode & 0o077:
        raise ClusterError(f"others can read {str(key)!r}, and with it command all hosts: chmod 600 {key}")
    if (place := places.shown_to_all(key)) is not None:
        raise ClusterError(f"builds can read {str(key)!r}, as it is in {place}: make a new key elsewhere")


def _doors(dask_scheduler: Any) -> list[str]:
    """Run in the scheduler: return all addresses at which it and Dask's workers take orders."""
    return [*(listener.contact_address for listener in dask_scheduler.listeners), *dask_scheduler.workers]


async def _called(function: Function, session: str, request: bytes) -> bytes:
    """Run on a host: Dask would write a line for each call into its log."""
    logging.getLogger("distributed.worker").setLevel(logging.WARNING)
    return await function(session, request)


def _name(address: str, worker: Mapping[str, Any]) -> str:
    """Return the name that an organiser gave a worker with --name or, without one, that of its machine."""
    name = str(worker["name"])
    return str(worker["host"]) if name == address or name.isdecimal() else name


def silence() -> None:
    """Keep Dask, which must be imported already, from writing to the terminal: what matters is said by the arena."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in {"distributed", "tornado"}]
    for name in (*names, "distributed", "tornado"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False
        logger.setLevel(logging.CRITICAL + 1)
