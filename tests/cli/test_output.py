"""What people see while they wait, and what terminals are kept from."""

from __future__ import annotations

import pytest

from arena.cli import output


def test_what_could_move_the_cursor_is_escaped() -> None:
    """Colours, bells, line breaks and letters that turn the direction of writing; nothing else is touched."""
    assert output.printable("a\x1b[31m\x07\r\n\u202eb") == r"a\x1b[31m\x07\r\n\u202eb"
    assert output.printable("größer – 3 × 4′") == "größer – 3 × 4′"


def test_a_log_has_a_line_of_progress_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no terminal a bar would be a mess, and silence for hours a worry."""
    monkeypatch.setattr(output, "LOG_SECONDS", 0.0)
    with output.progress("BIRTH, 2 players") as report:
        report(1500, 3000)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("BIRTH, 2 players: 1,500 of 3,000 matches, ")
    assert said.err.endswith("/s, 0 s left\n")


def test_what_is_over_soon_leaves_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Most commands say just their result."""
    with output.progress("BIRTH, 2 players") as report:
        report(1, 3)
    assert capsys.readouterr() == ("", "")


def test_json_is_plain_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    """A bot may print what is no character at all, and no terminal's encoding may end a command."""
    output.print_json({"output": "\udcff ü"})
    assert capsys.readouterr().out == '{\n  "output": "\\udcff \\u00fc"\n}\n'
