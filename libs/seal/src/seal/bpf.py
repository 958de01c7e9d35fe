"""Writing a seccomp filter as classic BPF (kernel docs, userspace-api/seccomp_filter; struct seccomp_data).

A filter here is a list of instructions; the pieces below give short ones that fall through to the next piece.
"""

import ctypes
import struct

# include/uapi/linux/bpf_common.h: load a word at an absolute place, compare, mask, return.
LD_W_ABS, JMP_JEQ, JMP_JGE, JMP_JSET, ALU_AND, RET = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06

# include/uapi/linux/seccomp.h
RET_KILL_PROCESS, RET_ALLOW, RET_ERRNO = 0x8000_0000, 0x7FFF_0000, 0x0005_0000

# struct seccomp_data {int nr; __u32 arch; __u64 instruction_pointer; __u64 args[6];}, little-endian.
NUMBER, ARCHITECTURE = 0, 4

Instruction = tuple[int, int, int, int]
Piece = list[Instruction]


def low_word(argument: int) -> int:
    """Where the lower half of an argument lies; the arguments that are judged here are 32 bits wide."""
    return 16 + 8 * argument


def load(place: int) -> Instruction:
    """Load the word at that place of seccomp_data."""
    return (LD_W_ABS, 0, 0, place)


def answer(value: int) -> Instruction:
    """End the filter with that answer."""
    return (RET, 0, 0, value)


def fail(error: int) -> Instruction:
    """The system call fails with that errno."""
    return answer(RET_ERRNO | error)


def when_equal(value: int, then: Piece) -> Piece:
    """If the loaded word is `value`, do `then`; else go on after it."""
    return [(JMP_JEQ, 0, len(then), value & 0xFFFF_FFFF), *then]


def when_at_least(value: int, then: Piece) -> Piece:
    """If the loaded word, unsigned, is `value` or more, do `then`; else go on after it."""
    return [(JMP_JGE, 0, len(then), value), *then]


def when_any_bit(mask: int, then: Piece) -> Piece:
    """If the loaded word has one of these bits, do `then`; else go on after it."""
    return [(JMP_JSET, 0, len(then), mask), *then]


def unless_in(values: tuple[int, ...], then: Piece) -> Piece:
    """If the loaded word is none of `values`, do `then`; else go on after it."""
    checks = [(JMP_JEQ, len(values) - place - 1 + len(then), 0, value) for place, value in enumerate(values)]
    return [*checks, *then]


def masked(mask: int) -> Instruction:
    """Keep only these bits of the loaded word."""
    return (ALU_AND, 0, 0, mask)


class Program(ctypes.Structure):
    """struct sock_fprog: the number of instructions, and where they are."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def encode(instructions: Piece) -> bytes:
    """The instructions as struct sock_filter[]."""
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in instructions)
