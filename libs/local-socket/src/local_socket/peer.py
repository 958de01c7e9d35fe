"""Who is at the other end of a Unix socket."""

import socket
import struct


def peer_uid(connection: socket.socket) -> int:
    """The uid of the process that connected, as the kernel recorded it then (unix(7), SO_PEERCRED)."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _pid, uid, _gid = struct.unpack("3i", credentials)
    return int(uid)
