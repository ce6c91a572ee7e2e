"""Which report each command prints with --json: for the reference, and for the tests of what is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from arena.replay.document import Document
from arena.reports.bench_report import Bench
from arena.reports.bot_card import BotCard
from arena.reports.bots_report import Bots, BuiltInCard, NewBot
from arena.reports.check_report import Check, Submission, Submissions
from arena.reports.compare_report import Comparison
from arena.reports.corrections_report import Corrected, CorrectionLine, CorrectionsLog
from arena.reports.debug_report import Debug
from arena.reports.games_report import Games
from arena.reports.leaderboard_report import LadderRun, Leaderboard, NoLeaderboard
from arena.reports.machine_report import ClusterState, Doctor, Selftest
from arena.reports.match_card import MatchCard
from arena.reports.match_log_report import MatchLog
from arena.reports.match_report import UnratedMatches
from arena.reports.publish_report import Published
from arena.reports.verify_report import Verified

REPORTS: Mapping[str, Sequence[type[msgspec.Struct]]] = {
    "games": [Games],
    "new BOT": [NewBot],
    "bots": [Bots],
    "leaderboard": [Leaderboard, NoLeaderboard],
    "ladder": [LadderRun],
    "compare BOT BOT": [Comparison],
    "match BOT BOT": [UnratedMatches],
    "show BOT": [BotCard, BuiltInCard],
    "show MATCH": [MatchCard],
    "show MATCH --log SEAT": [MatchLog],
    "replay MATCH": [Document],
    "annul MATCH": [Corrected],
    "ban BOT": [Corrected],
    "rename BOT NAME": [CorrectionLine],
    "log": [CorrectionsLog],
    "submit BOT": [Submission],
    "submit BOT BOT": [Submissions],
    "check BOT": [Check],
    "debug MATCH BOT": [Debug],
    "verify": [Verified],
    "doctor": [Doctor],
    "doctor --cluster ADDRESS": [ClusterState],
    "publish DIR": [Published],
    "selftest": [Selftest],
    "bench": [Bench],
}
"""What every command that takes --json prints with it; the second is printed where there is nothing to report."""
