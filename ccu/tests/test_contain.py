# SPDX-License-Identifier: Apache-2.0
"""Programs that users wrote run contained: what they can reach, and what the outside sees."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ccu.congestion import policy
from ccu.host import contain, policies
from ccu.host.contain import Rights, contained
from ccu.host.contain import __main__ as contain_main
from ccu.runs import run as runs
from ccu.spec.experiment import Experiment
from ccu.testbeds import check_traffic
from ddu.console.problems import RefusedError

PROBE = """
import json, os, socket, sys

def tried(act):
    try:
        act()
    except OSError as error:
        return os.strerror(error.errno)

def write(path):
    return tried(lambda: open(path, "a").write("x"))

def make(family):
    return tried(lambda: socket.socket(family, socket.SOCK_DGRAM).close())

def pair(kind):
    return tried(lambda: [one.close() for one in socket.socketpair(socket.AF_UNIX, kind)])

own, other, outside = sys.argv[1:]
print(json.dumps({
    "ids": [*os.getresuid(), *os.getresgid()],
    "groups": os.getgroups(),
    "capabilities": [l.split()[1] for l in open("/proc/self/status") if l.startswith("Cap")],
    "privileges": [l.split()[1] for l in open("/proc/self/status") if l.startswith("NoNewPrivs")],
    "processes": [one for one in os.listdir("/proc") if one.isdigit()],
    "own": write(own), "other": write(other), "outside": write(outside),
    "read": open(other).read(),
    "scratch": write(os.environ["TMPDIR"] + "/x"),
    "services": os.listdir("/run"),
    "password": os.environ.get("DDU_PASSWORD"),
    "unix": make(socket.AF_UNIX), "packet": make(socket.AF_PACKET), "udp": make(socket.AF_INET),
    "pairs": [pair(one) for one in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_STREAM)],
    "kill": tried(lambda: os.kill(int(os.environ["CCU_OUTSIDE"]), 0)),
    "interfaces": [name for _, name in socket.if_nameindex()] if not make(socket.AF_INET) else [],
}))
sys.exit(7)
"""

SENDING = (socket.AF_INET, socket.AF_NETLINK)

needs_all = pytest.mark.skipif(
    bool(lacks := contain.losses()), reason=f"this machine lacks {lacks} (ccu.host.contain)"
)


def probe(folder: Path, rights: Rights) -> dict[str, Any]:
    own, other = folder / "own", folder / "other"
    other.write_text("to read")
    other.chmod(0o666)
    wanted = Rights((str(other),), (str(own),), rights.keeps_network, rights.socket_families)
    words = [sys.executable, "-c", PROBE, str(own), str(other), str(folder.parent / "outside")]
    environment = {**os.environ, "DDU_PASSWORD": "secret", "CCU_OUTSIDE": str(os.getpid())}
    ran = subprocess.run(
        contained(words, wanted), stdout=subprocess.PIPE, text=True, env=environment
    )
    assert ran.returncode == 7
    report: dict[str, Any] = json.loads(ran.stdout)
    return report


@needs_all
def test_a_contained_program_reaches_its_own_file_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    before = tmp_path.stat()
    report = probe(tmp_path, Rights())
    if os.geteuid() == 0:
        assert set(report["ids"]) == {65534}
        assert report["groups"] == []
    assert set(report["capabilities"]) == {"0" * 16}
    assert report["privileges"] == ["1"]
    assert report["processes"] == ["1", "2"]
    assert report["own"] is report["scratch"] is None
    assert report["other"] == "Read-only file system"
    assert report["outside"] in ("Read-only file system", "Permission denied")
    assert (report["read"], report["services"], report["password"]) == ("to read", [], None)
    refused = "Permission denied"
    assert (report["unix"], report["packet"], report["udp"]) == (refused, refused, refused)
    assert report["pairs"] == [refused, refused, None]
    assert report["kill"] == "No such process"
    assert (tmp_path / "own").read_text() == "x"
    assert {(tmp_path / one).stat().st_uid for one in ("own", "other")} == {before.st_uid}
    assert not Path("/dev/shm/x").exists()


@needs_all
def test_a_program_that_sends_has_the_network_it_is_started_in(tmp_path: Path) -> None:
    report = probe(tmp_path, Rights(keeps_network=True, socket_families=SENDING))
    assert (report["udp"], report["unix"]) == (None, "Permission denied")
    assert report["interfaces"] == [name for _, name in socket.if_nameindex()]


@needs_all
def test_of_all_sockets_it_reaches_the_given_one(tmp_path: Path) -> None:
    """The kernel in lockstep is given the radio's, when a user wrote a part of its run."""
    given, other = tmp_path / "radio", tmp_path / "other"
    body = "import socket, sys\nfor path in sys.argv[1:]:\n"
    body += "    print(socket.socket(socket.AF_UNIX).connect_ex(path) == 0)"
    rights = Rights(writes=(str(given),), keeps_network=True, socket_families=(socket.AF_UNIX,))
    with socket.socket(socket.AF_UNIX) as radio, socket.socket(socket.AF_UNIX) as service:
        for one, path in ((radio, given), (service, other)):
            one.bind(str(path))
            one.listen()
        owner = given.stat().st_uid
        words = contained([sys.executable, "-c", body, str(given), str(other)], rights)
        ran = subprocess.run(words, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("True\nFalse\n", "")
    assert given.stat().st_uid == owner


@needs_all
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become the user who called sudo")
def test_the_user_who_called_sudo_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_UID", "4321")
    monkeypatch.setenv("SUDO_GID", "8765")
    assert probe(tmp_path, Rights())["ids"] == [4321, 4321, 4321, 8765, 8765, 8765]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files to others")
def test_what_is_given_back_is_no_file_behind_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link takes a folder's place as soon as the folder has been given."""
    raw, outside = tmp_path / "raw", tmp_path / "outside"
    for folder in (raw / "sub", outside):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    (raw / "link").symlink_to(outside)
    give = os.chown

    def chown(path: Any, *ids: int, **named: Any) -> None:
        give(path, *ids, **named)
        if Path(path).name == "sub" and not (raw / "sub").is_symlink():
            (raw / "sub").rename(raw / "moved")
            (raw / "sub").symlink_to(outside)

    monkeypatch.setattr(os, "chown", chown)
    contain_main._give(raw, 4321, 8765)
    assert (raw / "link").lstat().st_uid == 4321
    assert {outside.stat().st_uid, (outside / "file").stat().st_uid} == {os.getuid()}


REPLACING = """
import os, sys

def tried(act):
    try:
        act()
    except OSError as error:
        return os.strerror(error.errno)
    return "done"

raw, outside = sys.argv[1:]
for name in ("oai", "n3.pcap"):
    path = os.path.join(raw, name)
    print(tried(lambda: os.rename(path, path + "-moved")))
    print(tried(lambda: (os.rmdir if os.path.isdir(path) else os.unlink)(path)))
    print(tried(lambda: os.symlink(outside, path)))
print(tried(lambda: os.unlink(os.path.join(raw, "oai", "log"))))
print(tried(lambda: open(os.path.join(raw, "oai", "other"), "w")))
print(tried(lambda: open(os.path.join(raw, "n3.pcap"), "a")))
print(tried(lambda: open(os.path.join(raw, "own"), "w")))
"""


@pytest.fixture(params=[0o755, 0o700], ids=["entered by all", "entered by root"])
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ccu-contained-") as made:
        Path(made).chmod(request.param)
        yield Path(made)


@needs_all
@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_what_others_write_in_its_folder_stays_in_its_place(folder: Path, mode: int) -> None:
    """Root opens such files by their names while the kernel of lockstep may write in raw/."""
    raw, outside = folder / "raw", folder / "outside"
    (raw / "oai").mkdir(parents=True)
    for file in (raw / "oai" / "log", raw / "n3.pcap", outside):
        file.write_text("of root")
    (raw / "oai").chmod(mode)
    unchanged = (str(raw / "oai"), str(raw / "n3.pcap"))
    rights = Rights(writes=(str(raw),), unchanged=unchanged)
    words = contained([sys.executable, "-c", REPLACING, str(raw), str(outside)], rights)
    said = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    assert said.pop() == "done"
    assert len(said) == 9
    refused = ["Device or resource busy"] * 2 + ["File exists"]
    assert said[:6] == refused * 2
    assert set(said[6:]) <= {"Read-only file system", "Permission denied"}
    assert (raw / "oai" / "log").read_text() == (raw / "n3.pcap").read_text() == "of root"
    assert not (raw / "oai").is_symlink()
    assert not (raw / "n3.pcap").is_symlink()


LEAVING = """
import os, sys
os.mkdir("sub")
for name in ("own", "sub/own"):
    open(name, "w").write("x")
for name, to in (("link", "outside"), ("sub/link", "outside"), ("folder", "")):
    os.symlink(os.path.join(sys.argv[1], to), name)
os.mkfifo("sub/pipe")
"""


@needs_all
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, whom links lead elsewhere")
def test_a_program_leaves_files_and_folders_only(tmp_path: Path) -> None:
    """Root reads there when it has ended: what it measured, and the last lines of its log."""
    raw = tmp_path / "raw"
    (raw / "kept").mkdir(parents=True)
    (raw / "kept" / "link").symlink_to(tmp_path)
    (tmp_path / "outside").write_text("of root")
    rights = Rights(writes=(str(raw),), unchanged=(str(raw / "kept"),))
    words = contained([sys.executable, "-c", LEAVING, str(tmp_path)], rights)
    subprocess.run(words, cwd=raw, check=True)
    left = {str(path.relative_to(raw)) for path in raw.rglob("*")}
    assert left == {"kept", "kept/link", "own", "sub", "sub/own"}
    assert (tmp_path / "outside").read_text() == "of root"


@needs_all
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, whom links lead elsewhere")
def test_a_program_that_must_be_killed_leaves_no_link_either(tmp_path: Path) -> None:
    """Its folder had stayed its own, as who waited for it killed what gives it back."""
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "link").symlink_to(tmp_path)
    program = (
        "import signal; signal.signal(15, signal.SIG_IGN); print(1, flush=True); signal.pause()"
    )
    words = contained([sys.executable, "-c", program], Rights(writes=(str(raw),)))
    ran = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert ran.stdout is not None
    ran.stdout.readline()
    ran.send_signal(signal.SIGTERM)
    assert ran.wait(60) == -signal.SIGKILL
    assert list(raw.iterdir()) == []
    assert raw.stat().st_uid == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files to others")
