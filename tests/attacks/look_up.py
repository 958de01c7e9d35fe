"""Look names up, by the system's resolver and by a bare DNS question to the resolver's address. Argument: JSON list of names.

Prints for each name what came back: addresses, or nothing.
"""

import json
import os
import socket
import struct
import sys

RESOLVER = ("127.0.0.11", 53)
# resolv.conf(5): one question and two seconds, not ten.
os.environ["RES_OPTIONS"] = "timeout:2 attempts:1"


def by_system(name: str) -> list[str]:
    """What the C library finds."""
    try:
        return sorted({str(info[4][0]) for info in socket.getaddrinfo(name, 80, socket.AF_INET, socket.SOCK_STREAM)})
    except OSError:
        return []


def by_question(name: str) -> list[str]:
    """What a hand-made question for an A record brings: the number of answers as text, if any."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    question = struct.pack(">6H", 7, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.settimeout(3)
        try:
            asker.sendto(question, RESOLVER)
            answers = struct.unpack(">6H", asker.recv(1500)[:12])[3]
        except OSError:
            return []
    return [f"{answers} answers"] if answers else []


print(json.dumps({name: by_system(name) + by_question(name) for name in json.loads(sys.argv[1])}))
