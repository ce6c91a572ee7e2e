"""The leaderboard, for people and for programs."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean

import msgspec
import pytest

from arena import games
from arena.cli.evidence_tables import cross_picture, seat_picture
from arena.referee.limits import Limits
from arena.reports import front_report, words
from arena.reports.leaderboard_columns import COLUMNS
from arena.reports.leaderboard_report import EstimateColumns, RankedBot, head_to_head, leaderboard_of
from arena.reports.rank_range import rank_range
from arena.reports.words import pace_text, percent, unusual
from arena.terminal.output import draw
from ladder import store
from ladder.intervals import Evidence, GroupResult
from ladder.store.records import Row
from tests.cli.commands import ARENA, PATIENCE, environment, typed
from tests.cli.conftest import make_home
from tests.tournament import playing

LEADERBOARD = ("leaderboard", "--game", "birth")


def use_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Have the arena draw for a terminal that is so many columns wide."""
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": str(columns)}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("home")
def test_people_see_a_table_without_a_space_too_many() -> None:
    """Names to the left, numbers to the right, and at 80 columns nothing is folded."""
    head, columns, line, *rows = typed(*LEADERBOARD, "--settle").out.splitlines()
    *rows, rating, places, note, zero = rows
    assert re.fullmatch(r"BIRTH, 2 players \(ladder \w{10}\): 4 matches", head)
    assert len(columns) == len(line) <= 80
    assert {len(row) for row in rows} == {len(line)}
    assert [row.split()[:2] for row in rows] == [["1", "ann@1"], ["~2", "bob@1"]]
    assert "bob@1 (older)" in rows[1]
    assert rating == "rating: what a bot is almost certainly worth, mu − 3 sigma"
    assert zero == "0 is the mean mu of the bots that the ladder began with"
    assert places == "#3–15: where a bot may stand by its rating, as its points tell nothing yet"
    assert note == "~ not certainly worse than the bot above it: more rounds may tell"


@pytest.mark.usefixtures("home")
def test_the_first_table_has_six_columns_and_says_what_a_rating_is() -> None:
    """Who sees it for the first time needs the place, not five numbers of strength; `--details` has the others."""
    _, columns, *_, rating, _, _ = typed(*LEADERBOARD).out.splitlines()
    assert columns.split() == ["rank", "bot", "rating", "points", "matches", "forfeits"]
    assert rating == "rating: what a bot is almost certainly worth, mu − 3 sigma; more with --details"
    _, detailed, *_ = typed(*LEADERBOARD, "--details").out.splitlines()
    assert detailed.split() == [column.name for column in COLUMNS]


@pytest.mark.usefixtures("home")
def test_programs_get_everything_that_people_see() -> None:
    """The best bot first, and all that makes this ladder a ladder of its own."""
    board = json.loads(typed(*LEADERBOARD, "--json").out)
    assert (board["game"], board["players"], board["limits"]["decision"]) == ("birth", 2, 1.0)
    assert board["matches"] == {"to_play": 0, "done": 4, "rated": 4, "unplayable": 0, "dropped": 0, "annulled": 0}
    assert [(bot["rank"], bot["bot"], bot["wins"], bot["forfeits"]) for bot in board["bots"]] == [
        (1, "ann@1", 3, 0),
        (2, "bob@1", 1, 1),
    ]


@pytest.mark.usefixtures("cwd")
def test_a_home_without_ladders_says_how_to_begin() -> None:
    """That is no error: there is nothing wrong with an empty list."""
    for_people, for_programs = typed(*LEADERBOARD, "-p", "3"), typed(*LEADERBOARD, "--json")
    assert (for_people.code, for_people.out) == (0, "")
    assert "arena ladder --game birth --players 3" in for_people.err
    assert json.loads(for_programs.out)["bots"] == []


