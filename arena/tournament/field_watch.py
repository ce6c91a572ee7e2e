"""Who plays in a run: bots that come or are retired meanwhile, and those that use their second chance."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from arena.sandbox import NoSandbox
from arena.submission import BadSubmission
from arena.tournament.worker_pool import Workers
from arena.worker.jobs import Entrant, Trouble
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

NEWS = 1.0
"""Seconds between two checks whether a bot has come or was retired, at least; a few would do, as somebody waits."""


class FieldWatch:
    """Tells the workers what the store knows of the bots of a run, and the store what the workers find out."""

    def __init__(
        self,
        db: Database,
        ladder: store.Ladder,
        workers: Workers,
        entrant: Callable[[str], Entrant],
        *,
        choose: Callable[[], Sequence[str]],
        since: float,
    ) -> None:
        """Watch for retirements later than `since`, when the field was chosen, in seconds since 1970.

        `choose` returns the field, by name or label, as it is to be now. `entrant` raises BadSubmission and NoSandbox
        for a bot that cannot play.
        """
        self.playing: set[str] = set()
        """Labels of all bots that may play, or might before they were retired."""
        self.chances: list[tuple[str, str]] = []
        """Labels of bots that used their second chance during the run, each with what had happened."""
        self.retired: set[str] = set()
        """Labels of bots that were retired during the run."""
        self._db = db
        self._ladder = ladder
        self._workers = workers
        self._entrant = entrant
        self._choose = choose
        self.field: list[str] = []
        """Labels of who plays from now on; see `choose_field`."""
        self.has_newcomers = False
        """Whether bots have come that are not in the field yet."""
        self.left_out: dict[str, str] = {}
        """By label, why a bot that came meanwhile cannot play."""
        self._seen = store.database.changes(db)
        """What others had written when the field was last looked at."""
        self._labels: dict[str, set[str]] = {}
        """By digest, the labels of the bots that have it and were not said to have used their chance."""
        self._retirements = {label: when for label, when in store.retirement.retirements(db).items() if when <= since}
        self._looked = time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether it is time to look for retirements again."""
        return time.monotonic() - self._looked > NEWS

    def choose_field(self) -> None:
        """Choose the field anew: who has come plays, unless it cannot be started; who went does not."""
        self.has_newcomers = False
        chosen = [label for label in self._chosen() if label not in self.retired]
        new = [label for label in chosen if label not in self.playing and label not in self.left_out]
        self.know([entrant for label in new if (entrant := self._able(label)) is not None])
        self.field = [label for label in chosen if label in self.playing]

    def _chosen(self) -> list[str]:
        self._seen = store.database.changes(self._db)
        return [store.bots.find(self._db, name).label for name in self._choose()]

    def _able(self, label: str) -> Entrant | None:
        try:
            return self._entrant(label)
        except (BadSubmission, NoSandbox) as error:
            self.left_out[label] = str(error)
            return None

    def look_for_newcomers(self) -> None:
        """See whether others have entered bots that belong to the field."""
        if store.database.changes(self._db) != self._seen:
            self.has_newcomers = not {*self._chosen()} <= self.playing | self.left_out.keys()

    def know(self, entrants: Iterable[Entrant]) -> None:
        """Add bots that may play; those that used their second chance in an earlier run have none left."""
        used, chances = store.chances.by_label(self._db, self._ladder), {}
        for entrant in entrants:
            self._labels.setdefault(entrant.digest, set()).add(entrant.label)
            self.playing.add(entrant.label)
            if entrant.label in used:
                chances[entrant.digest] = used[entrant.label]
        self._workers.learn(Trouble(chances=chances))

    def drop_retired(self) -> bool:
        """Drop the matches of bots that somebody has retired meanwhile; return whether there are such bots."""
        now = store.retirement.retirements(self._db)
        new = [label for label in now.keys() & self.playing if self._retirements.get(label) != now[label]]
        self._retirements, self._looked = now, time.monotonic()
        if new:
            store.retirement.drop(self._db, new)  # again: more may have been planned since they were retired
            self._workers.learn(Trouble(retired=frozenset(new)))
            self.retired.update(new)
        return bool(new)

    def keep_chances(self) -> None:
        """Store which bots have used their second chance, before any of their matches is played again."""
        for digest, evidence in self._workers.trouble.chances.items():
            for label in sorted(self._labels.pop(digest, ())):
                if store.chances.use(self._db, self._ladder, label, evidence):
                    self.chances.append((label, str(evidence["detail"])))
