# SPDX-License-Identifier: Apache-2.0
"""What the logs of core, gNB and UE say about a start that has failed."""

from __future__ import annotations

# Text of a log, and its meaning with the fix.
_SYMPTOMS = (
    ("Expected FPGA compatibility", "the USRP's image is of another UHD. Use uhd_image_loader"),
    ("No devices found", "no USRP was found. Check cable and address with uhd_find_devices"),
    ("LIBUSB_ERROR", "the USRP's USB is not reachable. Check /dev/bus/usb and its permissions"),
    ("unknown option", "this version has other options. Give the image's --oai-version"),
    (
        "Protocol not supported",
        "the kernel has no SCTP, which gNB and AMF need. Type: sudo modprobe sctp",
    ),
    (
        "exceeded RA window",
        "the gNB answers random access too late. Give the image's --oai-version",
    ),
    (
        "Error in pthread_create(): ret: 1,",
        "the container may not have real-time priority. See ccu doctor --testbed rfsim",
    ),
    (
        "No configuration file",
        "the image wants its configuration elsewhere. Give the image's --oai-version",
    ),
    ("No AMF is associated", "the gNB reaches no AMF. See the AMF's log in raw/oai/"),
    ("Illegal instruction", "the image was built for CPUs with AVX2 or AVX-512"),
    ("Registration reject", "the core does not know the SIM. Check that the database was filled"),
    (
        "PDU Session Establishment reject",
        "the core assigned no address. Check that its pool is not exhausted",
    ),
)


def hints(log: str) -> list[str]:
    """Return what the log tells, with what to do."""
    folded = log.casefold()
    return [meaning for text, meaning in _SYMPTOMS if text.casefold() in folded]
