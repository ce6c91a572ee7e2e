"""What an author can do about a fault."""

from __future__ import annotations

from arena.match import Forfeit

ADVICE = {
    Forfeit.TIMEOUT: "think less: `turn.bank` says what is left beside the limit of a decision; look for endless loops",
    Forfeit.ILLEGAL: "choose from `turn.legal`, the legal actions of this very decision",
    Forfeit.CRASH: "see what it printed; `arena match attach: random --game GAME` runs it in your terminal or debugger",
    Forfeit.OOM: "use less memory, or ask for more: `memory_mib` in `[limits]` of bot.toml",
    Forfeit.PROTOCOL: "answer what is asked, once, with its own match and decision number: see docs/protocol.md",
    Forfeit.FLOOD: "send one frame of answers for each frame of decisions, and read what comes",
    Forfeit.OUTPUT: "print less",
    Forfeit.START: "does it run by itself? It has to dial ARENA_ADDR and say Hello with ARENA_TOKEN, and go on running",
}
"""By the reason of a forfeit."""
