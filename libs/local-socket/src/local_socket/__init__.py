"""HTTP over a Unix socket whose server knows who calls: the kernel's word on the peer's uid, checked at each connection."""

from local_socket.client import client
from local_socket.peer import peer_uid
from local_socket.server import serve

__all__ = ["client", "peer_uid", "serve"]
