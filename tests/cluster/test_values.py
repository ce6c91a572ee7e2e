"""The parts of a cluster that need no second machine: programs on their way, what hosts say, who is named."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from arena import games
from arena.cluster import programs, self_check
from arena.cluster.coordinator import Session, StartsNothing, objection
from arena.cluster.engine import Place
from arena.cluster.messages import EXPIRES, LOST, SEND_PATIENCE, Card, Parcel, ProgramFile
from arena.cluster.tally import Tally, lines
from arena.games.birth import Birth, State
from arena.games.dice import Dice
from arena.games.rules import Options, Seat
from arena.referee.match import Forfeit, MatchOutcome, SeatForfeit, Void, VoidReason
from arena.sandbox import Grade
from arena.submission.program_store import tree_digest
from arena.worker.jobs import Delivery, Entrant, Played, Trouble


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """The folder of a program, with a file to execute, a link and a folder in it."""
    root = tmp_path / "bot"
    (root / "data").mkdir(parents=True)
    (root / "bot.py").write_text("print()\n")
    (root / "bot.py").chmod(0o755)
    (root / "data" / "table").write_bytes(bytes(range(256)))
    (root / "empty").mkdir()
    (root / "link").symlink_to("bot.py")
    (root / "data" / "up").symlink_to("../data")
    return root


def test_a_program_arrives_as_it_left(bot: Path, tmp_path: Path) -> None:
    """Files, modes and links are the same, and it is kept under the digest of its content."""
    parcel, there = programs.packed(bot, tree_digest(bot)), tmp_path / "there"
    programs.keep_program(parcel, there)
    programs.check_program_files(parcel.digest, there)
    assert programs.stored_digests(there) == {parcel.digest}
    assert (there / parcel.digest / "data" / "table").read_bytes() == bytes(range(256))
    assert (there / parcel.digest / "bot.py").stat().st_mode & 0o777 == 0o555
    assert (there / parcel.digest / "empty").is_dir()
    programs.keep_program(parcel, there)  # a second time changes nothing


def test_a_program_that_was_changed_on_its_way_is_refused(bot: Path, tmp_path: Path) -> None:
    """Nothing of it is kept, and nothing is written outside its folder."""
    whole, there = programs.packed(bot, tree_digest(bot)), tmp_path / "there"
    for digest, entries in [
        (whole.digest, whole.entries[:-1]),
        (whole.digest, [entry._replace(kind="file") for entry in whole.entries if entry.kind != "folder"][:1]),
        (whole.digest, [*whole.entries, ProgramFile("new", "file")]),
        (whole.digest, [*whole.entries, ProgramFile("../new", "file", b"outside")]),
        (whole.digest, [*whole.entries, ProgramFile("up", "link", b".."), ProgramFile("up/new", "file", b"outside")]),
        ("0" * 64, whole.entries),
    ]:
        with pytest.raises(programs.Damaged):
            programs.keep_program(Parcel(digest, entries), there)
        assert list(there.iterdir()) == []


def test_a_program_that_was_changed_on_a_host_is_sent_again(bot: Path, tmp_path: Path) -> None:
    """It is not run, and removed."""
    parcel, there = programs.packed(bot, tree_digest(bot)), tmp_path / "there"
    programs.keep_program(parcel, there)
    table = there / parcel.digest / "data" / "table"
    table.chmod(0o644)  # nobody may write to it by accident
    table.write_bytes(b"other")
    with pytest.raises(programs.Damaged, match="was changed"):
        programs.check_program_files(parcel.digest, there)
    assert programs.stored_digests(there) == set()


def test_a_command_names_the_interpreter_of_its_host(tmp_path: Path) -> None:
    """The arena is in another place on each machine."""
    entrant = Entrant("mine@1", "d", (sys.executable, "bot.py"), "/here", {"PATH": "/bin", "PYTHONPATH": ".packages"})
    sent = programs.as_sent(entrant, "abc")
    assert sys.executable not in sent.command
    assert "/here" not in sent
    placed = programs.placed(sent, tmp_path)
    assert placed.command == entrant.command
    assert placed.cwd == str(tmp_path / "abc")
    assert placed.env["PYTHONPATH"] == ".packages"


def test_a_tool_that_a_host_lacks_is_named() -> None:
    """Instead of losing the bot's matches there."""
    entrant = Entrant("mine@1", "d", ("no-such-tool", "bot"), ".", {"PATH": "/bin:/usr/bin"})
    assert programs.missing_tool(entrant) == "no-such-tool"
    assert programs.missing_tool(entrant._replace(command=("sh", "bot"))) is None
    assert programs.missing_tool(entrant._replace(command=("./bot",))) is None


