"""What is said of an address at which there is no cluster, in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from arena.cluster import ClusterError, dask_engine
from arena.cluster.dask_engine import DaskEngine


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("here", "'here' is no address of a scheduler: write tls://HOST:PORT"),
        ("tls://here", "'tls://here' is no address of a scheduler"),
        ("tls://here:port", "'tls://here:port' is no address of a scheduler"),
        ("tls://[::1:8786", "'tls://[::1:8786' is no address of a scheduler"),
        ("http://here:80", "'http://here:80' is no address of a scheduler"),
        ("tcp://10.0.0.1:8786", "'tcp://10.0.0.1:8786': only tls:// is safe between machines"),
        ("tls://no.machine.invalid:1", "'tls://no.machine.invalid:1': no machine is called no.machine.invalid"),
        ("tls://127.0.0.1:1", "tls://127.0.0.1:1 takes certificates: say --certificates FOLDER"),
        ("tcp://127.0.0.1:1", "no scheduler at tcp://127.0.0.1:1: "),
    ],
)
async def test_an_address_without_a_cluster_is_named(address: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is wrong with it; a scheduler that does not answer is tried for a while."""
    monkeypatch.setattr(dask_engine, "CONNECT", 0.2)
    with pytest.raises(ClusterError) as error:
        await DaskEngine(address, None).connect()
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


async def test_a_certificate_that_is_missing_is_named(tmp_path: Path) -> None:
    """Not the scheduler, which was not asked."""
    (tmp_path / "ca.pem").touch()
    with pytest.raises(ClusterError, match=r"^there is no cert\.pem in '"):
        await DaskEngine("tls://127.0.0.1:1", tmp_path).connect()


async def test_without_dask_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody needs it who plays on one machine."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"-m pip install distributed$"):
        await DaskEngine("tcp://127.0.0.1:1", None).connect()
