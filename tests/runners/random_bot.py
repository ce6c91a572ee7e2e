"""A second random bot: it plays like the built-in one, in processes of its own."""

from __future__ import annotations

from arena_bot import Bot, Turn, run


class Second(Bot):
    """Every legal action is as likely as the others."""

    def choose(self, turn: Turn) -> int:
        return self.random.choice(turn.legal)


run(Second)
