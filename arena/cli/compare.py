"""The `arena compare` command."""

from __future__ import annotations

from pathlib import Path

import click

from arena.reports.compare_report import comparison
from arena.terminal.failures import INTERRUPTED, stop_on_signals
from arena.terminal.host_choice import check_lent, hosts, summary
from arena.terminal.machine import Machine
from arena.terminal.options import (
    Number,
    Setting,
    Whole,
    check_players,
    cluster_options,
    game_option,
    home_option,
    jobs_option,
    json_option,
    memory_option,
    players_option,
    sandbox_options,
    seed_bytes,
    seed_option,
    setting_options,
)
from arena.terminal.output import last_line, print_json, printable, progress
from arena.terminal.stderr import say
from arena.terminal.workshop import workshop_for
from arena.tournament.comparison import CERTAIN, Answer, Certainty, ComparisonQuestion, find_entrants
from arena.tournament.comparison import compare_bots as play_groups
from arena.tournament.worker_pool import Workers

_UNDECIDED = 3
"""The exit code when the matches do not decide."""
_MATCHES = Whole(2, 10_000_000)
"""Type of an option that is a number of matches."""
_CHANCE = Number(1e-6, 0.5)
"""Type of an option that is the probability of an error: with a half one could toss a coin."""
_DIFFERENCES = (0.01, 0.005, 0.002, 0.001)
"""Differences between two bots, as shares of the points, for which the number of matches needed is estimated."""


@click.command()
@click.argument("bots", nargs=2, metavar="A B")
@game_option
@players_option
@click.option("--field", metavar="X,Y,…", help="Compare how they fare among these bots.  [default: each other]")
@click.option("-n", "--matches", type=_MATCHES, metavar="N", default=20_000, help="Give up after so many matches.")
@click.option("--budget", type=_MATCHES, hidden=True, help="Former name of --matches.")
@click.option(
    "--difference",
    type=Number(0.1, 50),
    metavar="PERCENT",
    help="They are alike if neither has so much more than half: end then, too.",
)
@click.option(
    "--alpha", type=_CHANCE, metavar="P", default=CERTAIN.alpha, help="How often equal bots may be called different."
)
@click.option(
    "--beta", type=_CHANCE, metavar="P", default=CERTAIN.beta, help="How often bots that differ may be called alike."
)
@seed_option
@jobs_option
@memory_option
@sandbox_options
@cluster_options
@setting_options
@home_option
@json_option
def compare(
    bots: tuple[str, str],
    setting: Setting,
    players: int | None,
    field: str | None,
    matches: int,
    budget: int | None,
    difference: float | None,
    alpha: float,
    beta: float,
    seed: str,
    jobs: int,
    memory: int | None,
    machine: Machine,
    home: Path,
    as_json: bool,
) -> None:
    """Find out whether bot A is better than B.

    They play unrated matches on the same dice and in each other's seats until the answer is 95 % certain, or as --alpha
    says, which holds however often you look. With --difference, "less than 1 % apart" is an answer, too. A bot is named
    as for `arena match`. Exit code 3: so many matches were not enough.

    \b
    Example:
      arena compare greedy cautious --game buttons
      arena compare new.py old.py --game birth --difference 1 --beta 0.1
    """
    seats = check_players(setting.game, players)
    if difference is None and beta != CERTAIN.beta:
        raise click.UsageError("--beta is of bots that differ by --difference: say by how much")
    check_lent(memory, machine, jobs, seats)
    most = budget or matches
    names = [*bots, *(field.split(",") if field is not None else ())]
    if "attach:" in names:
        raise click.UsageError("attach: is one process, and comparing takes several: name a program")
    machines = hosts(machine, jobs, memory=memory)
    with (
        workshop_for(machine) as workshop,
        Workers(machines) as workers,
        progress(f"{bots[0]} or {bots[1]}", at_most=True, caution=machine.caution) as report,
    ):
        first, second, *among = find_entrants(names, setting.game, home, workshop(report))
        if first.digest == second.digest:
            raise click.UsageError(f"{bots[0]!r} and {bots[1]!r} are the same program: name two that differ")
        dice = seed_bytes(seed)
        wanted = Certainty(alpha, beta, None if difference is None else difference / 100)
        question = ComparisonQuestion(
            setting.game, seats, setting.options, setting.limits, dice, (first, second), among, wanted
        )
        with stop_on_signals(workers.stop) as stopped:
            answer = play_groups(
                question, workers, most, lambda answer: report(answer.matches, most, _figure(question, answer))
            )
    for line in summary(machines):
        say(printable(line))
    if answer.hopeless:
        raise click.ClickException(f"no match counts: {last_line(answer.reason)}")
    interrupted = stopped() and not answer.is_known
    if as_json:
        print_json(comparison(question, answer, seed, interrupted=interrupted))
    else:
        _explain(question, answer, seed)
    if interrupted:
        raise SystemExit(INTERRUPTED)
    if not answer.is_known:
        raise SystemExit(_UNDECIDED)


