"""What a process prints is sorted by the matches that it holds, and no more is kept than there is room for."""

from __future__ import annotations

from dataclasses import dataclass

from arena.referee.limits import Bank, Limits
from arena.referee.match import Asked
from arena.referee.seat import BotSeat
from arena.worker.bot_output import (
    A_SECOND,
    HALF,
    LATE_BYTES,
    LINE,
    REMEMBERED,
    WIDTH,
    Logged,
    Piece,
    ProcessLog,
    Sink,
    readable,
)


@dataclass
class Process:
    """A process with its log, and a clock that stands still."""

    log: ProcessLog
    sink: Sink
    now: list[float]

    def begins(self, number: int) -> BotSeat:
        """Give it a match, called after its number on the stream."""
        at = BotSeat(number, 0, 2, Bank.full(Limits()), updates=False, evidence=dict)
        self.log.began(at, f"m{number}")
        return at

    def ends(self, at: BotSeat, *, has_result: bool = True) -> None:
        """End a match."""
        self.log.ended(at, has_result=has_result)

    def logged(self, match: str) -> list[tuple[int | None, str]]:
        """All lines that were passed on as those of a match."""
        found = [each for each in self.sink if isinstance(each, Logged) and each.match == match]
        return [line for each in found for line in each.lines]

    def meanwhile(self, match: str) -> list[str]:
        """All lines of no match that came while this one was in play."""
        (own, *_) = [each for each in self.sink if isinstance(each, Logged) and each.match == match]
        pieces = [each for each in self.sink if isinstance(each, Piece) and own.since <= each.number < own.until]
        return [text for each in pieces for _, text in each.lines]


def process() -> Process:
    """A process that has printed nothing."""
    sink: Sink = []
    now = [1.0]
    return Process(ProcessLog("bot@1", sink, lambda: now[0]), sink, now)


def test_a_tagged_line_is_kept_with_its_match_and_decision() -> None:
    """However the pipe cuts it, and whichever matches are in play."""
    it = process()
    one, two = it.begins(1), it.begins(2)
    for part in (b"\x1e2:3 of ", b"two\n\x1e1 of one\r\n\x1e1:7", b" \xff\n\x1e1:8\n"):
        it.log.add(part)
    it.ends(one)
    it.ends(two)
    assert it.logged("m1") == [(None, "of one"), (7, "\\xff"), (8, "")]
    assert it.logged("m2") == [(3, "of two")]
    assert not it.log.is_untagged


def test_without_a_tag_a_line_belongs_to_the_only_match_in_play() -> None:
    """At the decision that is open: it was printed before that was answered.

    What comes before any match is nobody's.
    """
    it = process()
    it.log.add(b"what a runtime says of itself\n")
    assert not it.log.is_untagged
    at = it.begins(1)
    it.log.add(b"before\n")
    at.decision = Asked(0, 5, (0,))
    it.log.add(b"\x1e\x1e1:2 no tag\n\x1e99999999999:1 none either\n")
    it.ends(at)
    assert it.logged("m1") == [(None, "before"), (5, "\x1e\x1e1:2 no tag"), (5, "\x1e99999999999:1 none either")]
    assert it.log.is_untagged


def test_a_line_that_is_begun_belongs_to_the_match_in_which_it_began() -> None:
    """A bot may print a prompt without an end of line; a tagged line is read to its end, whenever that comes."""
    it = process()
    one = it.begins(1)
    it.log.add(b"half of one")
    it.ends(one)
    two = it.begins(2)
    it.log.add(b"all of two\n\x1e2:4 tag")
    three = it.begins(3)
    it.log.add(b"ged\n")
    it.ends(two)
    it.ends(three)
    assert it.logged("m1") == [(None, "half of one")]
    assert it.logged("m2") == [(None, "all of two"), (4, "tagged")]


def test_without_a_tag_a_line_belongs_to_no_match_among_several() -> None:
    """It is kept once, for all that were in play; what is in play later does not see it."""
    it = process()
    one, two = it.begins(1), it.begins(2)
    it.log.add(b"to both\n")
    it.ends(one)
    three = it.begins(3)
    it.log.add(b"to the others\n")
    it.ends(two)
    it.ends(three)
    assert it.meanwhile("m1") == ["to both"]
    assert it.meanwhile("m2") == ["to both", "to the others"]
    assert it.meanwhile("m3") == ["to the others"]


