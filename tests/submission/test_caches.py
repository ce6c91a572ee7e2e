"""What compilers keep at home comes back to the next build of the same name, and is never what a build fails of."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from arena.sandbox import UNCONFINED
from arena.sandbox.run_folder import run_folder
from arena.submission import Program, build_limits, caches
from arena.submission.build import BuildFailed, Building, build
from arena.submission.caches import lent
from tests.cli.commands import arena
from tests.submission.test_builds import handed_in
from tests.tournament import programs


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "home/caches/mine"


def built(cache: Path, script: str, number: int) -> Program:
    """What the script makes, by the build of this number."""
    folder = cache.parents[2] / str(number)
    folder.mkdir()
    cache.parents[1].mkdir(exist_ok=True)
    program = handed_in(folder, ["sh", "-c", script])
    return build(program, folder / "log", UNCONFINED, Building(lambda _: None), cache)


def kept(cache: Path) -> list[str]:
    """The files of a cache."""
    return sorted(path.name for path in cache.glob("*/*"))


WORN = "touch $HOME/once; cp part made"
BREAKS = "test ! -e $HOME/bad && touch $HOME/bad"
"""Comes through without a cache only."""


def test_the_next_build_finds_what_one_left_at_home(cache: Path) -> None:
    """That is what it is for; what comes of the build is the same."""
    cold = built(cache, WORN, 1)
    assert kept(cache) == ["once"]
    warm = built(cache, f"test -e $HOME/once && {WORN}", 2)
    assert (cold.built != warm.built, cold.root.name) == (True, warm.root.name)


def test_what_is_built_does_not_depend_on_a_cache(cache: Path) -> None:
    """Nothing of it gets into the program by itself."""
    assert built(cache, WORN, 1).built == built(cache, WORN, 2).built


@pytest.mark.long
@pytest.mark.parametrize("script", ["touch $HOME/once; exit 1", "touch $HOME/once; sleep 1000"])
def test_it_is_kept_if_the_build_fails_or_is_stopped(script: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next goes on from there."""
    monkeypatch.setattr(build_limits, "IDLE", 1.0)
    with pytest.raises(BuildFailed):
        built(cache, script, 1)
    assert kept(cache) == ["once"]


def test_it_keeps_no_build_from_coming_through(cache: Path) -> None:
    """If builds fail again and again, one begins without."""
    built(cache, BREAKS, 1)
    for number in range(caches.FAILURES):
        with pytest.raises(BuildFailed):
            built(cache, BREAKS, 2 + number)
    built(cache, BREAKS, 10)


def test_a_build_that_comes_through_absolves_it(cache: Path) -> None:
    """An author's errors, one now and then, are not its fault."""
    for number in range(5):
        with suppress(BuildFailed):
            built(cache, f"touch $HOME/{number}; exit {number % 2}", number)
    assert kept(cache) == ["0", "1", "2", "3", "4"]


def test_a_large_one_is_dropped(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Disks are finite, and what grows for ever is of little use."""
    monkeypatch.setattr(caches, "LARGEST_CACHE", 1024 * 1024)
    built(cache, "touch $HOME/once", 1)
    built(cache, "dd if=/dev/zero of=$HOME/large bs=1M count=2", 2)
    assert kept(cache) == []


def test_a_home_that_is_a_link_is_not_kept(cache: Path, tmp_path: Path) -> None:
    """Or the next build would have somebody else's folder."""
    (tmp_path / "others").mkdir(mode=0o755)
    built(cache, f"rm -r $HOME; ln -s {tmp_path / 'others'} $HOME", 1)
    assert not cache.exists()
    assert (tmp_path / "others").stat().st_mode & 0o777 == 0o755


def test_a_home_that_is_gone_is_not_missed(cache: Path) -> None:
    """It was the build's own."""
    built(cache, "rm -r $HOME", 1)
    assert not cache.exists()


def test_of_two_builds_at_once_one_has_it(cache: Path, tmp_path: Path) -> None:
    """They would write over each other's files; whose is kept is whole."""
    built(cache, "touch $HOME/old", 1)
    with lent(cache, tmp_path / "first"):
        with lent(cache, tmp_path / "second"):
            assert not list((tmp_path / "second").iterdir())
            (tmp_path / "second/new").touch()
        assert (tmp_path / "first/old").exists()
    assert kept(cache) == ["new"]
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["caches"]


@pytest.mark.needs("another disk")
def test_it_comes_from_another_disk_and_goes_back(cache: Path, tmp_path: Path) -> None:
    """Also with folders into which nobody may write, as Go makes them, and with links."""
    shared = Path("/dev/shm")
    (tmp_path / "home").mkdir()
    with run_folder(shared) as elsewhere:
        for number in range(2):
            with lent(cache, elsewhere / "home"):
                (elsewhere / f"home/{number}").mkdir()
                (elsewhere / f"home/{number}/link").symlink_to(".")
                (elsewhere / f"home/{number}").chmod(0o500)
            assert not (elsewhere / "home").exists()
    assert sorted(path.parent.name for path in cache.rglob("link")) == ["0", "1"]


def test_ctrl_c_leaves_what_there_was(cache: Path, tmp_path: Path) -> None:
    """A cache that was there is there again, and where there was none there is none."""
    (tmp_path / "home").mkdir()
    for number, there in enumerate([[], ["mine"]]):
        home = tmp_path / str(number)
        with pytest.raises(KeyboardInterrupt), lent(cache, home):
            interrupted_in(home)
        assert kept(cache) == there
        with lent(cache, tmp_path / f"again{number}"):
            (tmp_path / f"again{number}/mine").touch()


def interrupted_in(home: Path) -> None:
    """What somebody does who has no patience."""
    (home / "mine").touch()
    raise KeyboardInterrupt


@pytest.mark.long
@pytest.mark.timeout(300)
def test_only_what_is_submitted_has_one(tmp_path: Path) -> None:
    """A name is its author's then; who has a bot checked, or play, or compared by its path may be anybody."""
    bot = tmp_path / "mine"
    bot.mkdir()
    (bot / "bot.toml").write_text('run = ["python", "bot.py"]\ngames = ["birth"]\nbuild = [["sh", "build.sh"]]\n')
    (bot / "build.sh").write_text("ls $HOME > found; touch $HOME/left\n")
    (bot / "bot.py").write_text(programs.FIRST)
    assert arena("submit", "mine", cwd=tmp_path).code == 0
    (bot / "build.sh").write_text("ls $HOME; touch $HOME/strange\n")
    assert arena("check", "mine", "--game", "birth", cwd=tmp_path).code == 0
    assert arena("match", "./mine", "random", "--game", "birth", cwd=tmp_path).code == 0
    logs = [path.read_text().splitlines() for path in (tmp_path / ".arena/builds").iterdir()]
    assert logs == [["$ sh build.sh"]] * len(logs)
    assert kept(tmp_path / ".arena/caches/mine") == ["left"]
    (bot / "build.sh").write_text("ls $HOME; touch $HOME/strange; true\n")  # or what was checked would be entered
    assert arena("submit", "mine", cwd=tmp_path).code == 0
    assert kept(tmp_path / ".arena/caches/mine") == ["left", "strange"]


def test_holes_count_in_what_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moved to another disk they are holes no more, and would fill it."""
    monkeypatch.setattr(caches, "LARGEST_CACHE", 1024 * 1024)
    built(cache, "truncate -s 20M $HOME/holes", 1)
    assert not cache.exists()
