"""Write a bot for the arena: derive a class from `Bot`, define `choose`, call `run`.

    from arena_bot import Bot, run

    class Mine(Bot):
        def choose(self, turn):
            return self.random.choice(turn.legal)

    run(Mine)

Everything else is optional; `arena_bot.bot` describes it.
"""

from arena_bot.bot import Bot, Turn
from arena_bot.main import run

__all__ = ["Bot", "Turn", "run"]
