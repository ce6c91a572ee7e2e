"""Run all checks of a bot: that it starts, plays every game that it claims, and passes the probes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from arena.check.advice import ADVICE, advise
from arena.check.examined import Examined, Line, Misbehaved, examined
from arena.check.probes import LATE, PROBES, Examiner, Probe
from arena.check.trials import Failure, Forecast, Times, Trial, failure, forecast, is_overload, times, trials
from arena.referee.limits import Limits
from arena.referee.match import Forfeit
from arena.sandbox import Sandbox
from arena.submission import Program
from arena.worker import unrated
from arena.worker.jobs import Played
from arena.worker.progress import Progress
from arena.worker.worker import Worker


class Finding(NamedTuple):
    """Result of one check; the bot failed it if there is a `detail`."""

    name: str
    detail: str | None = None
    reason: Forfeit | None = None
    """The reason for which the bot would forfeit a match, if there is one."""
    advice: str = ""
    output: Sequence[str] = ()
    """What the bot printed last."""
    transcript: Sequence[Line] = ()
    """The last frames, in both directions."""


class Checked(NamedTuple):
    """Results of all checks of a bot."""

    findings: Sequence[Finding]
    times: Sequence[Times] = ()
    forecast: Forecast | None = None

    @property
    def failed(self) -> list[Finding]:
        """Findings of the checks that the bot failed."""
        return [finding for finding in self.findings if finding.detail is not None]


def check(program: Program, limits: Limits, sandbox: Sandbox, report: Progress, *, quick: bool = False) -> Checked:
    """Start a bot, have it play every game and number of players that it claims, and put it through the probes.

    A bot that does not join, or fails in every game, is spared the probes. `quick` leaves out the probe that takes
    long. Raises Unjudged if the arena itself failed.
    """
    entrant, plays = program.entrant(), program.games
    probes = [probe for probe in PROBES if not quick or probe.name != LATE]
    matches = [trial for name in plays for trial in trials(entrant, name, limits)]
    with Steps(report, len(matches) + len(probes)) as steps:
        played, failures = _play(matches, sandbox, steps)
        findings = list(_of_matches(program, failures))
        able = [name for name in plays if name not in {failed.game for failed in failures}]
        if not able or findings[0].detail is not None:
            return Checked(findings)
        start = partial(examined, entrant, limits.start, sandbox)
        findings += asyncio.run(_probe(start, able[0], limits, probes, steps))
        return Checked(findings, times(played), forecast(played))


class Steps:
    """Counts and reports the steps of a check that are done; as a context, says at Ctrl-C how far the check came."""

    def __init__(self, report: Progress, total: int) -> None:
        self._report = report
        self._total = total
        self._done = 0
        self._failed: list[str] = []
        report(0, total)

    def done(self, failed: str | None = None) -> None:
        """Count one more step as done; `failed` is the name of the check that the bot failed with it."""
        self._done += 1
        self._failed += [failed] if failed is not None else []
        self._report(self._done, self._total)

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            found = f"it failed {', '.join(self._failed)}" if self._failed else "nothing was found wrong so far"
            raise KeyboardInterrupt(f"stopped after {self._done} of {self._total} steps: {found}") from None


def _play(matches: Sequence[Trial], sandbox: Sandbox, steps: Steps) -> tuple[list[tuple[Trial, Played]], list[Failure]]:
    """Play matches; after a failure leave out the rest of that game, or everything if the bot does not even start."""
    played, failures = [], []
    with unrated.own_worker(sandbox=sandbox) as worker:
        for _, of_game in groupby(matches, key=attrgetter("game")):
            for trial in of_game:
                result = _played(worker, trial)
                failed = failure(trial, result)
                steps.done(None if failed is None else f"play {trial.game}")
                if failed is not None:
                    failures.append(failed)
                    break
                played.append((trial, result))
            if failures and failures[-1].reason is Forfeit.START:
                break
    return played, failures


def _played(worker: Worker, trial: Trial) -> Played:
    """Play a match and return its result; if the machine was too busy, play it once more."""
    (result,) = worker.play([trial.task])
    if is_overload(result):
        (result,) = worker.play([trial.task])
    return result


def _of_matches(program: Program, failures: Sequence[Failure]) -> Iterator[Finding]:
    of_game = {failed.game: failed for failed in failures}
    started = not failures or failures[0].reason is not Forfeit.START
    if not started:
        yield _finding("start", program, failures[0])
        return
    yield Finding("start")
    for game in program.games:
        name = f"play {game}"
        yield _finding(name, program, of_game[game]) if game in of_game else Finding(name)


def _finding(name: str, program: Program, failed: Failure) -> Finding:
    evidence = failed.evidence
    output = evidence.get("output", ())
    asked = [Line("referee", {"decisions": [evidence["request"]]})] if "request" in evidence else []
    if evidence.get("answer") is not None:
        asked.append(Line("bot", {"choices": [_choice(evidence)]}))
    where = "" if failed.reason is Forfeit.START else f"{failed.reason} with {failed.players} players: "
    advice = advise(program, failed.game, failed.reason, failed.detail, output)
    return Finding(name, where + failed.detail, failed.reason, advice, output, asked)


def _choice(evidence: dict[str, Any]) -> dict[str, Any]:
    asked = evidence["request"]
    return {"match": asked["match"], "decision": asked["decision"], "action": evidence["answer"]}


async def _probe(
    start: Callable[[], AbstractAsyncContextManager[Examined]],
    game: str,
    limits: Limits,
    probes: Sequence[Probe],
    steps: Steps,
) -> list[Finding]:
    """Put one process through the probes; after a probe that it fails, go on with a new process."""
    findings, left = [], deque(probes)
    while left:
        try:
            async with start() as bot:
                examiner = Examiner(bot, game, limits)
                while left:
                    await left[0].run(examiner)
                    findings.append(Finding(left.popleft().name))
                    steps.done()
        except Misbehaved as fault:
            probe = left.popleft()
            findings.append(_of_probe(probe, fault))
            steps.done(probe.name)
    return findings


def _of_probe(probe: Probe, fault: Misbehaved) -> Finding:
    # An illegal or late choice need not have to do with the probe: it gets the usual advice, too.
    own = f"{ADVICE[fault.reason]}; " if fault.reason in {Forfeit.ILLEGAL, Forfeit.TIMEOUT} else ""
    return Finding(probe.name, str(fault), fault.reason, own + probe.advice, fault.output, fault.transcript)
