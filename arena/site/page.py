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

from arena.reports.replay import MatchReplay
from arena.site.patches import patch
from arena.site.rendering import render

STATIC = Path(__file__).with_name("static")


class Parts(NamedTuple):
    """The files, in `STATIC`, that the page of a match needs, in their order, and what it shows."""

    scripts: Sequence[str]
    styles: Sequence[str]
    shown: Mapping[str, Any]


def match_page(shown: MatchReplay) -> str:
    """Return the page of a match as HTML. What bots and files say is shown as text, whatever it is."""
    parts = parts_of(shown)
    scripts = [_static(name) for name in parts.scripts]
    style = "".join(map(_static, parts.styles))
    return render(
        "match.html",
        **parts.shown,
        policy=_policy(scripts, style),
        style=Markup(style),
        scripts=[Markup(script) for script in scripts],
    )


def parts_of(shown: MatchReplay) -> Parts:
    """Return what the page of a match is made of."""
    board = _boards().get(shown.game)
    given = {
        "match": shown,
        "by_place": sorted(range(len(shown.bots)), key=shown.ranks.__getitem__),
        "finished": shown.finished and datetime.fromtimestamp(shown.finished, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "data": Markup(_data(shown, "view" if board else "picture")),
    }
    scripts = ["dice.js", "boards/svg.js", *([board] if board else []), "viewer.js"]
    return Parts(scripts, ["viewer.css", *(["boards.css"] if board else [])], given)


@cache
def _static(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


@cache
def _boards() -> Mapping[str, str]:
    """Return the scripts that draw the boards of games, by the game's name; other games are shown as pictures."""
    files = [path.name for path in (STATIC / "boards").glob("*.js") if path.name != "svg.js"]
    return {name.removesuffix(".js").replace("_", "-"): f"boards/{name}" for name in files}


def _policy(scripts: Sequence[str], style: str) -> str:
    """Return a Content-Security-Policy that allows these scripts and this style, and nothing from anywhere else."""
    allowed = " ".join(map(_hashed, scripts))
    ours = f"script-src {allowed}; style-src {_hashed(style)}; img-src data:"
    return f"default-src 'none'; {ours}; base-uri 'none'; form-action 'none'"


def _hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(shown: MatchReplay, drawn: str) -> str:
    """Return what the viewer reads: the report, with each step but the first as a patch of the one before.

    Of the steps' `view` and `picture` only the one that is drawn is there. No text in it can end the script element.
    """
    report: dict[str, Any] = msgspec.to_builtins(shown)
    left_out = {"view", "picture"} - {drawn}
    steps = [{name: value for name, value in step.items() if name not in left_out} for step in report["steps"]]
    report["steps"] = [steps[0], *(patch(before, after) for before, after in pairwise(steps))]
    return msgspec.json.encode(report).decode().replace("<", "\\u003c")
