# SPDX-License-Identifier: Apache-2.0
"""Impulse responses of Sionna and QuaDRiGa as scenarios that nr-link accepts, and refusals."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.io import savemat

from ccu.scenarios.sources import FORMATS, ImportOptions, csv_table
from ccu.scenarios.write import write
from ddu.console.problems import RefusedError

PERIOD_S = 1e-3
DOPPLER_HZ = 20.0
AMPLITUDE = 1e-5
"""A path loss of 100 dB."""


def turning(instants: int, amplitudes: list[float]) -> np.ndarray:
    """Paths by instant, each with its own Doppler up to 20 Hz."""
    t_s = np.arange(instants) * PERIOD_S
    hz = DOPPLER_HZ * np.cos(np.arange(len(amplitudes)))
    return AMPLITUDE * np.array(amplitudes) * np.exp(2j * np.pi * hz * t_s[:, None])


def imported(form: str, file: Path, **wanted: object) -> tuple[dict, pd.DataFrame]:
    """Return the scenario and its taps, which nr-link has accepted."""
    options = ImportOptions("x", **{"period_s": PERIOD_S, **wanted})
    into = file.parent / "out"
    write(FORMATS[form].read(file, options), "x", "CC0-1.0", into)
    return yaml.safe_load((into / "x.yaml").read_text()), pd.read_csv(into / "x.csv")


def gains(taps: pd.DataFrame, tap: int) -> np.ndarray:
    return (taps[f"re_{tap}"] + 1j * taps[f"im_{tap}"]).to_numpy()


def sionna(file: Path, a: np.ndarray, tau: np.ndarray) -> Path:
    np.savez(file, a=a.astype(np.complex64), tau=tau.astype(np.float32))
    return file


# By receiver, its antenna, transmitter, its antenna, path and time step: two receivers.
PATHS = turning(50, [1, 0.5, 0])
CIR = np.zeros((2, 2, 1, 1, 3, 50), complex)
CIR[1, 0, 0, 0] = PATHS.T
# By receiver, transmitter and path; the third does not exist.
TAU = np.tile(np.array([100e-9, 350e-9, -1.0]), (2, 1, 1))


@pytest.mark.parametrize("form", ["synthetic array", "antennas apart", "batch"])
def test_sionna_s_paths_become_taps(tmp_path: Path, form: str) -> None:
    a, tau = CIR, TAU
    if form == "antennas apart":
        tau = np.broadcast_to(TAU[:, None, :, None, :], CIR.shape[:5])
    if form == "batch":
        a, tau = a[None], tau[None]
    scenario, taps = imported("sionna", sionna(tmp_path / "cir.npz", a, tau), run=1)
    power = 1 + 0.25
    assert scenario["radio"]["level"]["path_loss_db"] == pytest.approx(
        100 - 10 * np.log10(power), abs=1e-3
    )
    assert scenario["duration_s"] == pytest.approx(50 * PERIOD_S)
    assert list(taps) == ["t_s", "delay_ns_1", "re_1", "im_1", "delay_ns_2", "re_2", "im_2"]
    assert taps["delay_ns_2"].to_numpy() == pytest.approx(250, abs=0.01)
    expected = PATHS[:, :2] / AMPLITUDE / np.sqrt(power)
    for tap in (1, 2):
        assert np.abs(gains(taps, tap) - expected[:, tap - 1]).max() < 1e-4


@pytest.mark.parametrize("form", ["variables", "structure", "individual delays"])
def test_quadriga_s_coefficients_become_taps(tmp_path: Path, form: str) -> None:
    paths = turning(40, [0.1, 1])
    coeff = np.zeros((2, 1, 2, 40), complex)
    coeff[0, 0] = paths.T
    # The second path comes closer: by path and snapshot.
    delay = np.stack([np.full(40, 300e-9), np.linspace(80e-9, 60e-9, 40)])
    if form == "individual delays":
        delay = np.broadcast_to(delay, coeff.shape)
    variables = {"coeff": coeff, "delay": delay}
    savemat(tmp_path / "cir.mat", {"h": variables} if form == "structure" else variables)
    scenario, taps = imported("quadriga", tmp_path / "cir.mat")
    assert scenario["duration_s"] == pytest.approx(40 * PERIOD_S)
    # Sorted by delay, from the earliest on.
    assert taps["delay_ns_1"].to_numpy() == pytest.approx(np.linspace(20, 0, 40), abs=0.01)
    assert taps["delay_ns_2"].to_numpy() == pytest.approx(240, abs=0.01)
    strong = paths[:, 1] / AMPLITUDE / np.sqrt(1.01)
    assert np.abs(gains(taps, 1) - strong).max() < 1e-4


def test_many_paths_keep_their_response_in_the_carrier(tmp_path: Path) -> None:
    """Paths 3 ns apart around four delays: over 10 MHz they differ by 11 degrees at most."""
    delays_ns = np.array([0, 3, 6, 200, 203, 500, 503, 506, 900], float)
    paths = turning(30, [1, 0.6, 0.4, 0.7, 0.3, 0.5, 0.3, 0.2, 0.4])
    a = paths.T.reshape(1, 1, 1, 1, 9, 30)
    file = sionna(tmp_path / "cir.npz", a, (delays_ns * 1e-9).reshape(1, 1, 9))
    scenario, taps = imported("sionna", file)
    assert "9 paths, merged into 4 taps" in " ".join(scenario["sources"])
    scale = 10 ** (scenario["radio"]["level"]["path_loss_db"] / 20)
    turn = -2j * np.pi * np.linspace(-5e6, 5e6, 41)
    exact = paths @ np.exp(np.outer(delays_ns * 1e-9, turn)) * scale
    played = sum(
        gains(taps, n)[:, None] * np.exp(np.outer(taps[f"delay_ns_{n}"] * 1e-9, turn))
        for n in range(1, 5)
    )
    error = np.mean(np.abs(played - exact) ** 2) / np.mean(np.abs(exact) ** 2)
    assert 10 * np.log10(error) < -30


def spoilt(**change: object) -> dict[str, object]:
    return {"a": CIR, "tau": TAU, "run": 1, "period_s": PERIOD_S, **change}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (spoilt(period_s=None), "writes no times into this file. Give the time between"),
        (spoilt(run=2), "there is no receiver 2: it has 2, counted from 0"),
        (spoilt(run=0), "no path has power. Give a link that is not blocked"),
        (spoilt(tau=TAU[:, :, :2]), r"a has the shape .*, and tau \(2, 1, 2\)"),
        (spoilt(a=CIR * np.nan), "not finite"),
        (spoilt(a=CIR[..., ::17]), "changes too much from one instant to the next"),
    ],
)
def test_arrays_that_are_no_impulse_responses_are_refused(
    tmp_path: Path, given: dict, said: str
) -> None:
    file = sionna(tmp_path / "cir.npz", given.pop("a"), given.pop("tau"))
    with pytest.raises(RefusedError, match=r"cir\.npz.*" + said):
        imported("sionna", file, **given)


@pytest.mark.parametrize(
    ("form", "content", "said"),
    [
        ("sionna", b"hello\n", "is not a file of numpy's arrays"),
        ("sionna", b"PK\x03\x04 cut", "is not a file of numpy's arrays"),
        ("sionna", b"", "is empty"),
        ("quadriga", b"hello\n" * 50, "is not a MAT file"),
        ("quadriga", b"MATLAB 7.3 MAT-file" + b" " * 105 + b"\x00\x02IM", "version 7.3"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, form: str, content: bytes, said: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(RefusedError, match=said):
        imported(form, tmp_path / "file")


def test_arrays_with_other_names_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "cir.npz", a=CIR)
    with pytest.raises(RefusedError, match=r"there is no array .*tau"):
        imported("sionna", tmp_path / "cir.npz")
    savemat(tmp_path / "cir.mat", {"coeff": PATHS})
    with pytest.raises(RefusedError, match="there are no coeff and delay"):
        imported("quadriga", tmp_path / "cir.mat")


@pytest.mark.parametrize("form", ["sionna", "quadriga", "structure"])
def test_arrays_that_unpack_to_too_much_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """A file of 1 MB could take a gigabyte of memory."""
    monkeypatch.setattr(csv_table, "LARGEST_BYTES", 3 << 20)
    nothing = np.zeros((1, 1, 1, 1, 1, 1 << 18), complex)
    file = tmp_path / ("cir.npz" if form == "sionna" else "cir.mat")
    if form == "sionna":
        np.savez_compressed(file, a=nothing, tau=TAU)
    else:
        variables = {"coeff": nothing[0, 0], "delay": TAU}
        held = {"h": variables} if form == "structure" else variables
        savemat(file, held, do_compression=True)
    assert file.stat().st_size < 10_000
    with pytest.raises(RefusedError, match=rf"{file.name}: unpacks to more than 3145728 bytes"):
        imported("quadriga" if form == "structure" else form, file)


def test_an_array_under_another_name_of_numpys_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """numpy takes `a` before `a.npy`."""
    monkeypatch.setattr(csv_table, "LARGEST_BYTES", 3 << 20)
    np.savez(tmp_path / "cir.npz", tau=TAU)
    with zipfile.ZipFile(tmp_path / "cir.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(4 << 20))
    with pytest.raises(RefusedError, match="unpacks to more than 3145728 bytes"):
        imported("sionna", tmp_path / "cir.npz")


@pytest.mark.parametrize("form", ["sionna", "quadriga"])
def test_small_numbers_that_become_large_ones_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """A byte in the file takes 16 of memory."""
    monkeypatch.setattr(csv_table, "LARGEST_BYTES", 3 << 20)
    nothing, file = np.zeros((1, 1, 1, 1, 1, 1 << 18), np.int8), tmp_path / "cir"
    if form == "sionna":
        file = tmp_path / "cir.npz"
        np.savez(file, a=nothing, tau=TAU)
    else:
        savemat(file, {"coeff": nothing[0, 0], "delay": TAU}, appendmat=False)
    with pytest.raises(RefusedError, match="unpacks to more than 3145728 bytes"):
        imported(form, file)


@pytest.mark.parametrize("shape", [(1 << 45,), (1 << 45, 2), (1 << 62, 1 << 62), (-1,)])
def test_an_array_that_claims_another_shape_is_refused(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    """Memory for it was asked for before it was read: a traceback."""
    head = io.BytesIO()
    claimed = {"descr": "<c16", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, claimed)
    with zipfile.ZipFile(tmp_path / "cir.npz", "w") as archive:
        archive.writestr("a.npy", head.getvalue())
        archive.writestr("tau.npy", head.getvalue())
    with pytest.raises(RefusedError, match="is not a file of numpy's arrays"):
        imported("sionna", tmp_path / "cir.npz")


def test_one_array_in_a_file_of_its_own_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", CIR)
    with pytest.raises(RefusedError, match="is not a file of numpy's arrays"):
        imported("sionna", tmp_path / "a.npy")


def test_a_pickle_is_not_executed(tmp_path: Path) -> None:
    np.savez(tmp_path / "cir.npz", a=np.array([Path("x")], object), tau=TAU)
    with pytest.raises(RefusedError, match="is not a file of numpy's arrays"):
        imported("sionna", tmp_path / "cir.npz")
