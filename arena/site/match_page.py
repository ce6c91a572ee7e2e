"""The page of a match: the viewer where it may be shown, or else what can be said of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from arena.games import UnknownGame
from arena.replay import Unreadable, log_text, unrated_store
from arena.replay import document as documents
from arena.reports.fault_card import fault_card
from arena.reports.leaderboard_report import centre
from arena.reports.match_card import match_card
from arena.reports.match_log_report import match_log
from arena.reports.replay_report import match_replay
from arena.site.cache import Made
from arena.site.page_shell import match_page, parts_of
from arena.site.rendering import render
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database
    from starlette.requests import Request

    from arena.replay.document import Document

_HTML, _JSON = "text/html; charset=utf-8", "application/json"
"""Types of the files in which a match is sent."""


def page(db: Database, request: Request, _: bool) -> Made:
    """Make the page of a match of a ladder."""
    match = store.matches.find(db, request.path_params["match"])
    card = match_card(match, store.journal.titles(db), store.logs.seats(db, match))
    try:
        record = _document(db, match)
    except (Unreadable, UnknownGame) as error:
        return Made(render("match_card.html", card=card, why=_why_not(match, error)))
    before = store.watching.ratings_before(db, match.id, match.line_up) if card.ratings else {}
    middle = (
        centre(store.ratings.leaderboard(db, match.ladder), store.ladders.founders(db, match.ladder))
        if card.ratings
        else 0.0
    )
    printed = store.logs.may_be_shown(db, match)
    faults = [
        list(fault_card(match, seat, is_own=False, printed=printed))
        for seat, outcome in enumerate(match.seats)
        if outcome.forfeit is not None
    ]
    return _viewer(record, _caution(match), card=card, before=before, centre=middle, faults=faults, titles=card.titles)


def _why_not(match: store.Match, error: Exception) -> str:
    """Return why a match is not shown, and when it will be."""
    if match.status == "scheduled":
        return "It is still to be played."
    if match.seed is None:
        return "The rest is shown when every match of its group is done: they share its dice."
    return str(error)


def download(db: Database, request: Request, _: bool) -> Made:
    """Make the page of a match that needs nothing else."""
    match, record = _find(db, request)
    return _file(match_page(match_replay(record, _caution(match))), f"{match.id}.html", _HTML)


def match_document(db: Database, request: Request, _: bool) -> Made:
    """Make the document of a match."""
    match, record = _find(db, request)
    return _file(_json(record), f"{match.id}.json", _JSON)


def find_kept(home: Path, number: str) -> Document:
    """Return a match that `arena match` played and the home keeps. Raises NotFound, Unreadable, Breach and OSError."""
    if not re.fullmatch("[1-9][0-9]{0,8}", number):
        raise store.NotFound(f"no unrated match is called {number[:20]!r}")
    record = unrated_store.find_match(home, f"unrated-{number}")
    documents.check_document(record)
    return record


def kept_page(record: Document) -> Made:
    """Make the page of a match of no ladder."""
    return _viewer(record, "", card=None, before={}, centre=0.0, faults=[], titles={})


def download_kept(record: Document) -> Made:
    """Make the page of a match of no ladder that needs nothing else."""
    return _file(match_page(match_replay(record)), f"{record.match}.html", _HTML)


def document_kept(record: Document) -> Made:
    """Make the document of a match of no ladder."""
    return _file(_json(record), f"{record.match}.json", _JSON)


def log_page(db: Database, request: Request, _: bool) -> Made:
    """Make the page of what a bot printed in a match."""
    match, number = store.matches.find(db, request.path_params["match"]), request.path_params["seat"]
    if number not in map(str, range(len(match.line_up))):
        raise store.NotFound(f"match {match.id} has the seats 0 to {len(match.line_up) - 1}")
    seat = int(number)
    return Made(render("log.html", log=match_log(match, seat, store.logs.printed(db, match, seat))))


def _viewer(record: Document, caution: str, **values: Any) -> Made:
    parts = parts_of(match_replay(record, caution))
    address = f"/match/{record.match}" if record.ladder else f"/unrated/{record.match.partition('-')[2]}"
    files = {"scripts": parts.scripts, "styles": parts.styles}
    return Made(render("served_match.html", **parts.values, **files, address=address, **values))


def _find(db: Database, request: Request) -> tuple[store.Match, Document]:
    match = store.matches.find(db, request.path_params["match"])
    return match, _document(db, match)


def _document(db: Database, match: store.Match) -> Document:
    """Return a match as a document, with what bots printed if that may be shown. Raises Unreadable and Breach."""
    record = documents.document(match, _printed(db, match))
    documents.check_document(record)
    return record


def _printed(db: Database, match: store.Match) -> documents.Logs:
    try:
        return log_text.of_match(db, match)
    except Unreadable:
        return ()


def _caution(match: store.Match) -> str:
    return f"this match does not count: annulled {match.annulled.account}" if match.annulled else ""


def _json(record: Document) -> str:
    return msgspec.json.format(msgspec.json.encode(record), indent=0).decode()


def _file(text: str, name: str, media_type: str) -> Made:
    """Return a file that browsers store under this name."""
    return Made(text, media_type=media_type, more={"Content-Disposition": f'attachment; filename="{name}"'})
