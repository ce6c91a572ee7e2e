"""What hosts of a cluster say of themselves, without playing anything."""

from __future__ import annotations

import asyncio
import pickle
import secrets
import time
from typing import NamedTuple

from arena.cluster import endpoint, error_line
from arena.cluster.coordinator import JOINING, objection
from arena.cluster.engine import Engine, Place
from arena.cluster.messages import LOST, Card, Join, Terms
from arena.sandbox import STRONGEST, Grade


class HostFinding(NamedTuple):
    """What is known of one host."""

    name: str
    jobs: int
    card: Card | None
    """None if it could not be asked."""
    ahead: float
    """Seconds by which its clock is ahead of ours, give or take the time that an answer takes."""
    problem: str | None
    """Why it cannot take part, as one line for people."""


def inspect(engine: Engine, wanted: Grade | None, least: Grade | None) -> list[HostFinding]:
    """Ask all hosts at once; `wanted` and `least` are grades as for a run. Raises ClusterError and OSError."""

    async def inspect_all() -> list[HostFinding]:
        await engine.connect()
        try:
            places = await engine.places()
            terms = Terms(secrets.token_hex(8), wanted, STRONGEST, None, logs=False)
            findings = await asyncio.gather(*[_inspect_host(engine, terms, least, *host) for host in places.items()])
        finally:
            await engine.close()
        return sorted(findings, key=lambda finding: (finding.name, finding.jobs))

    return asyncio.run(inspect_all())


async def _inspect_host(engine: Engine, terms: Terms, least: Grade | None, address: str, place: Place) -> HostFinding:
    try:
        request = pickle.dumps(Join(terms, place.jobs))
        answer = await asyncio.wait_for(engine.call(address, endpoint.join_cluster, terms.run, request), JOINING)
        received = time.time()
        await asyncio.wait_for(engine.call(address, endpoint.leave, terms.run, b""), LOST)
    except TimeoutError:
        return HostFinding(place.name, place.jobs, None, 0.0, "does not answer")
    except Exception as error:  # whatever a host raises says what is wrong with it
        return HostFinding(place.name, place.jobs, None, 0.0, error_line(error))
    if answer == endpoint.GONE:
        return HostFinding(place.name, place.jobs, None, 0.0, "its process ended")
    card: Card | str = pickle.loads(answer)
    if isinstance(card, str):
        return HostFinding(place.name, place.jobs, None, 0.0, card)
    return HostFinding(place.name, place.jobs, card, card.clock - received, objection(card, least))
