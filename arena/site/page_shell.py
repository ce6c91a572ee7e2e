"""The page that shows one match: a single file that needs nothing else, neither a server nor the network."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from arena import games
from arena.reports.replay_report import MatchReplay
from arena.site.patches import patch
from arena.site.rendering import render

STATIC = Path(__file__).with_name("static")
"""The folder of scripts, styles and pictures."""
_BOARDS = "/boards/"
"""Where the site has the boards that games of other packages bring."""


class Parts(NamedTuple):
    """What the page of a match needs: the addresses of its scripts and styles, in their order, and what it shows."""

    scripts: Sequence[str]
    styles: Sequence[str]
    values: Mapping[str, Any]


def match_page(replay: MatchReplay) -> str:
    """Return the page of a match as HTML. What bots and files say is shown as text, whatever it is."""
    parts = parts_of(replay)
    scripts = [static_text(address) for address in parts.scripts]
    style = "".join(map(static_text, parts.styles))
    return render(
        "match.html",
        **parts.values,
        policy=policy(scripts, style),
        style=Markup(style),
        scripts=[Markup(script) for script in scripts],
    )


def parts_of(replay: MatchReplay) -> Parts:
    """Return what the page of a match is made of."""
    board = _board(replay.game)
    values = {
        "match": replay,
        "by_place": sorted(range(len(replay.bots)), key=replay.ranks.__getitem__),
        "finished": replay.finished and datetime.fromtimestamp(replay.finished, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "limits": next(filter(None, replay.limits), None),  # all seats that have limits have the same
        "data": Markup(_data(replay, "view" if board else "picture")),
    }
    scripts = ["/static/dice.js", *step_scripts(replay.game), "/static/viewer.js"]
    return Parts(scripts, ["/static/viewer.css", *(["/static/boards.css"] if board else [])], values)


def step_scripts(game: str) -> Sequence[str]:
    """Return the addresses of the scripts that show the steps of a game; one without a board is shown by pictures."""
    board = _board(game)
    return ["/static/boards/svg.js", *([board] if board else []), "/static/told.js"]


def brought_board(name: str) -> str:
    """Return the script that a game of another package brings to draw its board; empty if there is none."""
    return games.game(name).board if name in games.names() else ""


def _board(name: str) -> str | None:
    """Return the address of the script that draws the board of a game, if there is one."""
    ours = f"boards/{name.replace('-', '_')}.js"
    if (STATIC / ours).exists():
        return f"/static/{ours}"
    return f"{_BOARDS}{name}.js" if games.game(name).board else None


def static_text(address: str) -> str:
    """Return the text of a script or style by its address in the site."""
    if address.startswith(_BOARDS):
        return games.game(address.removeprefix(_BOARDS).removesuffix(".js")).board
    return _static(address.removeprefix("/static/"))


@cache
def _static(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


def policy(scripts: Sequence[str], style: str) -> str:
    """Return a Content-Security-Policy that allows these scripts and this style, and nothing from anywhere else."""
    allowed = " ".join(map(_hashed, scripts)) or "'none'"
    ours = f"script-src {allowed}; style-src {_hashed(style)}; img-src data:"
    return f"default-src 'none'; {ours}; base-uri 'none'; form-action 'none'"


def _hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(replay: MatchReplay, drawn: str) -> str:
    """Return what the viewer reads: the report, with each step but the first as a patch of the one before.

    Of the steps' `view` and `picture` only the one that is drawn is there. No text in it can end the script element.
    """
    report: dict[str, Any] = msgspec.to_builtins(replay)
    left_out = {"view", "picture"} - {drawn}
    steps = [{name: value for name, value in step.items() if name not in left_out} for step in report["steps"]]
    report["steps"] = [steps[0], *(patch(before, after) for before, after in pairwise(steps))]
    return msgspec.json.encode(report).decode().replace("<", "\\u003c")
