"""The clock of one bot: what its answers took, what it is charged for them, and when it is overdue."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from arena.referee.bot_questions import Questions
from arena.referee.choices import Choices
from arena.referee.limits import OVERLOAD, Limits, charged
from arena.referee.match import Fault, Forfeit, Verdict, Void, VoidReason
from arena.referee.seat import BotSeat
from arena.sandbox.cpu_usage import Usage

_SAMPLES = 12
"""How often in a limit the timer checks whether a bot thinks. What it does before it is first seen thinking, about a
tenth of its limit, is charged by the wall clock. So a bot that answers at once costs no look at its processes."""
_CORES = os.cpu_count() or 1
"""So many times the wall-clock time a bot can be charged at most."""
JUDGING_DELAY = 0.05
"""Seconds between an overdue answer and the verdict. What has arrived in time may lie unread while the referee is busy,
or was asleep. An answer that comes meanwhile is late all the same, by what it is charged."""
PIECES = 4
"""So many times in a limit a bot with several matches is to say what it has decided; the SDKs do. The last decision of
a piece may begin when the piece is due. So silence may last for one piece and one decision."""


class Timer(Protocol):
    """A timer of an event loop."""

    def cancel(self) -> None:
        """Keep it from going off."""


class Clock(Protocol):
    """The part of an event loop that is needed here, and whether the referee's own process stood still."""

    def time(self) -> float:
        """Seconds, monotonic."""

    def call_at(self, when: float, callback: Callable[[float], object], argument: float, /) -> Timer:
        """Call back at a time."""

    def stood_still(self, since: float) -> bool:
        """Whether the referee itself did not run for a while since a time."""


class Booked(NamedTuple):
    """What came of booking the time of some answers."""

    slow: bool = False
    """Whether a decision took longer than its limit while several matches were waiting."""
    void: Void | None = None
    """Why it cannot be told how long they took; then no match of the bot goes on."""


_FINE = Booked()
"""All answers were in time."""