def _explain(question: ComparisonQuestion, answer: Answer, seed: str) -> None:
    """Print the answer in one sentence on stdout, and everything else there is to know on stderr."""
    for entrant, forfeits in zip(question.pair, answer.forfeits, strict=True):
        if forfeits:
            say(f"careful: {entrant.label} forfeited {forfeits:,} matches; `arena match` shows why")
    if answer.void:
        say(f"careful: {answer.void:,} groups were void again and again and count as undecided")
    say(f"--seed {printable(seed)} repeats this")
    click.echo(sentence(question, answer))


def sentence(question: ComparisonQuestion, answer: Answer) -> str:
    """Return the answer as one sentence, with the figure that it rests on."""
    better, worse = (entrant.label for entrant in question.pair)
    if answer.test.mean < 0.5:
        better, worse = worse, better
    among = f" among {', '.join(entrant.label for entrant in question.field)}" if question.field else ""
    figure = f"{_figure(question, answer, turned=answer.test.mean < 0.5)} of the points, {answer.matches:,} matches"
    if answer.test.decided:
        return f"{better} beats {worse}{among}: {figure}; decided"
    if answer.test.alike and question.test.difference is not None:
        apart = f"less than {100 * question.test.difference:g} % apart{among}"
        return f"{better} and {worse} are {apart}: {better} has {figure}; decided"
    return f"not decided: {better} has {figure}, against {worse}{among}; {_outlook(question, answer)}"


def _figure(question: ComparisonQuestion, answer: Answer, *, turned: bool = False) -> str:
    """Return the points of the first bot, or of the second if `turned`, as text: "53.1 % (51.7 to 54.5)".

    With a field, return its lead over the other bot instead: "6.2 % (3.4 to 9.0) more".
    """
    test = answer.test
    values = [1 - value if turned else value for value in (test.mean, *test.interval)]
    mean, *ends = [100 * (2 * value - 1 if question.field else value) for value in values]
    figure = percentages(mean, min(ends), max(ends), equal=0 if question.field else 50)
    return f"{figure}{' more' * bool(question.field)}"


def percentages(mean: float, low: float, high: float, *, equal: float) -> str:
    """Return a mean with its interval, with the decimals that show on which side of `equal` it lies, at most four."""
    digits = 1
    while digits < 4 and equal not in (low, high) and equal in (round(low, digits), round(high, digits)):
        digits += 1
    return f"{mean:z.{digits}f} % ({low:z.{digits}f} to {high:z.{digits}f})"


def _outlook(question: ComparisonQuestion, answer: Answer) -> str:
    """Say how many more matches would decide what matters, or the largest of `_DIFFERENCES` that is undecided."""
    if not answer.test.count:
        return "no group was finished"
    wanted = question.test.difference
    for difference in _DIFFERENCES if wanted is None else (wanted,):
        if more := answer.test.still(difference / 2 if question.field else difference):
            matches = float(f"{more * answer.matches / answer.test.count:.1g}")
            return f"about {matches:,.0f} more matches would settle {100 * difference:g} %"
    if wanted is not None:
        return "a few more matches may settle it"
    return f"they are less than {100 * _DIFFERENCES[-1]:g} % apart"