def test_what_others_write_in_a_folder_that_is_given_stays_theirs(tmp_path: Path) -> None:
    (tmp_path / "oai").mkdir()
    for name in ("oai/log", "n3.pcap", "own"):
        (tmp_path / name).touch()
    contain_main._give(tmp_path, 4321, 8765, {tmp_path / "oai", tmp_path / "n3.pcap"})
    owners = {one.name: one.stat().st_uid for one in tmp_path.rglob("*")}
    assert owners == {"own": 4321, "oai": 0, "log": 0, "n3.pcap": 0}


DEVICES = """
import fcntl, json, os, sys

def tried(act):
    try:
        act()
    except OSError as error:
        return os.strerror(error.errno)

def opened(path):
    return tried(lambda: os.close(os.open(path, os.O_RDWR | os.O_NOCTTY)))

terminal, elsewhere = sys.argv[1:]
print(json.dumps({
    "there": sorted(os.listdir("/dev")),
    "terminals": [opened(one) for one in (terminal, "/dev/tty", "/dev/ptmx")],
    "elsewhere": opened(elsewhere),
    "usable": [opened("/dev/" + one) for one in ("full", "null", "zero")],
    "zero": open("/dev/zero", "rb").read(2).hex(),
    "random": [len(open(f"/dev/{one}", "rb").read(4)) for one in ("random", "urandom")],
    "full": tried(lambda: os.write(os.open("/dev/full", os.O_WRONLY), b"x")),
    "memory": tried(lambda: open("/dev/shm/x", "w").write("x")),
    "typing": [tried(lambda: fcntl.ioctl(0, one, b"x")) for one in (0x5412, 0x541C, 0x5413)],
    "descriptor": os.readlink("/dev/fd/0"),
}))
"""


