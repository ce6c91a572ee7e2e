"""How the template of each language is changed so that the bot logs two lines at each of its decisions."""

from __future__ import annotations

AWK = r"""
    printf "\036%d:%d one\n\036%d:%d two\n", value("match"), value("decision"), value("match"), value("decision") \
        > "/dev/stderr"
"""
C = r"""
    fprintf(stderr, "\036%ld:%ld one\n", number(line, "match"), number(line, "decision"));
    fprintf(stderr, "\036%ld:%ld two\n", number(line, "match"), number(line, "decision"));
"""
SAYS: dict[str, tuple[str, dict[str, str]]] = {
    "awk": ("bot.awk", {'    seat = value("seat")\n    options': f'{AWK}    seat = value("seat")\n    options'}),
    "c": ("bot.c", {"            printf(": f"{C}            printf("}),
    "c++": ("bot.cpp", {"    switch (": r'    arena::log(decision, "one\ntwo"); switch ('}),
    "go": ("bot.go", {"\tswitch view": '\tarena.Log(decision, "one\\ntwo")\n\tswitch view'}),
    "java": (
        "src/main/java/bot/Example.java",
        {"return switch (dec": r'Arena.log(decision, "one\ntwo"); return switch (dec'},
    ),
    "python": ("bot.py", {"        match self.game": '        self.log("one\\ntwo")\n        match self.game'}),
    "rust": ("src/main.rs", {"match &decision": r'decision.log("one\ntwo"); match &decision'}),
    "typescript": (
        "src/bot.ts",
        {
            "choose({ view }: Decision": "choose(decision: Decision",
            "    switch (view": r'    const { view } = decision; log(decision, "one\ntwo"); switch (view',
            "type Bot, random": "type Bot, log, random",
        },
    ),
}
"""For each language a file of its template, and what is replaced in it to log two lines at each decision."""
