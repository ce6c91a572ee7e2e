"""All commands: where each is, and what it is for. A new command has a line here, and a module beside this one."""

from __future__ import annotations

from arena.terminal.command_group import Command

COMMANDS = {
    "games": Command("arena.cli.games", "List the games and the options of each."),
    "bots": Command("arena.cli.bots", "List the built-in and the submitted bots."),
    "new": Command("arena.cli.new", "Make a folder with a bot to begin with."),
    "submit": Command("arena.cli.submit", "Enter a bot, if it passes its qualification, or many."),
    "check": Command("arena.cli.check", "Check a bot under the conditions of a ladder."),
    "retire": Command("arena.cli.bots", "Take bots, or single versions of them, out of ladders."),
    "annul": Command("arena.cli.corrections", "Let a match, or those of a bot, no longer count."),
    "ban": Command("arena.cli.corrections", "Take a bot out for good, and annul its matches."),
    "rename": Command("arena.cli.corrections", "Show a bot under another name."),
    "log": Command("arena.cli.corrections", "Show who changed what by hand, when and why."),
    "match": Command("arena.cli.match", "Play bots against each other, unrated, in the order given."),
    "play": Command("arena.cli.play", "Play against bots yourself, in the terminal or in a browser."),
    "ladder": Command("arena.cli.ladder", "Play the missing matches of a ladder, then show who leads."),
    "leaderboard": Command("arena.cli.leaderboard", "Show who is best, and how sure that is."),
    "serve": Command("arena.cli.serve", "Show ladders, bots and matches in a browser, until Ctrl-C."),
    "publish": Command("arena.cli.publish", "Write the site of `arena serve` as files into DIR."),
    "compare": Command("arena.cli.compare", "Find out whether bot A is better than B."),
    "show": Command("arena.cli.show", "Show what happened in a match, or how a bot did."),
    "debug": Command("arena.cli.debug", "Ask another build of a bot what it was asked in a match."),
    "replay": Command("arena.cli.replay", "Show a match step by step: board, dice, choices and times."),
    "verify": Command("arena.cli.verify", "Check everything that is stored."),
    "export": Command("arena.cli.data", "Print stored results as a table for other programs."),
    "backup": Command("arena.cli.data", "Copy a home to DIR: its database, and the programs of all bots."),
    "restore": Command("arena.cli.data", "Make a home from DIR, which `arena backup` made."),
    "doctor": Command("arena.cli.doctor", "Say what confines bots here, and what plays their matches."),
    "selftest": Command("arena.cli.selftest", "Test the sandbox with attacks like those of a hostile bot."),
    "bench": Command("arena.bench.command", "Measure how fast this arena is on this machine."),
    "completion": Command("arena.cli.completion", "Print a shell script that completes commands and options."),
}
"""The commands, in the order in which the help lists them."""