def test_what_is_printed_when_a_match_has_ended_comes_later() -> None:
    """A bot hears last that a match is over, and may sum up; but it cannot go on for ever."""
    it = process()
    at = it.begins(1)
    it.ends(at)
    assert it.sink == []
    it.log.add(b"\x1e1:9 it is over\nuntagged\n")
    it.log.close()
    assert it.logged("m1") == [(9, "it is over"), (None, "untagged")]
    it.log.add(b"\x1e1:9 " + b"x" * WIDTH + b"\n\x1e1:9 too late\n")
    it.log.close()
    assert len(it.logged("m1")) == 3
    assert sum(len(text) for _, text in it.logged("m1")) <= LATE_BYTES + WIDTH


def test_a_match_without_a_result_leaves_no_lines() -> None:
    """It is played again, and what was printed then counts."""
    it = process()
    at = it.begins(1)
    it.log.add(b"\x1e1:1 before the fault\n")
    it.ends(at, has_result=False)
    it.log.add(b"\x1e1:1 after it\n\x1e7:1 of nobody\n")
    it.log.close()
    assert it.sink == []


def test_of_many_lines_the_first_and_the_last_are_kept() -> None:
    """With a word about what is missing."""
    it = process()
    at = it.begins(1)
    for number in range(9000):
        it.now[0] += 0.001
        it.log.add(b"\x1e1:1 %d\n" % number)
    it.ends(at)
    lines = [text for _, text in it.logged("m1")]
    assert (lines[0], lines[-1]) == ("0", "8999")
    (gap,) = [line for line in lines if "left out" in line]
    assert gap == f"[{9000 - (len(lines) - 1):,} lines left out]"
    assert sum(len(line) + LINE for line in lines) <= 2 * HALF + 2 * LINE


def test_a_long_line_is_cut() -> None:
    """Also one that never ends."""
    it = process()
    at = it.begins(1)
    it.log.add(b"\x1e1:1 " + b"x" * 10_000)
    it.log.add(b"y" * 10_000 + b"\n\x1e1:2 next\n")
    it.ends(at)
    (first, second) = it.logged("m1")
    assert first[1].startswith("xxx")
    assert first[1].endswith("…")
    assert len(first[1]) <= WIDTH + 2
    assert second == (2, "next")


def test_who_prints_too_much_in_a_second_loses_lines_and_is_told() -> None:
    """Sorting is the referee's work, which a bot must not be able to fill with; the next second is a new one."""
    it = process()
    at = it.begins(1)
    it.log.add(b"\x1e1:1 kept\n\x1e1:1 half a l")
    for _ in range(40):
        it.log.add(b"\n" * 65536)
    it.log.add(b"\x1e1:1 kept, ")
    assert A_SECOND < 65536 * LINE
    it.now[0] += 1
    it.log.add(b"too\n")
    it.ends(at)
    assert it.logged("m1")[:2] == [(1, "kept"), (1, "kept, too")]
    assert "lines left out" in it.logged("m1")[2][1]


def test_only_the_last_matches_can_be_printed_about() -> None:
    """A process may play for days."""
    it = process()
    for number in range(1, REMEMBERED + 10):
        it.ends(it.begins(number))
    it.log.add(b"\x1e1:1 forgotten\n\x1e%d:1 remembered\n" % (REMEMBERED + 9))
    it.log.close()
    assert it.logged("m1") == []
    assert it.logged(f"m{REMEMBERED + 9}") == [(1, "remembered")]


def test_without_a_sink_nothing_is_kept() -> None:
    """Where nobody would read it, it is not even sorted."""
    log = ProcessLog("bot@1", None, lambda: 0.0)
    at = BotSeat(1, 0, 2, Bank.full(Limits()), updates=False, evidence=dict)
    log.began(at, "m1")
    log.add(b"\x1e1:1 one\nand more\n")
    log.ended(at, has_result=True)
    log.close()
    assert not log.is_untagged


def test_a_tag_is_readable() -> None:
    """On the card of a fault."""
    assert readable("\x1e12:3 text") == "match 12, decision 3: text"
    assert readable("\x1e12 text") == "match 12: text"
    assert readable("text \x1e1 2") == "text \x1e1 2"
