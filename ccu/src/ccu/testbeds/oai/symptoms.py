# SPDX-License-Identifier: Apache-2.0
"""The symptoms of a failed start in the logs of core, gNB and UE."""

from __future__ import annotations

# Text of a log, and its meaning with the fix; the most particular first.
_SYMPTOMS = (
    ("Expected FPGA compatibility", "the USRP's image is of another UHD. Use uhd_image_loader"),
    ("No devices found", "no USRP was found. Check cable and address with uhd_find_devices"),
    ("LIBUSB_ERROR", "the USRP's USB is not reachable. Check /dev/bus/usb and its permissions"),
    (
        "unknown option",
        "this version has other options. Check that --oai-version is the image's week",
    ),
    (
        "Protocol not supported",
        "the kernel has no SCTP, which gNB and AMF need. Type: sudo modprobe sctp",
    ),
    (
        "Error in pthread_create(): ret: 1,",
        "the container may not have real-time priority. See ccu doctor --testbed rfsim",
    ),
    (
        "No configuration file",
        "the image wants its configuration elsewhere. Check that --oai-version is the image's week",
    ),
    ("No AMF is associated", "the gNB reaches no AMF. See the AMF's log in raw/oai/"),
    ("Illegal instruction", "the image was built for CPUs with AVX2 or AVX-512"),
    (
        "Cannot find SUPI in DB",
        "the database has no such subscriber. Compare its IMSI with those in raw/oai/config/",
    ),
    (
        "Authentication reject",
        "SIM and subscriber have different keys. Compare them in raw/oai/config/",
    ),
    (
        "Not Subscribed in the Slice",
        "the subscriber has no session of this DNN. Compare the DNNs in raw/oai/config/",
    ),
    (
        "PDU Session Establishment reject",
        "the core assigned no address. Check that its pool is not exhausted",
    ),
    ("Registration reject", "the core refuses the UE. See the AMF's log in raw/oai/"),
    # A UE that the core has refused prints this as well, again and again.
    (
        "exceeded RA window",
        "the gNB answers random access too late. Check that --oai-version is the image's week",
    ),
)


def hints(log: str) -> list[str]:
    """Return the last line of the log that shows a cause, and what to do; the first cause that it
    shows."""
    lines = log.splitlines()
    for text, meaning in _SYMPTOMS:
        matching = [line.strip() for line in lines if text.casefold() in line.casefold()]
        if matching:
            return [matching[-1], meaning]
    return []
