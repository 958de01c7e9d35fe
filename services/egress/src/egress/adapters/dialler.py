"""Connections to judged addresses."""

import asyncio
import socket
from collections.abc import Callable
from ipaddress import IPv4Address, ip_address

from policy.addresses import IPAddress


class TCPDialler:
    """Connects to an address and to nothing else: no name ever gets here."""

    async def dial[P: asyncio.BaseProtocol](self, address: IPAddress, port: int, protocol: Callable[[], P]) -> P:
        """See `domain.ports.Dialler.dial`."""
        family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
        transport, made = await asyncio.get_running_loop().create_connection(protocol, str(address), port, family=family)
        peer = transport.get_extra_info("peername")
        if peer is None or ip_address(peer[0]) != address:
            transport.abort()
            message = f"the connection went to {peer}, not to {address}"
            raise OSError(message)
        return made
