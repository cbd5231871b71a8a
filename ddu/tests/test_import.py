# SPDX-License-Identifier: Apache-2.0
"""Foreign folders become run directories: Hercules's, whose faults are reported, and plain ones."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tarfile
from datetime import datetime, timezone
from pathlib import Path

import pandas as pd
import pytest

from ddu.analyze import analysis_of
from ddu.console.problems import RefusedError
from ddu.describe import describe
from ddu.importing.run import import_folder
from ddu.readers.fields import number
from ddu.readers.hercules import _of_fairness, read_series, read_wireless, version_of
from testsupport.foreign_logs import wandering
from testsupport.oai_samples import SAMPLES
from testsupport.synthetic_run import MS, T0, SyntheticRun

ZONE_NS = 4 * 3_600_000_000_000
"""Their testbed's clock was UTC+4."""


def cc_text(seconds: int) -> str:
    """ss twice a second with a time of day of UTC+4, and the control connection beside the data."""
    text = ""
    for index in range(2 * seconds):
        at_ns = T0 + index * 500 * MS + ZONE_NS
        moment = datetime.fromtimestamp(at_ns // 10**9, timezone.utc)
        text += (
            "State   Recv-Q    Send-Q    Local Address:Port    Peer Address:Port\n"
            "ESTAB   0    0    10.45.0.1:50999    10.45.0.2:5201\n"
            "\t cubic rto:212 rtt:9.061/4.657 mss:1448 cwnd:10\n"
            "ESTAB   0    79640    10.45.0.1:40001    10.45.0.2:5201\n"
            f"\t reno rto:212 rtt:9.061/4.657 mss:1448 cwnd:{20 + index} unacked:10\n\n"
            f"{moment:%H%M%S}.{at_ns % 10**9 // 1000:06d}\n\n"
        )
    return text


def hercules(directory: Path, versions: tuple[int, ...] = (1,), seconds: int = 12) -> Path:
    """A folder as theirs are, with every fault that theirs have."""
    folder = directory / "1UE_1018_reno_first_100sec_DL_24prb"
    folder.mkdir()
    run, _, _ = wandering(seconds)
    run.control(300)
    run.write(directory / "source")
    for version in versions:
        for role, host in (("sender", "core"), ("receiver", "ue")):
            content = (directory / "source" / "raw" / f"{role}.pcap").read_bytes()
            with tarfile.open(folder / f"{host}_reno_DL_v{version}.pcap.tar.gz", "w:gz") as tar:
                member = tarfile.TarInfo("some.pcap")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        (folder / f"core_reno_DL_v{version}.cc").write_text(cc_text(seconds))
        series = folder / f"csv_datav{version}"
        series.mkdir()
        names = [f"('10.45.0.1', {port}, '10.45.0.2', 5201)" for port in (50999, 40001)]
        (series / "cwnd_values.csv").write_text(
            ";".join(name for name in names for _ in range(3)) + ";\n"
            + ";;;54759.9;10.0;0;\n;;;54800.1;11.0;0;\n;;;54801.2;12.0;30.0;\n"
        )  # fmt: skip
        (series / "fairness.csv").write_text(
            "Throughput;Throughput;Sending Rate;Sending Rate;\n1.0;0.5;1.0;0.5;\n1.2;1.0;1.2;1.0;\n"
        )
        (series / "wireless_data.csv").write_text(
            "".join(f"{T0 // 10**9 + second}.0,-{50 + second % 5}\n" for second in range(seconds))
        )
    return folder


def checksums(folder: Path) -> dict[str, str]:
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*")) if file.is_file()
    }  # fmt: skip


def test_hercules_becomes_a_run_and_its_faults_are_told(tmp_path: Path) -> None:
    folder = hercules(tmp_path)
    before = checksums(folder)
    (made,) = import_folder(folder, tmp_path / "runs")
    assert checksums(folder) == before
    faults = " ".join(made.faults)
    assert "leap by 40 s" in faults
    assert "the least of 2 flows, but 1 carry data" in faults
    assert "columns for 2 connections, 1 carry data" in faults
    assert "is written as 0" in faults
    assert "no date and no zone" in faults
    analysis = analysis_of(made.path)
    summary, aligned = analysis.summary, analysis.tables["aligned"]
    assert (summary["cc"], summary["direction"], summary["prb"]) == ("reno", "dl", 24)
    assert "UTC+04:00" in summary["alignment"]["sockets"]["method"]
    assert summary["alignment"]["mac"]["uncertainty_ns"] == 1_000_000_000
    assert aligned["mac_rsrp_dbm"].dropna().between(-54.01, -49.99).all()
    # The time stands after its sample, and the sample at 5 s has a window of 30 packets.
    at_5_s = aligned[aligned["utc_ns"].between(T0 + 5_000 * MS, T0 + 5_100 * MS)]
    assert at_5_s["tcp_cwnd_bytes"].dropna().unique().tolist() == [30 * 1448]
    assert summary["verdict"] == "valid"
    assert abs(summary["alignment"]["clocks"]["offset_ns"]) <= 10 * MS


