"""Run all checks of a bot: that it starts, plays every game that it claims, and passes the probes."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from arena.check.advice import ADVICE, LAST_LINE, advise
from arena.check.examined import Examined, Misbehaved, PrintedLine, examined
from arena.check.extent import FULL_CHECK, Course, Extent, Untried
from arena.check.probes import LATE, PAUSE, PROBES, PROBES_AT_ONCE, ROUNDS, Examiner, Probe
from arena.check.trials import (
    BusyMachine,
    Failure,
    Times,
    Trial,
    busy_machine,
    failure,
    is_overload,
    times,
    trials,
    typical,
)
from arena.referee.limits import Limits
from arena.referee.loans import IN_FLIGHT
from arena.referee.match import Forfeit
from arena.sandbox import Sandbox
from arena.submission import Program
from arena.worker import unrated
from arena.worker.jobs import Played
from arena.worker.worker import Worker

CheckReporter: TypeAlias = Callable[[int, int, float, bool], None]
"""Called with how many steps are done, of how many, and about how many seconds the others last.

The last argument says whether that is by the pace of the bot; if not, it is how long they last for a fast one.
"""
_NOT_STARTED = "it did not start"
"""Why a check was left out that needs a bot that has started."""


class Finding(NamedTuple):
    """Result of one check; the bot failed it if there is a `detail`."""

    name: str
    detail: str | None = None
    reason: Forfeit | None = None
    """The reason for which the bot would forfeit a match, if there is one."""
    advice: str = ""
    output: Sequence[str] = ()
    """What the bot printed last."""
    transcript: Sequence[PrintedLine] = ()
    """The last frames, in both directions."""


class Checked(NamedTuple):
    """Results of all checks of a bot."""

    findings: Sequence[Finding]
    times: Sequence[Times] = ()
    forecast: BusyMachine | None = None
    typical: float | None = None
    """Milliseconds that half of all decisions took at most."""
    untried: Sequence[Untried] = ()
    matches: Mapping[str, int] = MappingProxyType({})
    """How many matches the bot played to their end, by the name of the check."""

    @property
    def failed(self) -> list[Finding]:
        """Findings of the checks that the bot failed."""
        return [finding for finding in self.findings if finding.detail is not None]


def check_bot(
    program: Program, limits: Limits, sandbox: Sandbox, report: CheckReporter, extent: Extent = FULL_CHECK
) -> Checked:
    """Start a bot, have it play every game and number of players that it claims, and put it through the probes.

    A bot that does not join, or fails in every game, is spared the probes. Raises Unjudged if the arena itself failed.
    """
    entrant = program.entrant()
    course = Course([trial for name in program.games for trial in trials(entrant, name, limits)], extent)
    with CheckSteps(report, course, [probe for probe in PROBES if extent.late or probe.name != LATE]) as steps:
        results, failures = _play(course, sandbox, steps)
        findings = list(_of_matches(program, results, failures))
        untried = list(course.untried())
        if not extent.late:
            untried.append(Untried(LATE, extent.why))
        failed = {failure.game for failure in failures}
        able = [trial.game for trial, _ in results if trial.game not in failed]
        matches = Counter(f"play {trial.game}" for trial, _ in results)
        if not able or findings[0].detail is not None:
            why = _NOT_STARTED if findings[0].detail is not None else "it played no game to its end"
            untried += [Untried(probe.name, why) for probe in steps.probes]
            return Checked(findings, untried=untried, matches=matches)
        start = partial(examined, entrant, limits.start, sandbox)
        findings_of_probes, skipped = asyncio.run(_probe(start, able[0], limits, steps))
        findings, untried = [*findings, *findings_of_probes], [*untried, *skipped]
        return Checked(findings, times(results), busy_machine(results), typical(results), untried, matches)


class CheckSteps:
    """The steps of a check: reports how many are done, and about how long the others last.

    As a context, it says at Ctrl-C how far the check came.
    """

    def __init__(self, report: CheckReporter, course: Course, probes: Sequence[Probe]) -> None:
        self.course = course
        self.probes = deque(probes)
        """Those that are left."""
        self._report = report
        self._steps_done = 0
        self._failed: list[str] = []
        self._begun = time.monotonic()
        self.show()

    def count_step(self, failed: str | None = None) -> None:
        """Count one more step as done; `failed` is the name of the check that the bot failed with it."""
        self._steps_done += 1
        self._failed += [failed] if failed is not None else []
        self._begun = time.monotonic()
        self.show()

    def show(self) -> None:
        """Report again how long the rest lasts: time has passed."""
        elapsed = time.monotonic() - self._begun if self.course.pace else 0.0
        seconds = self.course.seconds + self._probing() - elapsed
        self._report(self._steps_done, self._total, max(0.0, seconds), bool(self.course.pace))

    @property
    def _total(self) -> int:
        return self._steps_done + len(self.course.remaining) + len(self.probes)

    def _probing(self) -> float:
        """Return how long the probes last that are left; the bot is taken to hold as many matches as a bot can."""
        pace = self.course.pace
        at_once = IN_FLIGHT * pace.thinking("", ROUNDS)
        lasts = {LATE: PAUSE, PROBES_AT_ONCE: 0 if self.course.too_long(at_once) else at_once}
        return sum(lasts.get(probe.name, 0) + pace.decision() for probe in self.probes)

    def __enter__(self) -> CheckSteps:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            verdict = f"it failed {', '.join(self._failed)}" if self._failed else "nothing was found wrong so far"
            raise KeyboardInterrupt(f"stopped after {self._steps_done} of {self._total} steps: {verdict}") from None


def _play(course: Course, sandbox: Sandbox, steps: CheckSteps) -> tuple[list[tuple[Trial, Played]], list[Failure]]:
    """Play matches; after a failure leave out the rest of that game, or everything if no better is to be expected."""
    results: list[tuple[Trial, Played]] = []
    failures: list[Failure] = []
    with unrated.own_worker(sandbox=sandbox) as worker:
        while course.remaining:
            trial = course.remaining[0]
            result = _play_trial(worker, trial, steps)
            course.remaining.remove(trial)
            if (failed := failure(trial, result)) is None:
                results.append((trial, result))
                course.pace.learn(trial, result.seats[trial.seat].times)
                course.fit()
            else:
                failures.append(failed)
                if why := _hopeless(failures, results):
                    course.leave_out(course.remaining, why)
                of_game = [untried for untried in course.remaining if untried.game == trial.game]
                course.leave_out(of_game, f"it failed {trial.game}")
            steps.count_step(None if failed is None else f"play {trial.game}")
    return results, failures


def _hopeless(failures: Sequence[Failure], results: Sequence[tuple[Trial, Played]]) -> str:
    """Return why a bot that failed need not play other games; empty if it may do better there."""
    if failures[-1].reason is Forfeit.START:
        return _NOT_STARTED
    if not results and len(failures) > 1 and len({failed.reason for failed in failures}) == 1:
        return f"it failed {len(failures)} games for the same reason; --game names those that it plays"
    return ""


def _play_trial(worker: Worker, trial: Trial, steps: CheckSteps) -> Played:
    """Play a match and return its result; if the machine was too busy, play it once more."""

    def never() -> bool:
        for playing in worker.in_play():
            if times := playing.times(trial.seat):
                steps.course.pace.learn(trial, list(times))
        steps.show()
        return False

    (result,) = worker.play([trial.task], stop=never)
    if is_overload(result):
        (result,) = worker.play([trial.task], stop=never)
    return result


def _of_matches(
    program: Program, results: Sequence[tuple[Trial, Played]], failures: Sequence[Failure]
) -> Iterator[Finding]:
    of_game = {failed.game: failed for failed in failures}
    started = not failures or failures[0].reason is not Forfeit.START
    if not started:
        yield _finding("start", program, failures[0])
        return
    yield Finding("start")
    for game in program.games:
        if game in of_game:
            yield _finding(f"play {game}", program, of_game[game])
        elif any(trial.game == game for trial, _ in results):
            yield Finding(f"play {game}")


def _finding(name: str, program: Program, failed: Failure) -> Finding:
    evidence = failed.evidence
    output = evidence.get("output", ())
    transcript = [PrintedLine("referee", {"decisions": [evidence["request"]]})] if "request" in evidence else []
    if evidence.get("answer") is not None:
        transcript.append(PrintedLine("bot", {"choices": [_choice(evidence)]}))
    where = "" if failed.reason is Forfeit.START else f"{failed.reason} with {failed.players} players: "
    advice = advise(program, failed.game, failed.reason, failed.detail, output)
    return Finding(name, where + failed.detail, failed.reason, advice, output, transcript)


def _choice(evidence: dict[str, Any]) -> dict[str, Any]:
    request = evidence["request"]
    return {"match": request["match"], "decision": request["decision"], "action": evidence["answer"]}


async def _probe(
    start: Callable[[], AbstractAsyncContextManager[Examined]], game: str, limits: Limits, steps: CheckSteps
) -> tuple[list[Finding], list[Untried]]:
    """Put one process through the probes; after a probe that it fails, go on with a new process."""
    findings: list[Finding] = []
    untried: list[Untried] = []
    while steps.probes:
        try:
            async with start() as bot:
                examiner = Examiner(bot, game, limits)
                while steps.probes:
                    probe = steps.probes[0]
                    if probe.name == PROBES_AT_ONCE and (why := _too_long(examiner, game, steps.course)):
                        untried.append(Untried(probe.name, why))
                    else:
                        await probe.run(examiner)
                        findings.append(Finding(probe.name))
                    steps.probes.popleft()
                    steps.count_step()
        except Misbehaved as fault:
            probe = steps.probes.popleft()
            findings.append(_of_probe(probe, fault))
            steps.count_step(probe.name)
    return findings, untried


def _too_long(examiner: Examiner, game: str, course: Course) -> str:
    """Return why the bot cannot be asked about as many matches at once as it claims; empty if there is time."""
    return course.too_long(examiner.claimed * course.pace.thinking(game, ROUNDS))


def _of_probe(probe: Probe, fault: Misbehaved) -> Finding:
    # An illegal or late choice need not have to do with the probe: it gets the usual advice, too.
    advice = f"{ADVICE[fault.reason]}; " if fault.reason in {Forfeit.ILLEGAL, Forfeit.TIMEOUT} else ""
    if fault.reason is Forfeit.CRASH and fault.output:
        advice = f"{LAST_LINE}; or "
    return Finding(probe.name, str(fault), fault.reason, advice + probe.advice, fault.output, fault.transcript)
