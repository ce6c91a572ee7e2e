"""What is said of an address at which there is no cluster, in one line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from distributed import Scheduler
from distributed.security import Security

from arena.cluster import ClusterError, dask_engine
from arena.cluster.dask_engine import FILES, PLAIN, DaskEngine
from arena.sandbox import places
from ladder import store
from tests.cli.commands import arena
from tests.cluster.grid import certificates


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("here", "'here' is no address of a scheduler: write tls://HOST:PORT"),
        ("tls://here", "'tls://here' is no address of a scheduler"),
        ("tls://here:port", "'tls://here:port' is no address of a scheduler"),
        ("tls://[::1:8786", "'tls://[::1:8786' is no address of a scheduler"),
        ("http://here:80", "'http://here:80' is no address of a scheduler"),
        ("tcp://10.0.0.1:8786", "'tcp://10.0.0.1:8786' is not safe, a build on any of its machines could command"),
        ("tcp://127.0.0.1:8786", "'tcp://127.0.0.1:8786' is not safe, a build on any of its machines could command"),
        ("tls://no.machine.invalid:1", "'tls://no.machine.invalid:1': no machine is called no.machine.invalid"),
        ("tls://127.0.0.1:1", "tls://127.0.0.1:1 takes certificates: say --certificates FOLDER"),
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


@pytest.mark.parametrize(
    "command",
    [
        ("doctor",),
        ("ladder", "--game", "birth"),
        ("compare", "greedy", "random", "--game", "birth"),
        ("verify",),
    ],
    ids=lambda words: words[0],
)
def test_no_command_uses_a_cluster_that_a_build_can_command(command: tuple[str, ...], tmp_path: Path) -> None:
    """One line says why not, on this machine's own address, too, and that certificates are needed."""
    home = tmp_path / "home"
    store.open(home).close()
    of_home = () if command == ("doctor",) else ("--home", home)
    ran = arena(*command, *of_home, "--cluster", "tcp://127.0.0.1:8786", cwd=tmp_path)
    assert ran.code == 1
    assert ran.err == f"Error: 'tcp://127.0.0.1:8786' is not safe, {PLAIN}\n"


def _folder_with_key(folder: Path) -> Path:
    folder.mkdir()
    for name in FILES.values():
        (folder / name).touch(0o600)
    return folder / "key.pem"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
async def test_a_key_that_others_can_read_is_refused(mode: int, tmp_path: Path) -> None:
    """Whoever has it commands every host, as whom the hosts run."""
    key = _folder_with_key(tmp_path / "own")
    key.chmod(mode)
    with pytest.raises(ClusterError, match=rf"^others can read '{key}', and .*: chmod 600 {key}$"):
        await DaskEngine("tls://127.0.0.1:1", key.parent).connect()


async def test_a_key_where_builds_can_read_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They see the folders of the arena's Python whatever its files' modes are, and reach the scheduler."""
    monkeypatch.setattr(places, "python", lambda: (str(tmp_path / "venv"),))
    (tmp_path / "venv").mkdir()
    key = _folder_with_key(tmp_path / "venv" / "certificates")
    with pytest.raises(ClusterError, match=rf"^builds can read '{key}', as it is in {tmp_path}/venv: "):
        await DaskEngine("tls://127.0.0.1:1", key.parent).connect()


@pytest.mark.needs("openssl")
async def test_a_scheduler_that_listens_without_certificates_as_well_is_refused(tmp_path: Path) -> None:
    """A build would take that door."""
    own = certificates(tmp_path / "certificates")
    keys = {
        f"tls_{role}_{kind}": str(own / f"{kind}.pem") for role in ("scheduler", "client") for kind in ("cert", "key")
    }
    security = Security(tls_ca_file=str(own / "ca.pem"), require_encryption=False, **keys)
    doors: dict[str, Any] = {
        "port": [0, 0],
        "protocol": ["tls", "tcp"],
    }  # as `--protocol tls,tcp` of Dask's command does
    async with Scheduler(host="127.0.0.1", security=security, dashboard_address="127.0.0.1:0", **doors) as both:
        closed, opened = (listener.contact_address for listener in both.listeners)
        engine = DaskEngine(closed, own)
        with pytest.raises(ClusterError) as error:
            await engine.connect()
    assert str(error.value) == f"the cluster at {closed} also listens on {opened}, {PLAIN}"


async def test_without_dask_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody needs it who plays on one machine."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"-m pip install .*\[cluster\]"):
        await DaskEngine("tls://127.0.0.1:1", None).connect()