class Timekeeper:
    """Charges one bot for its answers, and calls `verdict` if it does not answer.

    What is found when an answer comes is returned by `book`; what a timer finds can only be told by a call.
    """

    def __init__(
        self,
        questions: Questions,
        choices: Choices,
        clock: Clock,
        usage: Callable[[], Usage | None],
        verdict: Callable[[Verdict], None],
    ) -> None:
        self._questions = questions
        self._choices = choices
        self._clock = clock
        self._usage = usage
        self._verdict = verdict
        self._mark = 0.0
        """When the last frame of decisions went out, or when the last answer to it came."""
        self._first_sample: tuple[float, Usage] | None = None
        """When, since the mark, the bot's processes were first sampled, and their usage then."""
        self._was_sampled = False
        """Whether the answer before was awaited long enough to sample the processes: then that is done at once now."""
        self._shortest = math.inf
        """The shortest limit of any match it was given: the timer goes off at least so often."""
        self._timer: Timer | None = None
        self._stopped = False

    def watch_match(self, limits: Limits) -> None:
        """Watch a match with these limits, too."""
        if limits.decision < self._shortest:
            self._shortest = limits.decision
            self._watch_anew()

    def start_clock(self, now: float) -> None:
        """Start the clock: a frame of decisions goes out."""
        self._mark = now
        if self._was_sampled:
            self._sample(now)
        self._watch()

    def stop(self) -> None:
        """Stop the clock for good."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    # What is charged

    def book(self, now: float, answers: Sequence[tuple[BotSeat, int]]) -> Booked:
        """Charge the time since the frame, or since the answers before, in equal shares to the answers of one frame.

        Whether it was too much is asked of all together: first decisions may take longer than others.
        """
        share = charge = (now - self._mark) / len(answers)
        if over := share * _CORES > self._shortest and share * _CORES > _mean_limit(answers):
            charge = self._charged(now) / len(answers)
            over = charge > _mean_limit(answers)
        crowded = self._choices.crowded
        if over and self._clock.stood_still(self._mark):
            charge, over = 0.0, False
            if not crowded:
                return Booked(void=Void(VoidReason.OVERLOAD, "the arena itself stood still for a while"))
        for at, _ in answers:
            if charge != share:
                at.charged[len(at.times)] = charge
            at.times.append(share)
            if crowded:
                at.bank.answered()
            else:
                at.bank.charge(charge)
        self.booked(now)
        return Booked(slow=True) if over and crowded else _FINE

    def usual_share(self, now: float, answers: int) -> float | None:
        """Return what each of so many answers took, if no limit that it was given can be touched by that; else None."""
        share = (now - self._mark) / answers
        return share if share * _CORES <= self._shortest else None

    def booked(self, now: float) -> None:
        """Go on with the clock: what was answered now is charged."""
        self._was_sampled = self._first_sample is not None and self._is_long(now)
        self._mark, self._first_sample = now, None

    def _sample(self, now: float) -> None:
        """Sample the bot's processes, to know later what they did from now on, and whether others came meanwhile."""
        if (usage := self._usage()) is None:
            return
        if self._first_sample is None:
            self._first_sample = now, usage
        elif usage.uncounted != self._first_sample[1].uncounted:
            self._first_sample = self._first_sample[0], self._first_sample[1].stirred()

    def _charged(self, now: float) -> float:
        """Seconds since the mark for which the bot pays. Time before the first sample is charged in full."""
        if self._first_sample is None or (after := self._usage()) is None:
            return now - self._mark
        moment, before = self._first_sample
        return moment - self._mark + charged(now - moment, before, after)

    # What is overdue

    def _due(self) -> float:
        """When what is owed is overdue."""
        return self._mark + sum(self._allowance())

    def _allowance(self) -> tuple[float, float, float]:
        """Seconds for which nothing may be answered: a limit, what a bank has left, and what it may keep back.

        A bot works off a frame in an order of its own, so it may be at any decision it owes: the one that may take
        longest counts. Alone it could spend its bank on that one, so it may here, though here nobody is charged. And
        if it says what it has decided in pieces, the last decision of a piece is begun before the piece is due. A bot
        that answers a frame only at its end gets frames that it is through with long before.
        """
        owed = self._questions.owing(self._choices.held)
        limit, bank = max([(at.bank.limit, at.bank.left) for at in owed], key=sum)
        if not self._choices.crowded:
            return limit, bank, 0.0
        return limit, bank, max([at.bank.limits.decision for at in owed]) / PIECES

    def _watch(self) -> None:
        """Set the timer before anything that is or will be owed is overdue.

        A timer for every frame would cost more than one that goes off now and then for nothing.
        """
        if self._timer is None:
            now = self._clock.time()
            wait = (
                1 / _SAMPLES if self._first_sample is None else random.uniform(0.1, 0.4)
            )  # or a bot could hide from a sample
            when = min(self._due(), now + self._shortest * wait, now + 3600)
            self._timer = self._clock.call_at(when, self._check, when)

    def _is_long(self, now: float) -> bool:
        """Tell whether the bot has thought long enough since the mark to be sampled: that costs as much as a frame."""
        return now - self._mark > self._shortest / _SAMPLES / 2

    def _watch_anew(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            if self._questions.owes:
                self._watch()

    def _check(self, when: float) -> None:
        """Sample a bot that still thinks; if it is overdue, wait a moment before judging it."""
        self._timer = None
        if not self._questions.owes or self._stopped:
            return
        now = self._clock.time()
        if self._due() > when:
            first = self._first_sample is None and self._is_long(now)
            if first or (self._first_sample is not None and self._first_sample[1].uncounted):
                self._sample(now)
            self._watch()
        else:
            self._timer = self._clock.call_at(now + JUDGING_DELAY, self._judge, self._mark)

    def _judge(self, mark: float) -> None:
        """Report a verdict on a bot that was overdue a moment ago, unless it has answered since."""
        self._timer = None
        if not self._questions.owes or self._stopped:
            return
        if self._mark != mark:
            self._watch()
            return
        now = self._clock.time()
        allowed, asleep = sum(self._allowance()), self._clock.stood_still(mark)
        remaining = allowed - self._charged(now)
        if remaining < 0 and not asleep:
            self._verdict(self._overdue())
        elif asleep or now - mark > OVERLOAD * allowed:
            busy = f"no answer in {now - mark:.2f} s, in most of which the machine was busy elsewhere"
            self._verdict(Void(VoidReason.OVERLOAD, busy))
        else:
            when = min(now + remaining, mark + OVERLOAD * allowed) + JUDGING_DELAY
            self._timer = self._clock.call_at(when, self._judge, mark)

    def _overdue(self) -> Fault:
        count = self._choices.rejected
        rejected = f"; choices that were not asked for: {count}" if count else ""
        limit, bank, piece = self._allowance()
        allowed = f"a limit of {limit:.2f} s and {bank:.2f} s left of the bank"
        more = f", and {piece:.2f} s more while there are several matches" if piece else ""
        return Fault(Forfeit.TIMEOUT, f"no answer in {limit + bank + piece:.2f} s: {allowed}{more}{rejected}")


def _mean_limit(answers: Sequence[tuple[BotSeat, int]]) -> float:
    return sum([at.bank.limit for at, _ in answers]) / len(answers)
