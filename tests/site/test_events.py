"""Pages hear that something changed, many of them for little."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from starlette.requests import Request

from arena.site.events import Watch
from arena.site.home_reader import Home, SeenState
from ladder import store
from tests.cli.conftest import make_home


class Counted(Home):
    """A home that counts how often it was looked at."""

    looks = 0

    def look_now(self) -> SeenState:
        self.looks += 1
        return super().look_now()


async def stream(watch: Watch, ladder: str = "", known: str = "") -> AsyncIterator[str]:
    """A stream of events, asked for by a browser that had seen an event before."""
    headers = [(b"last-event-id", known.encode())] if known else []
    answer = await watch.stream(Request({"type": "http", "method": "GET", "headers": headers}), ladder)
    return answer.body_iterator  # type: ignore[return-value]


def change(home: Path) -> str:
    """Change the ladder of a home; return its id."""
    with store.open(home) as db:
        (ladder,) = store.ladders.all(db)
        store.matches.record(db, ladder, [])
        return ladder.id


async def test_a_change_is_told_to_every_stream_by_one_watcher(tmp_path: Path) -> None:
    """Two hundred pages cost as much as one: the home is looked at once for all of them."""
    make_home(tmp_path)
    home = Counted(tmp_path, look=0.05)
    watch = Watch(home, look=0.05)
    streams = [await stream(watch) for _ in range(200)]
    await asyncio.gather(*(anext(each) for each in streams))
    waiting = [asyncio.ensure_future(anext(each)) for each in streams]
    await asyncio.to_thread(change, tmp_path)
    begun = time.monotonic()
    told = await asyncio.wait_for(asyncio.gather(*waiting), 20)
    assert all("data: changed" in each for each in told)
    assert home.looks < 100 + (time.monotonic() - begun) / 0.05
    watch.close()
    home.close()


async def test_a_reader_that_was_away_hears_what_it_missed(tmp_path: Path) -> None:
    """The browser says which event it had last."""
    make_home(tmp_path)
    home = Home(tmp_path, look=0.0)
    watch = Watch(home, look=0.05)
    ladder = await asyncio.to_thread(change, tmp_path)
    back = await stream(watch, ladder, known="an older state")
    await anext(back)
    assert "data: changed" in await asyncio.wait_for(anext(back), 20)
    watch.close()
    home.close()


class Slow(Home):
    """A home in which something happens while a stream looks at it, once."""

    meanwhile: Callable[[], object] | None = None

    async def state(self) -> SeenState:
        seen = await super().state()
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()
        return seen


async def test_a_stream_that_looks_just_when_the_site_ends_ends_with_it(tmp_path: Path) -> None:
    """It used to wait for the next news, of which there are none, until the server lost its patience."""
    home = Slow(tmp_path, look=0.05)
    watch = Watch(home, look=20.0)
    one = await stream(watch)
    await anext(one)
    await asyncio.sleep(0)  # the watcher has had its first look, and sleeps
    home.meanwhile = watch.close
    assert await asyncio.wait_for(anext(one, "ended"), 10) == "ended"
    home.close()


async def test_streams_end_with_the_site(tmp_path: Path) -> None:
    """Or each would hold its end until the reader goes."""
    home = Home(tmp_path, look=0.05)
    watch = Watch(home, look=0.05)
    one = await stream(watch)
    await anext(one)
    waiting = asyncio.ensure_future(anext(one, "ended"))
    await asyncio.sleep(0)
    watch.close()
    assert await asyncio.wait_for(waiting, 20) == "ended"
    home.close()