@needs_all
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a terminal to nobody")
def test_no_terminal_is_within_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminals of its user could be read and written: read-only does not concern devices."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    given, ours = os.openpty()
    terminal, elsewhere = os.ttyname(ours), tmp_path / "elsewhere"
    os.mknod(elsewhere, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    for path in (terminal, elsewhere):
        os.chown(path, 65534, 65534)
    program = [sys.executable, "-c", DEVICES, terminal, str(elsewhere)]
    words = contained(program, Rights(reads=(str(elsewhere),)))
    ran = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    os.close(given)
    os.close(ours)
    absent = "No such file or directory"
    assert json.loads(ran.stdout) == {
        "there": [
            *("fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero")
        ],
        "terminals": [absent] * 3,
        "elsewhere": "Permission denied",
        "usable": [None] * 3,
        "zero": "0000",
        "random": [4, 4],
        "full": "No space left on device",
        "memory": None,
        "descriptor": "/dev/null",
        "typing": [*["Operation not permitted"] * 2, "Inappropriate ioctl for device"],
    }


def test_a_trial_has_no_terminal() -> None:
    body = "import os, sys; print(os.getsid(0) == os.getpid(), [sys.stdin.read()])"
    program = "import sys; from ccu.host import policies; print(policies.answered("
    words = [sys.executable, "-c", program + f"[sys.executable, '-c', {body!r}], 60).stdout)"]
    ran = subprocess.run(words, input="keys", capture_output=True, text=True)
    assert ran.stdout.strip() == "True ['']"


def test_signals_and_endings_pass_through() -> None:
    """Nothing of it stays when it is killed."""
    body = "import os, signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
    body += "print(1, flush=True)\nos.close(1)\nsignal.pause()"
    process = subprocess.Popen(
        contained([sys.executable, "-c", body], Rights()), stdout=subprocess.PIPE
    )
    assert process.stdout
    assert process.stdout.read() == b"1\n"  # It closes its output, which nothing else holds.
    process.terminate()
    assert process.wait(60) == 5
    killed = contained([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], Rights())
    assert subprocess.run(killed).returncode == -signal.SIGKILL


def test_it_ends_when_what_holds_it_is_killed() -> None:
    reader, writer = os.pipe()
    body = f"import time; open({writer}, 'w').write('1'); time.sleep(1000)"
    process = subprocess.Popen(contained([sys.executable, "-c", body], Rights()), pass_fds=[writer])
    os.close(writer)
    with os.fdopen(reader) as alive:
        assert alive.read(1) == "1"
        process.kill()
        process.wait()
        assert alive.read() == ""  # The last holder of the pipe has ended.


def test_what_a_machine_lacks_is_printed_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = '{"user": "Operation not permitted", "mounts": "Operation not permitted"}'
    monkeypatch.setattr(contain, "_ITSELF", ("echo", answer))
    monkeypatch.setattr(contain, "_out_of_reach", lambda _paths: set())
    contain.losses.cache_clear()
    try:
        words = [contained(["true"], Rights()) for _ in range(2)]
    finally:
        contain.losses.cache_clear()
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert "without a namespace of users (Operation not permitted)" in printed
    assert Rights.from_json(words[1][2]).features == (
        *("nobody", "processes", "ipc", "network", "filter"),
    )


HOSTILE = """
import os
open(OUTSIDE, "w").write("was here")

class Mine:
    def report(self, flow, report):
        pass
"""


def test_a_check_executes_nothing_and_a_trial_is_contained(tmp_path: Path) -> None:
    """Before, `--dry-run` ran this file, with sudo as root."""
    outside, file = tmp_path / "outside", tmp_path / "mine.py"
    file.write_text(HOSTILE.replace("OUTSIDE", repr(str(outside))))
    policy.provider.check("mine", file, {}, virtual=True)
    assert not outside.exists()
    if contain.losses().keys() & {"mounts"}:
        pytest.skip("this machine has no read-only views")
    with pytest.raises(RefusedError, match="Read-only file system"):
        policy.provider.try_out("mine", file, {})
    assert not outside.exists()


def test_the_same_of_a_policy_for_quic(tmp_path: Path) -> None:
    """A plan and `--dry-run` had executed it, contained."""
    outside, file = tmp_path / "outside", tmp_path / "mine.py"
    file.write_text(HOSTILE.replace("OUTSIDE", repr(str(outside))))
    experiment = Experiment(flows=({"cc": f"quic:{file}"},))  # type: ignore[arg-type]
    check_traffic(experiment)
    if contain.losses().keys() & {"mounts"}:
        pytest.skip("this machine has no read-only views")
    with pytest.raises(RefusedError, match="Read-only file system"):
        runs.try_out(experiment)
    assert not outside.exists()
    file.write_text("class Mine\n")
    with pytest.raises(RefusedError, match=":1: syntax error"):
        check_traffic(experiment)


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"class A\n", ":1: syntax error"),
        (b"\0", "syntax error|is not Python"),
        (b"x = " + b"(" * 100_000, "syntax error|is not Python"),
        (b"x = " + b"-" * 1_000_000 + b"1", "syntax error|is not Python"),
    ],
)
def test_what_is_not_python_is_refused(tmp_path: Path, content: bytes, rule: str) -> None:
    file = tmp_path / "mine.py"
    file.write_bytes(content)
    with pytest.raises(RefusedError, match=rule):
        policies.check_syntax(file)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as in a container")
def test_root_in_a_container_without_namespaces_gives_up_its_capabilities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody may enter pytest's folders, and without mounts they cannot be shown elsewhere."""
    lost = dict.fromkeys(("mounts", "processes", "ipc", "network"), "Operation not permitted")
    monkeypatch.setattr(contain, "losses", lambda: lost)
    contain._print_root.cache_clear()
    own = tmp_path / "own"
    code = "import os; print(os.getuid(), *[l for l in open('/proc/self/status') if 'Cap' in l])"
    words = contained([sys.executable, "-c", code], Rights(writes=(str(own),)))
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    assert ran.stdout.split()[0] == "0"
    assert {word for word in ran.stdout.split() if len(word) == 16} == {"0" * 16}
    assert "run as root without capabilities" in capsys.readouterr().err
    assert own.stat().st_uid == 0