def card(grade: Grade = Grade.A, **other: Any) -> Card:
    """What a host says that differs from this machine only in what is given."""
    return Card(grade, self_check.package_versions()._replace(**other), "id", frozenset(), {}, 0.0)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (card(), None),
        (card(Grade.B), None),
        (card(Grade.C), "its sandbox has grade C, and B is asked for"),
        (card(protocol=7), "its protocol is 7, here 1: install"),
        (card(machine="z80"), "its processor is z80, and bots come built for "),
        (card(python="2.7"), "its Python is 2.7, and packages of bots come for 3."),
        (card(rules={"buttons": 99}), "its rules differ: install"),
        (card(results="other"), "its results differ: install"),
    ],
)
def test_a_host_takes_part_if_it_computes_what_we_compute(said: Card, why: str | None) -> None:
    """Otherwise one line says in what it differs."""
    objected = objection(said, Grade.B)
    assert (objected or "").startswith(why or "")
    assert (objected is None) == (why is None)


class TurnedDice(Dice):
    """Dice of which the other side counts."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice

    def roll(self, key: str, count: int) -> tuple[int, ...]:
        return tuple(7 - die for die in self._dice.roll(key, count))

    def draws(self, key: str, bounds: Sequence[int]) -> tuple[int, ...]:
        return self._dice.draws(key, bounds)


class Turned(Birth):
    """The same rules on such dice."""

    def start(self, seats: int, dice: Dice, options: Options) -> State:
        return super().start(seats, TurnedDice(dice), options)

    def apply(self, state: State, decisions: Mapping[Seat, int], dice: Dice) -> State:
        return super().apply(state, decisions, TurnedDice(dice))


def test_the_self_check_sees_a_changed_die() -> None:
    """A host whose dice fell otherwise would play other matches."""
    known = [games.game(name) for name in sorted(games.names())]
    before = self_check.self_check_results(known)
    assert self_check.self_check_results(known) == before
    assert self_check.self_check_results([Turned() if rules.name == "birth" else rules for rules in known]) != before


def test_a_host_counts_as_lost_when_its_bots_have_ended() -> None:
    """Else others would roll dice again that a living bot has seen. And a pause of some seconds ends nobody."""
    assert LOST - EXPIRES >= 1
    assert EXPIRES - SEND_PATIENCE >= 3


class Two:
    """The hosts of a run as a session knows them; there is another one."""

    def __init__(self) -> None:
        self.tallies: dict[str, Tally] = {}

    def present(self) -> Sequence[str]:
        return ["this", "the other"]


@pytest.mark.parametrize(("seconds", "rests"), [(0.0, False), (1.5, False), (10.0, True)])
def test_a_host_rests_for_a_shortage_that_stays(seconds: float, rests: bool) -> None:
    """One that passes meets all workers at once and is soon over; one that stays costs match after match."""
    hosts: Any = Two()
    session = Session(hosts, "address", Place("this", 4), card())
    nothing_starts = Delivery([Played("one", None, Void(VoidReason.NO_STARTS, "no space"))], Trouble())
    begun = session.heard_at
    with pytest.raises(StartsNothing, match="no space") if rests else nullcontext():
        for number in range(21):
            session.heard_at = begun + seconds * number / 20
            session._check_starts([nothing_starts])


def played(matches: int, void: int = 0, forfeited: int = 0) -> list[Played]:
    """Results of which some are void, and in some of which a bot forfeited."""
    outcome = MatchOutcome((0, 1), (1, 0))
    lost = MatchOutcome((0, 1), (1, 0), (SeatForfeit(1, Forfeit.CRASH, "it went", 1),))
    return (
        [Played("void", None, Void(VoidReason.INTERNAL, "it broke"))] * void
        + [Played("lost", lost)] * forfeited
        + [Played("won", outcome)] * (matches - void - forfeited)
    )


@pytest.mark.parametrize(
    ("results", "named"),
    [
        ({"one": played(1000), "two": played(1000)}, []),
        ({"one": played(100, forfeited=4), "two": played(9000, forfeited=1)}, []),  # too few to say
        ({"one": played(100, forfeited=12), "two": played(9000, forfeited=1)}, ["one"]),
        ({"one": played(1000, forfeited=30), "two": played(1000, forfeited=10)}, []),  # chance, one time in 1,400
        ({"one": played(1000, forfeited=50), "two": played(1000, forfeited=40)}, []),  # the bot's own doing
        ({"one": played(1000), "two": played(1000, void=40)}, ["two"]),
        ({"one": played(5000, forfeited=5), "two": played(300, forfeited=30), "three": played(5000)}, ["two"]),
        ({"one": played(1000, forfeited=900)}, []),  # there is nothing to compare it with
    ],
)
def test_a_host_with_more_trouble_than_the_others_is_named(
    results: dict[str, Sequence[Played]], named: list[str]
) -> None:
    """It may be the host that is broken, and not the bots."""
    tallies = {name: Tally() for name in results}
    for name, own in results.items():
        tallies[name].add(own)
    said = list(lines(tallies))
    assert [line.split()[2] for line in said if line.startswith("careful")] == named
    assert sum("played" in line for line in said) == len(results)