@pytest.mark.parametrize("width", ["80", "30"])
def test_a_plot_shows_every_bot_on_one_scale(width: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean stands inside its interval, the better bot's further right, and 0 at the same place in each line."""
    del home
    monkeypatch.setenv("COLUMNS", width)
    out = typed(*LEADERBOARD, "--plot").out
    _, plot = out.split(
        "estimated skill with its 95 % interval; ┊ is the mean of the bots that the ladder began with\n"
    )
    _, _, *rows = plot.splitlines()
    assert all(re.fullmatch(r"\w+@\d [ ┊]+├?─*●─*┤?[ ┊]*", row) for row in rows), rows
    means = [row.index("●") for row in rows]
    assert means == sorted(means, reverse=True)


@pytest.mark.usefixtures("home")
def test_a_ladder_of_others_is_named() -> None:
    """Whoever played three must not believe that nothing was kept, nor that a mistyped home is a real one."""
    elsewhere, typo = typed(*LEADERBOARD, "-p", "3"), typed(*LEADERBOARD, "--home", "typo")
    assert "there is one of 2 players: arena leaderboard --game birth --players 2\n" in elsewhere.err
    assert "there is no arena" not in elsewhere.err
    assert typo.err.startswith("no bot was submitted and no ladder played in 'typo' yet\n")
    above = typed(*LEADERBOARD, "--home", ".")
    assert above.err.startswith("no bot was submitted and no ladder played in '.' yet (did you mean '.arena'?)\n")


def test_an_interrupted_ladder_says_what_is_left_and_what_is_not_rated(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ratings follow the schedule, so matches that finished early have to wait for those before them."""
    with store.open(home, checkpoints=True) as db:
        (ladder,) = store.ladders.all(db)
        store.ladders.plan(db, ladder, ["ann", "bob@1"], rounds=4)
        _, second, *_ = store.ladders.scheduled(db, ladder)
        seats = (store.records.SeatOutcome(0, 1), store.records.SeatOutcome(1, 0))
        store.matches.record(db, ladder, [store.records.FinishedMatch(second.id, seats, b"", b"")])
    head = typed(*LEADERBOARD).out.splitlines()[0]
    assert head.endswith(": 5 matches, 4 rated, 3 to play")
    assert (
        "provisional: matches are rated in the order of the schedule, and 1 of these came early"
        in typed(*LEADERBOARD).out
    )
    data = json.loads(typed(*LEADERBOARD, "--json").out)
    assert [sum(row["matches"] for row in data[rows]) for rows in ("bots", "provisional")] == [8, 10]
    use_terminal(monkeypatch, len(head) - 1)
    assert typed(*LEADERBOARD).out.startswith(head.replace(": ", ":\n") + "\n")


def mu_column() -> dict[str, float]:
    """Mu in the table, by bot."""
    cells = [line.split() for line in typed(*LEADERBOARD, "--details").out.splitlines() if "@" in line]
    return {row[1]: float(row[3 + row[2].startswith("(")]) for row in cells}


def test_a_provisional_table_is_centred_on_the_bots_that_it_shows(home: Path) -> None:
    """Not on the ratings that are there already."""
    with store.open(home, checkpoints=True) as db:
        (ladder,) = store.ladders.all(db)
        store.ladders.plan(db, ladder, ["ann", "bob@1"], rounds=4)
        _, second, *_ = store.ladders.scheduled(db, ladder)
        store.matches.record(db, ladder, [lost_by("ann@1", second)])
    ratings = mu_column()
    assert ratings["ann@1"] == -ratings["bob@1"]


def test_a_table_of_provisional_ratings_alone_is_centred(cwd: Path) -> None:
    """In a first run nothing is rated for long, and --watch shows what will be."""
    make_home(cwd / ".arena", rated=False)
    ratings = mu_column()
    assert ratings.keys() == {"ann@1", "bob@1"}
    assert 0.0 < ratings["ann@1"] == -ratings["bob@1"] < 10.0


def lost_by(loser: str, match: store.records.ScheduledMatch) -> store.records.FinishedMatch:
    """The result of a match that a bot has lost."""
    seats = tuple(store.records.SeatOutcome(int(bot == loser), 1 - int(bot == loser)) for bot in match.line_up)
    return store.records.FinishedMatch(match.id, seats, b"", b"")


def test_who_leads_provisionally_leads_everywhere(cwd: Path) -> None:
    """The front of the site named the leader of the few matches that were rated, the leaderboard that of all."""
    make_home(cwd / ".arena", rated=False)
    with store.open_read(cwd / ".arena") as db:
        (ladder,) = store.ladders.all(db)
        first = leaderboard_of(db, ladder, games.game("birth")).provisional[0]
        (listed,) = front_report.front(db, running=False).ladders
    assert listed.leader is not None
    assert (listed.leader.bot, listed.leader.rating) == (first.bot, first.rating)


def test_what_is_left_is_what_the_run_was_given(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what is planned: 97 s are no 10 min."""
    monkeypatch.setattr("time.time", lambda: 1000.0)
    home = cwd / ".arena"
    make_home(home)
    with store.open(home) as db, store.database.exclusive(home):
        db.execute("UPDATE matches SET finished = 998.5 WHERE seq = 0")  # three in the last 1.5 s
        (ladder,) = store.ladders.all(db)
        store.ladders.plan(db, ladder, ["ann", "bob@1"], rounds=602)

        def left(run: store.watching.CurrentRun | None) -> tuple[int, str]:
            if run is not None:
                store.watching.announce(home, run)
            now = front_report.ladder_progress(db, ladder, running=True)
            return now.to_play, pace_text(now)

        assert left(None) == (1200, "2.0/s, about 10 min left")
        assert left(store.watching.CurrentRun(ladder.id, until=1097.0)) == (194, "2.0/s, about 97 s left")
        assert left(store.watching.CurrentRun(ladder.id, matches=54)) == (50, "2.0/s, about 25 s left")
        assert left(store.watching.CurrentRun("another")) == (1200, "")


@pytest.mark.long
def test_watch_repaints_until_ctrl_c(cwd: Path) -> None:
    """It may be started before there is anything to see."""
    terminal, end = pty.openpty()
    words = [str(ARENA), *LEADERBOARD, "--watch"]
    environ = environment() | {"TERM": "xterm"}
    with subprocess.Popen(words, cwd=cwd, env=environ, stdin=end, stdout=end, stderr=end) as process:
        try:
            seen = _read_until(terminal, b"waiting for a ladder of BIRTH, 2 players")
            make_home(cwd / ".arena")
            seen += _read_until(terminal, b"ann@1")
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130
        finally:
            process.kill()
    os.close(end)
    os.close(terminal)
    assert b"\x1b[2K" in seen  # the line before was wiped, not left
    assert b"Traceback" not in seen


def _read_until(terminal: int, text: bytes) -> bytes:
    seen = b""
    while text not in seen:  # the test's own time limit ends this, if nothing else does
        seen += os.read(terminal, 1024)
    return seen


@pytest.mark.usefixtures("home")
def test_mu_is_above_the_average_of_the_bots_that_the_ladder_began_with() -> None:
    """Live ratings drift all together; what a bot has more than the others does not."""
    board = json.loads(typed(*LEADERBOARD, "--json").out)
    ann, bob = board["bots"]
    assert board["zero"] == ["ann@1", "bob@1"]
    assert board["centre"] == (ann["mu"] + bob["mu"]) / 2
    _, _, _, first, second, *_ = typed(*LEADERBOARD, "--details").out.splitlines()
    assert first.split()[2] == f"{ann['rating']:.2f}"
    assert second.split()[3] == f"{bob['rating']:.2f}"
    assert first.split()[3] == f"{(ann['mu'] - bob['mu']) / 2:+.2f}"
    assert second.split()[4] == f"{(bob['mu'] - ann['mu']) / 2:+.2f}"


@pytest.mark.usefixtures("home")
def test_settled_ratings_are_fitted_when_asked_for() -> None:
    """Until then, and whenever there is more, the leaderboard says of how many matches they are."""
    *_, note = typed(*LEADERBOARD, "--details").out.splitlines()
    assert note == "settled: of 0 matches, --settle brings it up to date"
    before, after = (json.loads(typed(*LEADERBOARD, *more, "--json").out) for more in ([], ["--settle"]))
    assert (before["settled_matches"], after["settled_matches"]) == (0, 4)
    assert [bot["settled"] for bot in before["bots"]] == [None, None]
    assert sum(bot["settled"]["mu"] for bot in after["bots"]) == pytest.approx(0.0)


@pytest.mark.usefixtures("home")
def test_the_cross_table_has_both_sides_of_every_pair() -> None:
    """With counts, intervals and chances, for people and for programs."""
    told = json.loads(typed(*LEADERBOARD, "--cross", "--json").out)
    ann, bob = told["cross"]
    assert (ann["bot"], ann["other"], ann["groups"], ann["mean"]) == ("ann@1", "bob@1", 2, 0.75)
    assert ann["mean"] + bob["mean"] == ann["above"] + bob["above"] == 1.0
    assert 0 < ann["low"] < 0.75 < ann["high"] < 1
    assert told["places"] == {}  # bob has a newer version, and nobody else is there
    shown = typed(*LEADERBOARD, "--cross").out
    assert re.search(r"1 +ann@1 +75\.0 \(\d+–\d+\) in 2", shown)


def ranked(bots: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Ranks and names of bots that stand in this order."""
    return {bot: (rank, bot) for rank, bot in enumerate(bots, 1)}


def test_the_cross_table_of_six_fits_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With every digit of it: each share and its count are there for either side of all 15 pairs."""
    use_terminal(monkeypatch, 80)
    bots = [f"cautious@{number}" for number in range(6)]
    won: dict[GroupResult, int] = {
        (pair, (ranks, ranks[::-1])): count
        for pair in combinations(bots, 2)
        for ranks, count in (((0, 1), 930), ((1, 0), 304))
    }
    _, cross, *_ = cross_picture(head_to_head(Evidence(won), bots), ranked(bots), Evidence(won).places(bots, bots))
    draw(cross, wide=True)
    shown = re.sub("\x1b.*?m", "", capsys.readouterr().out)
    assert max(map(len, shown.splitlines())) <= 80
    assert [shown.count(text) for text in (" 75.4", " 24.6", " in 1,234")] == [15, 15, 30]


@pytest.mark.long
def test_the_cross_table_of_forty_goes_on_below(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In as many tables as the width takes, with a line for each bot in each: no row is broken into several."""
    use_terminal(monkeypatch, 100)
    bots = [f"student{number}@1" for number in range(40)]
    won: dict[GroupResult, int] = {(pair, ((0, 1), (1, 0))): 9 for pair in combinations(bots, 2)}
    evidence = Evidence(won)
    for picture in cross_picture(head_to_head(evidence, bots), ranked(bots), evidence.places(bots, bots)):
        draw(picture)
    lines = re.sub("\x1b.*?m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= 100
    heads = [line.split()[2:] for line in lines if line.startswith("rank")]
    assert len(heads) > 1
    assert [int(head) for each in heads for head in each] == list(range(1, 41))
    chances = [line.split()[1:] for line in lines if line.startswith("bot ")]
    assert [int(head) for each in chances for head in each] == list(range(1, 41))
    assert sum("student39@1" in line for line in lines) == len(heads) + len(chances)


@pytest.fixture(scope="module")
def played_crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a round of more bots than are compared, which is copied for each test."""
    home = tmp_path_factory.mktemp("crowd") / "home"
    playing.make(home, "birth", [f"bot{number:02}" for number in range(24)], 1)
    return home


@pytest.fixture
def crowd(played_crowd: Path, cwd: Path) -> list[RankedBot]:
    """That home as the default one of the working directory; gives the rows of its leaderboard."""
    shutil.copytree(played_crowd, cwd / ".arena")
    with store.open_read(cwd / ".arena") as db:
        (ladder,) = store.ladders.all(db)
        return [*leaderboard_of(db, ladder, games.game("birth")).bots]


def test_some_bots_of_many_are_shown_as_on_the_whole_board(crowd: list[RankedBot]) -> None:
    """The best, those around one, or those that are named: with the same ranks, points and marks."""
    name = crowd[12].name
    for options, rows in {
        ("-n", "5"): crowd[:5],
        ("--around", name, "-n", "3"): crowd[11:14],
        ("--around", name): crowd[7:18],
        ("--around", crowd[0].name, "-n", "4"): crowd[:4],
        ("--around", crowd[23].bot, "-n", "4"): crowd[20:],
        ("--bots", f"{crowd[20].bot}, {crowd[3].name}"): [crowd[3], crowd[20]],
        ("-n", "99"): crowd,
    }.items():
        board = json.loads(typed(*LEADERBOARD, *options, "--json").out)
        assert board["bots"] == msgspec.to_builtins(rows)
        assert board["ranked"] == 24
        shown = typed(*LEADERBOARD, *options).out
        assert (f"{len(rows)} of 24 bots are shown" in shown) == (len(rows) < 24)
        assert all(f" {bot.bot} " in shown for bot in rows)


def test_ratings_of_some_bots_have_the_zero_of_all(crowd: list[RankedBot]) -> None:
    """The mean of the bots that are shown is nobody's zero."""
    line = next(line for line in typed(*LEADERBOARD, "-n", "1", "--details").out.splitlines() if crowd[0].bot in line)
    assert line.split()[2:4] == [f"{crowd[0].rating:.2f}", f"{crowd[0].mu - fmean(bot.mu for bot in crowd):+.2f}"]


def test_of_many_bots_the_best_are_compared_or_those_that_are_named(crowd: list[RankedBot]) -> None:
    """A table of three hundred has lines of thousands of characters; chances of places count all matches."""
    whole = json.loads(typed(*LEADERBOARD, "--cross", "--json").out)
    best = [bot.bot for bot in crowd[:20]]
    assert len(whole["bots"]) == 24
    assert {each["bot"] for each in whole["cross"]} == {each["other"] for each in whole["cross"]} == {*best}
    assert [*whole["places"]] == best
    two = json.loads(typed(*LEADERBOARD, "--cross", "--bots", f"{best[0]},{crowd[23].name}", "--json").out)
    assert [(each["bot"], each["other"]) for each in two["cross"]] == [
        (best[0], crowd[23].bot),
        (crowd[23].bot, best[0]),
    ]
    assert two["places"][best[0]][0] > 0.99, "they met in one group, but each met all others, too"
    shown = typed(*LEADERBOARD, "--cross", "--bots", f"{best[0]},{crowd[23].name}").out
    assert re.search(rf"24 +{crowd[23].bot} .* in 1\n", shown), "with the rank that it has among all"


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--around", "nobody"], "no bot 'nobody'"),
        (["--bots", "bot02,late"], "late@1 has no rated match in this ladder: `arena leaderboard` without it lists"),
        (["--around", "bot01@2"], "bot01@2 has no rated match in this ladder: name bot01@1 instead"),
        (["--bots", "bot01", "-n", "3"], "--bots names the bots to show: leave it out, or -n and --around"),
        (["-n", "0"], "0 is not in the range"),
    ],
)
def test_who_cannot_be_shown_is_said_with_what_to_do(cwd: Path, words: list[str], said: str) -> None:
    """A bot may have been submitted a minute ago, or have a new version that has not played."""
    with store.open(cwd / ".arena") as db:
        for name in ("late", "bot01"):
            store.bots.add(db, store.bots.NewBot(name, f"{name:x<64}", games=["birth"], run=["x"], origin="submitted"))
    told = typed(*LEADERBOARD, *words)
    assert told.code != 0
    assert said in told.err


@pytest.mark.usefixtures("home")
def test_seats_and_shared_dice_are_weighed() -> None:
    """Over groups, in which every bot has every seat."""
    told = json.loads(typed(*LEADERBOARD, "--by-seat", "--json").out)
    assert [(seat["mean"], seat["groups"]) for seat in told["seats"]] == [(0.75, 2), (0.25, 2)]
    assert told["saved"] == 0.0
    assert re.search(r"1 +– +2\nthe shared dice saved", typed(*LEADERBOARD, "--by-seat").out)


@pytest.mark.usefixtures("home")
def test_watching_shows_the_leaderboard_alone() -> None:
    """Tables that do not fit a screen cannot be repainted."""
    assert typed(*LEADERBOARD, "--watch", "--cross").code == 2


def test_dice_that_decide_everything_are_put_into_words() -> None:
    """In a short ladder every group may have been split: what remains of the variance is 0, to be divided by."""
    evidence = Evidence({(("a", "b"), (ranks, ranks)): 1 for ranks in ((0, 1), (1, 0))})
    *_, said = seat_picture([], evidence.saved())
    assert said == "the shared dice saved all of the variance: every group was split alike"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("width", [70, 50, 20])
def test_a_narrow_terminal_has_fewer_columns_but_cuts_nothing(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a number is another number, and a row without a name is nobody's."""
    board = json.loads(typed(*LEADERBOARD, "--settle", "--json").out)
    use_terminal(monkeypatch, width)
    shown = typed(*LEADERBOARD).out
    assert "settled" not in shown
    for bot in board["bots"]:
        assert bot["bot"] in shown
        assert f"{bot['shown'] - board['centre']:.2f} " in shown


def test_an_interval_stays_between_none_and_all() -> None:
    """What cannot be is not shown, and neither is what says nothing."""
    known = ((0.5, 0.4, 0.6), (1.0, 0.964, 1.0), (0.998, 0.995, 1.0), (0.744, 0.0, 1.0))
    assert percent(EstimateColumns(0.05, -0.004, 0.11, 9)) == "5.0 (0–11)"
    assert [percent(EstimateColumns(*each, 9)) for each in known] == [
        "50.0±10.0",
        "100.0 (96–100)",
        "99.8 (99.5–100.0)",
        "–",
    ]


@pytest.mark.usefixtures("home")
def test_while_points_tell_nothing_the_rating_says_where_a_bot_may_stand() -> None:
    """A first round of a few bots, or a phase of which no group is complete, is not shown as nothing."""
    bots = json.loads(typed(*LEADERBOARD, "--json").out)["bots"]
    assert [bot["places"] for bot in bots] == [[1, 2], [1, 2]]
    assert typed(*LEADERBOARD).out.count("#1–2 ") == 2


def test_a_rating_that_is_certain_leaves_one_place(crowd: list[RankedBot]) -> None:
    """Of bots of equal skill any may be anywhere, and a bot that is far better than all is first."""
    somebody = Row._make([0] * len(Row._fields))
    rows = [somebody._replace(mu=mu, sigma=1.0) for mu in (9.0, 1.0, 0.5, 0.0, -9.0)]
    assert [rank_range(row, rows) for row in rows] == [(1, 1), (2, 4), (2, 4), (2, 4), (5, 5)]
    assert {bot.places for bot in crowd} == {None}, "their points are known"


def test_an_opponent_met_once_does_not_blur_the_points() -> None:
    """A new bot's first group would count as much as hundreds with another."""
    alone: dict[GroupResult, int] = {(("a", "b"), ((0, 1), ranks)): 50 for ranks in ((0, 1), (1, 0))}
    with_new = alone | {(("a", "c"), ((1, 0), (0, 1))): 1}
    alike = [Evidence(groups).score("a") for groups in (alone, with_new)]
    assert None not in alike
    assert alike[0] is not None
    assert alike[1] is not None
    assert alike[0].mean == alike[1].mean
    assert alike[1].high - alike[1].low < 0.2


@pytest.mark.usefixtures("home")
def test_both_ratings_have_their_zero_at_the_same_bots() -> None:
    """The mean of the bots that the ladder began with is 0 in every column."""
    assert typed("leaderboard", "--game", "birth", "--settle").code == 0
    board = json.loads(typed(*LEADERBOARD, "--json").out)
    ann, bob = board["bots"]
    assert board["settled_centre"] == pytest.approx((ann["settled"]["mu"] + bob["settled"]["mu"]) / 2)


def test_the_zero_of_a_ladder_of_old_stays_the_field_as_it_is(home: Path) -> None:
    """Its numbers were read and told: an update of the arena changes none of them."""
    with store.open(home, checkpoints=True) as db:
        db.execute("UPDATE ladders SET zero = 'field'")
    assert typed("leaderboard", "--game", "birth", "--settle").code == 0
    board = json.loads(typed(*LEADERBOARD, "--json").out)
    ann, bob = board["bots"]
    assert (board["zero"], board["centre"]) == ([], ann["mu"])  # the only one without a newer version
    assert board["settled_centre"] == ann["settled"]["mu"]
    first, second = (line.split() for line in typed(*LEADERBOARD, "--details").out.splitlines()[3:5])
    assert "┊ is the mean of the field\n" in typed(*LEADERBOARD, "--plot").out
    assert first[3] == first[5] == "+0.00"
    assert second[4] == f"{bob['mu'] - ann['mu']:+.2f}"


def test_no_rating_changes_because_another_bot_enters_or_goes(cwd: Path) -> None:
    """Weak bots that enter would lift all others, and who is retired could rise without a match."""
    ladder = playing.make(cwd / ".arena", "birth", ("ann", "bob", "cid"), 4)
    before = {row["bot"]: row["rating"] for row in json.loads(typed(*LEADERBOARD, "--json").out)["bots"]}
    assert typed("retire", "ann").code == 0
    with store.open(cwd / ".arena", checkpoints=True) as db:
        store.bots.add(db, store.bots.NewBot("weak", "e" * 64, games=["birth"], run=["x"], origin="submitted"))
        store.ladders.plan(db, ladder, ["bob@1", "weak@1"], rounds=40)
        matches = [match for match in store.ladders.scheduled(db, ladder) if "weak@1" in match.line_up]
        store.matches.record(db, ladder, [lost_by("weak@1", match) for match in matches])
        store.ratings.apply(db, ladder)
    after = {row["bot"]: row for row in json.loads(typed(*LEADERBOARD, "--json").out)["bots"]}
    assert after["weak@1"]["rating"] < min(before.values())
    for each in ("ann@1", "cid@1"):  # bob played, so the mean of the three moved by a third of what bob did
        moved = after["bob@1"]["rating"] - before["bob@1"]
        assert abs(after[each]["rating"] - before[each]) <= abs(moved) / 2 + 1e-9


def test_bots_without_a_rated_match_are_named(home: Path) -> None:
    """An empty table, or a field of fewer bots than play, would be read as a result."""
    with store.open(home, checkpoints=True) as db:
        (ladder,) = store.ladders.all(db)
        store.ladders.plan(db, ladder, ["ann", "bob@1", "bob@2"], rounds=3)
        another = store.ladders.find_or_make(db, ladder.key._replace(seats=3), draw_probability=0.0)
        store.ladders.plan(db, another, ["ann", "bob@1", "bob@2"], rounds=1)
    assert "1 more bot has no rated match yet: bob@2" in typed(*LEADERBOARD).out.splitlines()
    _, *below = typed(*LEADERBOARD, "-p", "3").out.splitlines()
    assert below == ["3 bots have no rated match yet: ann@1, bob@1, bob@2"]


def test_of_many_bots_without_a_match_some_are_named() -> None:
    """A class may have two hundred."""
    bots = [f"b{number}@1" for number in range(12)]
    named = ", ".join(bots[:10])
    assert words.waiting_text(12, bots, more=False) == f"12 bots have no rated match yet: {named} and 2 others"
    assert words.waiting_text(1, (), more=True) == "1 more bot has no rated match yet"


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits(), []),
        (Limits(decision=0.25, cpu=2.0), ["decision 0.25 s", "cpu 2 s"]),
        (Limits(bank=0.0), ["bank 0 s"]),
    ],
)
def test_unusual_limits_tell_ladders_of_a_game_apart(limits: Limits, told: list[str]) -> None:
    """Those that nobody set are not told, nor the one on processor time, which is not there unless it is set."""
    birth = games.game("birth")
    assert unusual(birth, limits.plain(), birth.options({})) == told
