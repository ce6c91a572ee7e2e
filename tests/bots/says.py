"""How the template of each language is changed so that the bot logs two lines at each of its decisions in BIRTH."""

from __future__ import annotations

AWK = r"""
    if (value("game") == "birth")
        printf "\036%d:%d one\n\036%d:%d two\n", \
            value("match"), value("decision"), value("match"), value("decision") > "/dev/stderr"
"""
C = r"""            if (is(line, "game", "birth"))
                fprintf(stderr, "\036%ld:%ld one\n\036%ld:%ld two\n", number(line, "match"),
                        number(line, "decision"), number(line, "match"), number(line, "decision"));
"""
GO = "case *arenav1.Decision_Birth:\n"
JAVA = "case BIRTH -> "
RUST = "Some(View::Birth(view)) => "
SAYS: dict[str, tuple[str, dict[str, str]]] = {
    "awk": ("bot.awk", {'    seat = value("seat")\n    options': f'{AWK}    seat = value("seat")\n    options'}),
    "c": ("bot.c", {"            printf(": f"{C}            printf("}),
    "c++": ("bot.cpp", {"kBirth:": r'kBirth: arena::log(decision, "one\ntwo");'}),
    "go": ("bot.go", {GO: f'{GO}\t\tarena.Log(decision, "one\\ntwo")\n'}),
    "java": (
        "src/main/java/bot/Example.java",
        {
            f"{JAVA}birth(decision.getBirth(), legal);": (
                f'{JAVA}{{ Arena.log(decision, "one\\ntwo"); yield birth(decision.getBirth(), legal); }}'
            )
        },
    ),
    "python": ("bot.py", {'case "birth":': 'case "birth":\n                self.log("one\\ntwo")'}),
    "rust": (
        "src/main.rs",
        {
            f"{RUST}birth(view, self.seat, legal),": (
                f'{RUST}{{ decision.log("one\\ntwo"); birth(view, self.seat, legal) }}'
            )
        },
    ),
    "typescript": (
        "src/bot.ts",
        {
            "choose({ view }: Decision": "choose(decision: Decision",
            "    switch (view": "    const { view } = decision;\n    switch (view",
            'case "birth":': r'case "birth": log(decision, "one\ntwo");',
            "type Bot, random": "type Bot, log, random",
        },
    ),
}
"""For each language a file of its template, and what is replaced in it to log two lines at each decision in BIRTH."""
