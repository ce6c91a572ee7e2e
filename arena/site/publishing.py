"""The site of a home as a folder of files, for any web server or for none.

The functions that make the pages of the site make them here, too. From the front on, whatever a page leads to becomes a
file, if it can do without a server; other links become plain text.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from starlette.requests import Request
from starlette.routing import compile_path

from arena import games
from arena.games import UnknownGame
from arena.replay import Breach, Unreadable
from arena.reports.matches_report import selected
from arena.reports.publish_report import Published
from arena.site import bot_page, docs, front_page, ladder_page, match_page
from arena.site.answers import without_path
from arena.site.cache import Made
from arena.site.page_shell import STATIC, brought_board
from arena.site.published_folder import Note, PublishedFolder, open_folder
from arena.site.rendering import render
from arena.site.static_page import static_page
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

_PACKAGE = Path(__file__).parent.parent
"""The folder of the package `arena`."""
_FRONT = "/"
"""Address of the front page, from which links lead to the others."""

Make: TypeAlias = "Callable[[Database, Request, bool], Made | bytes]"
"""Function that makes a page from the database, or reads a file that is no page."""
PublishingProgress: TypeAlias = Callable[[int, int], None]
"""Function that is told how many files are done, and how many there will be as far as is known."""


class Kind(NamedTuple):
    """A kind of address of the site, the file that it becomes, and what makes that."""

    address: str
    file: str
    make: Make


class FoundPages(NamedTuple):
    """An address of the site that becomes a file."""

    file: str
    make: Make
    parameters: Mapping[str, str]
    """What stands in the place of the braces, by name."""


def kinds(most: int) -> Sequence[Kind]:
    """Return the kinds of addresses that become files, if at most so many matches of each ladder do."""
    return (
        Kind(_FRONT, "index.html", front_page.page),
        Kind("/ladder/{ladder}", "ladder/{ladder}.html", partial(ladder_page.page, size=sys.maxsize)),
        Kind("/ladder/{ladder}/seats", "ladder/{ladder}/seats.html", ladder_page.seats_page),
        Kind("/ladder/{ladder}/matches", "ladder/{ladder}/matches.html", partial(ladder_page.matches_page, most=most)),
        Kind("/bot/{bot}", "bot/{bot}.html", bot_page.page),
        Kind("/match/{match}", "match/{match}.html", match_page.page),
        Kind("/match/{match}.json", "match/{match}.json", match_page.match_document),
        Kind("/match/{match}/log/{seat}", "match/{match}/log/{seat}.html", match_page.log_page),
        Kind("/docs/", "docs/index.html", lambda _, __, ___: Made(docs.text(""))),
        Kind("/docs/{page:path}.md", "docs/{page}.html", _docs),
        Kind("/docs/pictures/{picture}", "docs/pictures/{picture}", _picture),
        Kind("/boards/{board}.js", "boards/{board}.js", _board),
        Kind("/static/{static:path}", "static/{static}", _static),
    )


def publish_site(
    home: Path, target: Path, most: int, report: PublishingProgress = lambda _count, _total: None
) -> Published:
    """Publish the site of a home, as it is at one moment, with at most so many matches of each ladder.

    Raises StoreError, also if there is no home, and CannotPublish.
    """
    with (
        store.database.one_line(home / "arena.db"),
        store.open_read(home, must_exist=True) as db,
        store.database.one_state(db),
        open_folder(target) as folder,
    ):
        _Site(db, home, folder, most).publish(report)
        folder.remove_others()
    return Published(
        open=str(target / "index.html"), files=len(folder.now), written=folder.written, removed=folder.removed
    )


class _Site:
    """A site while it becomes files."""

    def __init__(self, db: Database, home: Path, folder: PublishedFolder, most: int) -> None:
        self._db = db
        self._home = home
        self._folder = folder
        self._kinds = [(compile_path(kind.address)[0], kind) for kind in kinds(most)]
        self._held: list[tuple[Note, bytes]] = []
        """Pages that lead to others, in the order in which they were found; those of matches are too many to hold."""
        self._annulled = {*_annulled(db, folder.before)}
        self._parameters = _parameters(db, most)
        self._parameters["match"] |= self._annulled
        self._find = cache(lambda address: next(self._ways(address), None))
        titles = store.journal.titles(db)
        self._made_of = cache(lambda id: _digest(db, id, titles))

    def publish(self, report: PublishingProgress) -> None:
        """Make all that can be reached from the front, and matches that were annulled since they were published.

        Nobody is led to what is not there yet: new pages come first, then those that were there and lead to them, the
        front last.
        """
        queue = deque([_FRONT, *(f"/match/{id}" for id in self._annulled)])
        addresses = {*queue}
        while queue:
            new = [address for address in self._put(queue.popleft()) if address not in addresses]
            addresses.update(new)
            queue.extend(new)
            report(len(addresses) - len(queue) - len(self._held), len(addresses))
        self._held.reverse()  # the front was the first
        self._held.sort(key=lambda held: held[0].file in self._folder.before)
        while self._held:
            self._folder.put(*self._held.pop(0))
            report(len(addresses) - len(self._held), len(addresses))

    def _put(self, address: str) -> Sequence[str]:
        """Put the file of an address into the folder, or hold it back; return to which other ones it leads."""
        pages = self._find(address)
        assert pages is not None, f"{address} becomes no file"
        made_of = self._made_of(pages.parameters["match"]) if "match" in pages.parameters else ""
        note_kept = self._folder.keep(pages.file, made_of) if made_of else None
        if note_kept and all(map(self._find, note_kept.leads_to)):
            return note_kept.leads_to
        content, leads_to = self._content(address, pages)
        note = Note(pages.file, made_of, leads_to)
        if leads_to and not made_of:
            self._held.append((note, content))
        else:
            self._folder.put(note, content)
        return leads_to

    def _content(self, address: str, pages: FoundPages) -> tuple[bytes, tuple[str, ...]]:
        """Return the content of a file, and to which addresses it leads."""
        request = Request({"type": "http", "path_params": pages.parameters, "query_string": b"", "headers": []})
        try:
            answer = pages.make(self._db, request, False)
        except (store.NotFound, Unreadable, Breach, UnknownGame) as error:
            answer = Made(render("error.html", head="This cannot be shown", text=without_path(error, self._home)))
        if isinstance(answer, bytes):
            return answer, ()
        if not answer.media_type.startswith("text/html"):
            return answer.text.encode(), ()
        page = static_page(answer.text, address, self._file)
        return page.text.encode(errors="backslashreplace"), page.leads_to

    def _file(self, address: str) -> str | None:
        pages = self._find(address)
        return pages and pages.file

    def _ways(self, address: str) -> Iterator[FoundPages]:
        for pattern, kind in self._kinds:
            if fits := pattern.match(address):
                parameters = fits.groupdict()
                if all(value in self._parameters[name] for name, value in parameters.items()):
                    yield FoundPages(kind.file.format(**parameters), kind.make, parameters)


def _parameters(db: Database, most: int) -> dict[str, set[str]]:
    """Return what may stand in the place of the braces, by name: no other address becomes a file."""
    ladders = [ladder for ladder in store.ladders.all(db) if ladder.key.game in games.names()]
    return {
        "ladder": {ladder.id for ladder in ladders},
        "bot": {version.label for version in store.bots.versions(db)},
        "match": {id for ladder in ladders for id in selected(db, ladder, most).ids},
        "seat": {str(seat) for ladder in ladders for seat in range(ladder.key.seats)},
        "page": {name.removesuffix(".md") for name in docs.pages()},
        "picture": {path.name for path in docs.PICTURES.glob("*.png")},
        "board": {name for name in games.names() if games.game(name).board},
        "static": {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.*")},
    }


def _annulled(db: Database, before: Collection[str]) -> Iterator[str]:
    """Yield the matches, of those among files, that are annulled: whoever has a link to one should read that there."""
    for file in map(Path, before):
        if file.parent == Path("match") and file.suffix == ".html":
            try:
                if store.matches.find(db, file.stem).annulled:
                    yield file.stem
            except store.NotFound:  # it is of another home
                continue


def _digest(db: Database, match_id: str, titles: Mapping[str, str]) -> str:
    """Return a digest of all that the pages of a match are made of.

    Ratings before the match are not in it: where they change, those after it do.
    """
    match = store.matches.find(db, match_id)
    logged = store.logs.seats(db, match)
    printed = [store.logs.printed(db, match, seat) for seat in logged] if store.logs.may_be_shown(db, match) else None
    named = [titles.get(label.partition("@")[0]) for label in match.line_up]
    parts = (
        arena_digest(),
        brought_board(match.ladder.key.game),
        match._asdict() | {"ladder": match.ladder.id},
        named,
        logged,
        printed,
    )
    return sha256(repr(parts).encode()).hexdigest()


@cache
def arena_digest() -> str:
    """Return a digest of the arena's own files: another version of it may show the same match in another way."""
    packages = (_PACKAGE, _PACKAGE.with_name("ladder"))
    files = [path for package in packages for path in sorted(package.rglob("*.*")) if path.suffix != ".pyc"]
    return sha256(b"".join(sha256(path.read_bytes()).digest() for path in files if path.is_file())).hexdigest()


def _docs(_: Database, request: Request, __: bool) -> Made:
    return Made(docs.text(f"{request.path_params['page']}.md"))


def _picture(_: Database, request: Request, __: bool) -> bytes:
    return (docs.PICTURES / str(request.path_params["picture"])).read_bytes()


def _board(_: Database, request: Request, __: bool) -> bytes:
    return brought_board(request.path_params["board"]).encode()


def _static(_: Database, request: Request, __: bool) -> bytes:
    return (STATIC / str(request.path_params["static"])).read_bytes()