def test_one_clock_needs_no_estimate(tmp_path: Path) -> None:
    (made,) = import_folder(hercules(tmp_path), tmp_path / "runs", one_clock=True)
    assert "clocks" not in analysis_of(made.path).summary["alignment"]


def test_each_repeat_is_a_run(tmp_path: Path) -> None:
    made = import_folder(hercules(tmp_path, versions=(1, 2, 10)), tmp_path / "runs")
    assert [each.path.name.rsplit("-", 1)[1] for each in made] == ["v1", "v2", "v10"]
    description = describe(tmp_path / "1UE_1018_reno_first_100sec_DL_24prb")
    assert description["repeats"] == ["1", "2", "10"]
    assert "leap by 40 s" in " ".join(description["faults"]["csv_datav1"])


def test_what_names_no_repeat_among_several_is_left_out_and_told(tmp_path: Path) -> None:
    folder = hercules(tmp_path, versions=(1, 2))
    (folder / "gnb.log").write_text(SAMPLES[0].text)
    runs = import_folder(folder, tmp_path / "runs")
    assert len(runs) == 2
    for made in runs:
        assert "gnb.log: left out: its name states no repeat." in made.faults


def test_one_side_is_imported_and_the_lack_told(tmp_path: Path) -> None:
    folder = hercules(tmp_path)
    (folder / "ue_reno_DL_v1.pcap.tar.gz").unlink()
    (made,) = import_folder(folder, tmp_path / "runs")
    assert "There is no capture of the receiver's side." in made.faults
    summary = analysis_of(made.path).summary
    assert "Only the sender's side (server) was captured" in summary["not_captured"][0]
    assert summary["throughput_bps"] > 0


def test_a_plain_folder_needs_to_be_told(tmp_path: Path) -> None:
    run, _, _ = wandering(5)
    raw = run.write(tmp_path / "source") / "raw"
    folder = tmp_path / "mine"
    folder.mkdir()
    (raw / "sender.pcap").rename(folder / "a.pcap")
    (raw / "receiver.pcap").rename(folder / "b.pcap")
    (folder / "gnb.log").write_text(SAMPLES[0].text)
    with pytest.raises(RefusedError, match="--direction"):
        import_folder(folder, tmp_path / "runs")
    with pytest.raises(RefusedError, match="--server FILE"):
        import_folder(folder, tmp_path / "runs", "dl")
    hosts = {"server": folder / "a.pcap", "ue": folder / "b.pcap"}
    (made,) = import_folder(folder, tmp_path / "runs", "dl", hosts)
    manifest = json.loads((made.path / "run.json").read_text())
    assert manifest["mac"] == {"file": "raw/gnb.log", "source": "oai"}
    assert manifest["flows"][0]["cc"] == "unknown"
    assert not [item for item in (tmp_path / "runs").iterdir() if item.name.startswith(".")]


