"""The four boards of Buttons: front and back, six rows of six colours each.

These sides are our own: the printed ones are pictures that we have not seen. Known about the printed ones is only that
all eight differ and that their 36 buttons have four colours. Ours have nine cells of each colour, one or two of each in
every row and column. The option `boards` replaces them.
"""

from __future__ import annotations

import re
from reprlib import repr as short
from typing import Any

from arena.games.rules import BadOption

BOARDS = [
    ["RGBYRG RGGBYY YYBGRB GYYRBR BRRYGB BBGRGY", "RYGBRG RYYGBB BBYRYG GRBGYR GBRBGY YGBYRR"],
    ["YYBBRG YBRYBG RYYGGB GRBRBY GGRBYR BRGRGY", "GYGBBR YBGRYB RGBGBY BRYYRG YRBGYR GYRRGB"],
    ["YGYBRB BRGGYR RBBYRG RGYYBG BRRGGY GYBRBY", "RBGGBY YRGGBB GRBRYY BGYYRR GYRBGB YBYRRG"],
    ["YYBGRG BYYGBR GRYRBB BBGRGY RGRBYG RGRYYB", "BRRGYY RYGBGB GBRBYR BYYRGG YGBYRR YRBGBG"],
]
"""Each board as its front and its back; a side is six rows, a colour's letter for each cell."""


def check_boards(boards: Any) -> None:
    """Raise BadOption unless `boards` is four pairs of sides; spaces in a side are ignored."""
    if not _is_list(boards, 4):
        raise BadOption(f"option 'boards' is a list of four boards, not {short(boards):.80}")
    for board in boards:
        if not _is_list(board, 2):
            raise BadOption(f"option 'boards': a board is a list of its front and its back, not {short(board):.80}")
        for side in board:
            if not isinstance(side, str) or not re.fullmatch(r"(?: *[RBYG]){36} *", side):
                raise BadOption(f"option 'boards': a side is 36 of the letters RBYG, not {short(side):.80}")


def _is_list(value: Any, length: int) -> bool:
    return isinstance(value, list | tuple) and len(value) == length
