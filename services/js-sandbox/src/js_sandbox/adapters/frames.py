"""Messages between the service, its zygote and the children.

Service and zygote talk over a SOCK_SEQPACKET pair, one `Order` or `Notice` in each packet. Service and child talk over
a stream pair: the child sends `READY` once it is warm (or `FAILED` and why), takes one frame with its work, and answers
with one frame.
A frame is a length of four bytes, little-endian, and that many bytes of JSON.
"""

import struct
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

READY = b"R"
FAILED = b"F"
MAX_REASON_BYTES = 500
LENGTH = struct.Struct("<I")
# Program text of 200,000 characters at most, in JSON; and a value and a console of 100,000 each, with room for escapes.
MAX_WORK_BYTES = 2 * 1024 * 1024
MAX_ANSWER_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Order:
    """Service to zygote. `fork` carries the child's end of its stream pair as the packet's one descriptor."""

    FORM: ClassVar = struct.Struct("<cI")

    what: Literal["fork", "kill"]
    child: int

    def pack(self) -> bytes:
        """The packet."""
        return self.FORM.pack(self.what[:1].encode(), self.child)

    @classmethod
    def unpack(cls, packet: bytes) -> Self:
        """The order in a packet."""
        letter, child = cls.FORM.unpack(packet)
        return cls("fork" if letter == b"f" else "kill", child)


@dataclass(frozen=True)
class Notice:
    """Zygote to service: the child has ended and was reaped. `exit_code` is negative for a signal."""

    FORM: ClassVar = struct.Struct("<Ii")

    child: int
    exit_code: int

    def pack(self) -> bytes:
        """The packet."""
        return self.FORM.pack(self.child, self.exit_code)

    @classmethod
    def unpack(cls, packet: bytes) -> Self:
        """The notice in a packet."""
        return cls(*cls.FORM.unpack(packet))


def frame(body: bytes) -> bytes:
    """A body with its length in front."""
    return LENGTH.pack(len(body)) + body