def test_what_cannot_be_imported_leaves_nothing(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(RefusedError, match="no capture in it"):
        import_folder(empty, tmp_path / "runs")
    with pytest.raises(RefusedError, match="no such directory"):
        import_folder(tmp_path / "nowhere", tmp_path / "runs")
    idle = SyntheticRun()
    idle.handshake()
    source = idle.write(tmp_path / "source")
    (empty / "core_DL.pcap").write_bytes((source / "raw" / "sender.pcap").read_bytes())
    with pytest.raises(RefusedError, match="carries 50000 bytes"):
        import_folder(empty, tmp_path / "runs")
    (empty / "core_DL.pcap").write_bytes(b"\x1f\x8bnonsense")
    with pytest.raises(RefusedError, match=rf"{empty}/core_DL\.pcap"):
        import_folder(empty, tmp_path / "runs")
    assert not list((tmp_path / "runs").iterdir())


def plain(directory: Path) -> Path:
    """A folder with a capture of each side, and nothing else."""
    run, _, _ = wandering(5)
    raw = run.write(directory / "source") / "raw"
    folder = directory / "mine_DL"
    folder.mkdir()
    (raw / "sender.pcap").rename(folder / "server.pcap")
    (raw / "receiver.pcap").rename(folder / "client.pcap")
    return folder


@pytest.mark.parametrize("content", [b"not a capture at all\n" * 9, b"", b"\n\r\r\n" + bytes(64)])
def test_an_unreadable_capture_of_the_receiver_is_refused(tmp_path: Path, content: bytes) -> None:
    folder = plain(tmp_path)
    (folder / "client.pcap").write_bytes(content)
    with pytest.raises(RefusedError, match=rf"^{folder}/client\.pcap: "):
        import_folder(folder, tmp_path / "runs")
    assert not list((tmp_path / "runs").iterdir())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n", r"notes\.csv:1: a CSV of unknown format; expected .*log-sources\.md\)\. "),
        ("rsrp,other\n-80,1\n", r"notes\.csv:1: "),
        ("", r"notes\.csv: empty"),
    ],
)
def test_a_csv_that_no_format_reads_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    folder = plain(tmp_path)
    (folder / "notes.csv").write_text(text)
    with pytest.raises(RefusedError, match=expected):
        import_folder(folder, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_what_is_only_copied_or_left_out_is_reported(tmp_path: Path) -> None:
    folder = plain(tmp_path)
    (folder / "notes.txt").write_text("a sunny day\n")
    (folder / "server2.pcap").write_bytes((folder / "server.pcap").read_bytes())
    (folder / "client.pcap.sha256").write_text("0  client.pcap\n")
    (made,) = import_folder(folder, tmp_path / "runs")
    assert "notes.txt: only copied: its format is unknown." in made.faults
    assert "server2.pcap: left out: captures of both hosts are there already." in made.faults
    assert "client.pcap.sha256: only copied: its format is unknown." in made.faults


def test_socket_samples_with_times_of_whole_seconds_hold_until_the_next(tmp_path: Path) -> None:
    folder = plain(tmp_path)
    (made,) = import_folder(folder, tmp_path / "without")
    flow = json.loads((made.path / "run.json").read_text())["flows"][0]
    ends = [f"{flow[end]['address']}:{flow[end]['port']}" for end in ("sender", "receiver")]
    head = "State Recv-Q Send-Q Local Address:Port Peer Address:Port"
    sample = f"{head}\nESTAB 0 0 {' '.join(ends)}\n\t cubic rto:200 rtt:20/1 mss:1448 cwnd:10\n"
    times = [T0 // 10**9 + tenth // 10 for tenth in range(-10, 60)]
    (folder / "ss.txt").write_text("".join(f"{at}\n{sample}" for at in times))
    (made,) = import_folder(folder, tmp_path / "runs")
    (sockets,) = json.loads((made.path / "run.json").read_text())["sockets"]
    assert sockets["interval_ms"] == 1000
    assert analysis_of(made.path).tables["aligned"]["tcp_cwnd_bytes"].notna().all()


def test_a_second_import_does_not_overwrite(tmp_path: Path) -> None:
    folder = hercules(tmp_path)
    import_folder(folder, tmp_path / "runs")
    with pytest.raises(RefusedError, match="exists already"):
        import_folder(folder, tmp_path / "runs")


@pytest.mark.parametrize(
    ("name", "version"),
    [("core_cubic_DL_v10.pcap.tar.gz", "10"), ("core_reno_DL_1.cc", "1"), ("csv_datav3", "3"),
     ("core_cubic_10000_reno_10001_DL_v4.pcap", "4"), ("ue.pcap", None),
     ("ci_throughput_delay.csv", None)],
)  # fmt: skip
def test_versions_in_names(name: str, version: str | None) -> None:
    assert version_of(name) == version


def test_their_series(tmp_path: Path) -> None:
    file = tmp_path / "rtt.csv"
    file.write_text("('a', 1, 'b', 2);('a', 1, 'b', 2);\n1685929647.5;9.5;\n1685929647.6;8.5;\n")
    series = read_series(file)
    assert series["value"].tolist() == [9.5, 8.5]
    assert series["flow"].tolist() == ["('a', 1, 'b', 2)"] * 2


def test_their_wireless_data(tmp_path: Path) -> None:
    file = tmp_path / "wireless_data.csv"
    file.write_text("1685929648.0,-56\n1685929649.0,-71,9,0.5\n16859")
    log = read_wireless(file)
    assert log.table["mac_rsrp_dbm"].tolist() == [-56, -71]
    assert log.table["extra"].iloc[1] == "9,0.5"
    assert log.truncated_at == 40


@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_a_damaged_archive_is_refused(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "walk"
    folder.mkdir()
    content = random.Random(1).randbytes(1 << 20)
    archive = folder / f"core_reno_DL.pcap.tar.{kind}"
    with tarfile.open(archive, f"w:{kind}") as tar:  # type: ignore[call-overload]
        member = tarfile.TarInfo("some.pcap")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    damaged = bytearray(archive.read_bytes())
    damaged[len(damaged) // 2] ^= 0x10
    archive.write_bytes(damaged)
    with pytest.raises(RefusedError, match="not a whole archive"):
        import_folder(folder, tmp_path / "runs")
    assert not list((tmp_path / "runs").iterdir())


def test_a_fairness_of_nothing_is_told(tmp_path: Path) -> None:
    problems = list(_of_fairness(Path("fairness.csv"), pd.DataFrame({"value": [0.0, 1.0]}), 2))
    assert problems[0].startswith("fairness.csv: Jain's index goes down to 0.00, but 2 carry data")


def test_a_number_of_many_digits_is_none() -> None:
    assert number("9" * 400) is None
    assert number("18446744073709551615") == 2**64 - 1
