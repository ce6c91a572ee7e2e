"""What may be unpacked: an archive of each bad kind is refused by name, and nothing of it lies anywhere else."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import random
import stat
import subprocess
import sys
import tarfile
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.submission import MAX_BYTES, MAX_FILES, BadSubmission
from arena.submission.archive import READERS
from arena.submission.intake import take_in

if sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

MANIFEST = b'run = ["python", "bot.py"]\n'
INFLATED: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": gzip.compress,
    ".tgz": gzip.compress,
    ".tar.xz": lzma.compress,
    ".tar.zst": zstd.compress,
}
"""How each kind of tar file is made from a plain one."""
Member = tuple[tarfile.TarInfo, bytes]


def pack(path: Path, *members: Member) -> Path:
    """A tar file of these."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return squeeze(path, plain.getvalue())


def squeeze(path: Path, plain: bytes) -> Path:
    """A tar file of the kind that its name says."""
    path.write_bytes(next(how for ending, how in INFLATED.items() if path.name.endswith(ending))(plain))
    return path


def file(name: str, content: bytes = b"", *, mode: int = 0o644) -> Member:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    return info, content


def special(name: str, kind: bytes, target: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, target, 0o777
    return info, b""


BOT = file("bot.toml", MANIFEST)


def zipped(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (("bot.toml", MANIFEST), *members):
            archive.writestr(name, content)
    return path


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def refusal(path: Path) -> str:
    """Why an archive is refused; nothing lies beside the place where it was unpacked."""
    scratch = path.parent / "scratch"
    scratch.mkdir()
    before = sorted(path.parent.iterdir())
    with pytest.raises(BadSubmission) as refused:
        take_in(path, scratch)
    assert sorted(path.parent.iterdir()) == before
    assert [each.name for each in scratch.iterdir()] in ([], ["bot"])
    assert str(refused.value).isprintable()
    return str(refused.value)


NAMES = {
    "path traversal": ("../evil", "leads out of its folder"),
    "a way out in the middle": ("a/../../evil", "leads out of its folder"),
    "an absolute path": ("/tmp/evil", "absolute"),
    "the folder itself": ("./.", "has no name"),
    "an escape sequence": ("\x1b[31mevil", "printable ASCII"),
    "a line break": ("a\nb", "printable ASCII"),
    "a tabulator": ("a\tb", "printable ASCII"),
    "a right-to-left mark": ("evil\u202etxt.py", "printable ASCII"),
    "a letter that looks like another": ("b\u043et.py", "printable ASCII"),
    "a backslash": ("..\\evil", "backslash"),
    "a very long name": ("x" * 201, "too long"),
    "a long name of letters that take two bytes": ("ä" * 150, "too long"),
    "a very deep one": ("x/" * 16 + "x", "too long"),
    "a twin by case": ("BOT.toml", "by case only"),
    "the same again": ("bot.toml", "twice"),
    "a file for a folder": ("bot.toml/x", "twice"),
}


@pytest.mark.parametrize("case", NAMES)
@pytest.mark.parametrize("ending", [".tar", ".zip"])
def test_names_in_an_archive_are_plain(case: str, ending: str, tmp_path: Path) -> None:
    """Each is refused for what it is, whatever the archive."""
    name, why = NAMES[case]
    path = tmp_path / f"mine{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # zipfile's own, about a name that is there twice
        zipped(path, (name, b"")) if ending == ".zip" else pack(path, BOT, file(name))
    assert why in refusal(path)


def test_names_in_an_archive_may_be_as_long_as_tools_make_them(tmp_path: Path) -> None:
    """Java's are the longest: a folder for each part of a package, and a class that says all that it does."""
    package = "src/main/java/org/example/university/course/tournament/bots/strategy"
    path = f"{package}/GreedyStrategyFactoryBean.java"
    (tmp_path / "scratch").mkdir()
    assert Path(path) in take_in(pack(tmp_path / "mine.tar", BOT, file(path)), tmp_path / "scratch").program.files


SPECIALS = {
    "a symbolic link": special("x", tarfile.SYMTYPE, "/etc/passwd"),
    "a symbolic link inside": special("x", tarfile.SYMTYPE, "bot.toml"),
    "a hard link": special("x", tarfile.LNKTYPE, "bot.toml"),
    "a hard link outwards": special("x", tarfile.LNKTYPE, "../../etc/passwd"),
    "a character device": special("x", tarfile.CHRTYPE),
    "a block device": special("x", tarfile.BLKTYPE),
    "a pipe": special("x", tarfile.FIFOTYPE),
    "something unknown": special("x", b"Z"),
}


@pytest.mark.parametrize("case", SPECIALS)
def test_an_archive_holds_ordinary_files(case: str, tmp_path: Path) -> None:
    """A link could be written through, a device read."""
    assert "'x' is a link, device or the like" in refusal(pack(tmp_path / "mine.tar", BOT, SPECIALS[case]))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_a_zip_file_holds_ordinary_files_too(kind: int, tmp_path: Path) -> None:
    """Zip files tell it in the upper half of an attribute."""
    assert "'x' is a link, device" in refusal(zipped(tmp_path / "mine.zip", (entry("x", kind | 0o777), b"/etc")))


@pytest.mark.parametrize("mode", [0o4755, 0o2755])
def test_nothing_runs_as_another_user(mode: int, tmp_path: Path) -> None:
    """Such modes are refused, not dropped: who packs them wants something."""
    assert "'x' is to run as another" in refusal(pack(tmp_path / "mine.tar", BOT, file("x", mode=mode)))


def test_that_holds_for_zip_files(tmp_path: Path) -> None:
    """Likewise."""
    assert "'x' is to run as another" in refusal(zipped(tmp_path / "mine.zip", (entry("x", 0o104755), b"")))


@pytest.mark.parametrize("ending", [".tar.gz", ".tar.xz", ".tar.zst", ".zip"])
def test_bombs_are_counted_while_they_inflate(ending: str, tmp_path: Path) -> None:
    """Some kilobytes that would fill a disk stop at the limit, and never lie in memory whole."""
    path, zeros = tmp_path / f"mine{ending}", bytes(MAX_BYTES + 1)
    if ending == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x", zeros)
    else:
        pack(path, BOT, file("x", zeros))
    del zeros
    assert path.stat().st_size < MAX_BYTES / 100
    tracemalloc.start()
    assert "64 MiB are allowed" in refusal(path)
    assert tracemalloc.get_traced_memory()[1] < MAX_BYTES / 4
    tracemalloc.stop()


def test_overlapping_entries_are_no_way_around(tmp_path: Path) -> None:
    """A zip file may name the same data a thousand times; each time counts."""
    path = tmp_path / "mine.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", bytes(MAX_BYTES // 8))
        first = archive.infolist()[0]
        for number in range(20):
            twin = zipfile.ZipInfo(f"x{number}")
            for name in ("header_offset", "CRC", "compress_size", "file_size", "compress_type", "flag_bits"):
                setattr(twin, name, getattr(first, name))
            archive.filelist.append(twin)
    refusal(path)


def test_a_sparse_file_is_refused(tmp_path: Path) -> None:
    """One header may claim a terabyte of holes."""
    (tmp_path / "s").mkdir()
    with (tmp_path / "s/x").open("wb") as holes:
        holes.truncate(MAX_BYTES * 100)
    subprocess.run(["tar", "-cSf", "mine.tar", "-C", "s", "x"], cwd=tmp_path, check=True)
    assert "'x' is a link, device or the like" in refusal(tmp_path / "mine.tar")


def test_a_header_may_not_be_endless(tmp_path: Path) -> None:
    """The name of a name is as long as it says, and it would be read into memory."""
    long, _ = special("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    long.size = MAX_BYTES * 2
    path = squeeze(tmp_path / "mine.tar.gz", long.tobuf(tarfile.GNU_FORMAT) + bytes(MAX_BYTES * 2))
    assert "too large" in refusal(path)


@pytest.mark.parametrize("ending", [".tar", ".zip"])
def test_too_many_files_are_too_many(ending: str, tmp_path: Path) -> None:
    """Empty folders count like files: they cost as much."""
    path, names = tmp_path / f"mine{ending}", [f"d{number}" for number in range(MAX_FILES + 1)]
    if ending == ".zip":
        zipped(path, *[(f"{name}/", b"") for name in names])
    else:
        pack(path, BOT, *[special(name, tarfile.DIRTYPE) for name in names])
    assert f"{MAX_FILES} files" in refusal(path)


def test_what_is_left_out_may_be_many_files(tmp_path: Path) -> None:
    """An author packs all that lies there, such as the packages of npm; none of it is written."""
    path = tmp_path / "mine.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bot.toml", MANIFEST)
        for number in range(20_000):  # in the directory only, as making the files would take a second
            archive.filelist.append(info := zipfile.ZipInfo(f"node_modules/{number}"))
            info.header_offset = info.CRC = 0
    (tmp_path / "scratch").mkdir()
    assert take_in(path, tmp_path / "scratch").left_out == ("node_modules",)


def test_an_endless_directory_of_a_zip_file_is_not_read(tmp_path: Path) -> None:
    """Each entry takes half a kilobyte of memory, and it costs the sender a tenth of it."""
    path = tmp_path / "mine.zip"
    path.write_bytes(b"PK\x01\x02" * 100_000)
    assert "is too large" in refusal(path)


@pytest.mark.parametrize("ending", sorted(READERS))
def test_what_is_no_archive_is_said(ending: str, tmp_path: Path) -> None:
    """Whatever bytes it has."""
    path = tmp_path / f"mine{ending}"
    path.write_bytes(random.Random(ending).randbytes(4096))
    assert f"is no {ending} archive that can be read" in refusal(path)


@pytest.mark.parametrize("ending", sorted(READERS))
def test_damaged_archives_are_refused(ending: str, tmp_path: Path) -> None:
    """Cut short or with bits turned, anywhere: never a traceback, and never half a bot."""
    path = tmp_path / f"mine{ending}"
    content = random.Random(1).randbytes(3000)
    zipped(path, ("x", content)) if ending == ".zip" else pack(path, BOT, file("x", content))
    whole, luck = path.read_bytes(), random.Random(ending)
    for number in range(60):
        spoilt = bytearray(whole[: luck.randrange(len(whole))] if number % 2 else whole)
        if spoilt and not number % 2:
            spoilt[luck.randrange(len(spoilt))] ^= 1 << luck.randrange(8)
        path.write_bytes(spoilt)
        (scratch := tmp_path / f"s{number}").mkdir()
        with contextlib.suppress(BadSubmission):
            assert take_in(path, scratch).program.files


@pytest.mark.parametrize("ending", sorted(READERS))
@pytest.mark.parametrize("top", ["", "Mine-main/"])
def test_a_good_archive_is_a_bot(ending: str, top: str, tmp_path: Path) -> None:
    """Packed as a folder or as what is in one; programs stay programs, and nobody may write to any of it."""
    path = tmp_path / f"packed{ending}"
    manifest = b'run = ["./bin/go.sh"]\ngames = ["birth"]\n'
    files = {"bot.toml": (manifest, 0o664), "bin/go.sh": (b"#!/bin/sh\n", 0o775), ".git/config": (b"", 0o664)}
    if ending == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, (content, mode) in files.items():
                archive.writestr(entry(top + name, stat.S_IFREG | mode), content)
    else:
        pack(path, *[file(top + name, content, mode=mode) for name, (content, mode) in files.items()])
    (tmp_path / "scratch").mkdir()
    program, left_out = take_in(path, tmp_path / "scratch")
    assert (program.name, left_out) == ("mine-main" if top else "packed", (".git",))
    modes = {str(name): stat.S_IMODE((program.root / name).stat().st_mode) for name in program.files}
    assert modes == {"bot.toml": 0o444, "bin/go.sh": 0o555}


@pytest.mark.parametrize("length", [str(2**63), str(2**64), "9" * 400, "-1", "x", "\u0663"])
def test_a_header_of_no_sensible_length_is_refused(length: str, tmp_path: Path) -> None:
    """Whatever error the standard library makes of it; some are none that it documents."""
    pax = tarfile.TarInfo("pax")
    records = f"{length} path=x\n".encode()
    pax.type, pax.size = tarfile.XHDTYPE, len(records)
    whole = pax.tobuf() + records.ljust(512, b"\0") + file("x")[0].tobuf()
    refusal(squeeze(tmp_path / "mine.tar", whole + bytes(1024)))


def test_an_entry_that_begins_before_the_archive_is_refused(tmp_path: Path) -> None:
    """The system refuses to look there; that is no error of the disk."""
    path = zipped(tmp_path / "mine.zip", ("x", b"1"))
    whole = bytearray(path.read_bytes())
    place = len(whole) - 6  # where the end of a zip file says where its directory begins
    whole[place : place + 4] = (int.from_bytes(whole[place : place + 4], "little") + 1000).to_bytes(4, "little")
    path.write_bytes(whole)
    assert "is no .zip archive that can be read" in refusal(path)
