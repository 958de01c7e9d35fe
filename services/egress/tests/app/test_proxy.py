"""The whole proxy over real sockets on loopback, with a resolver that remembers what it was asked."""

import asyncio
import json
import socket
from dataclasses import replace
from ipaddress import ip_network

import pytest

from contracts import errors
from contracts.tickets import AllowedHost, NetworkGrant
from egress.domain.limits import Limits
from policy.destinations import OperatorRules

NOBODY = OperatorRules()
PUBLIC_NAME = "site.example.com"


def status_and_code(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["code"]


def get(url: str, credential: str = "", host: str | None = None) -> str:
    return f"GET {url} HTTP/1.1\r\nHost: {host or url.split('/')[2]}\r\n{credential}\r\n"


def connect(target: str, credential: str = "") -> str:
    return f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{credential}\r\n"


# --- who may ask ---


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (None, errors.TICKET_MISSING),
        ({"audience": "tool-runner"}, errors.TICKET_AUDIENCE),
        ({"deadline": 1}, errors.TICKET_EXPIRED),
        ({"arguments": {"command": "ls"}}, errors.TICKET_MALFORMED),
    ],
)
@pytest.mark.parametrize("target", [PUBLIC_NAME, "127.0.0.1", "localhost"])
def test_without_a_valid_ticket_nothing_is_looked_up_or_dialled(tell, basic, make_ticket, changes, code, target) -> None:
    credential = "" if changes is None else basic(make_ticket(**changes))

    async def story(setup) -> None:
        setup.resolver.answers = {PUBLIC_NAME: ["127.0.0.1"]}
        place = f"{target}:{setup.origin.port}"
        for request in (connect(place, credential), get(f"http://{place}/", credential)):
            assert status_and_code(await setup.talk(request)) == (407, code)
        assert setup.resolver.asked == []
        assert setup.origin.connections == 0
        assert setup.decisions.lines == []

    tell(story)


@pytest.mark.parametrize("mangled", ["x", "AAAA.BBBB", "." * 500])
def test_a_forged_ticket_is_turned_away(tell, basic, mangled) -> None:
    async def story(setup) -> None:
        answer = await setup.talk(connect(f"{PUBLIC_NAME}:443", basic(mangled)))
        assert answer.startswith(b"HTTP/1.1 407 ")
        assert setup.resolver.asked == []

    tell(story)


def test_the_network_switch_refuses_before_any_lookup_and_is_reported(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        answer = await setup.talk(connect(f"{PUBLIC_NAME}:443", basic(make_ticket(network=NetworkGrant()))))
        assert status_and_code(answer) == (403, errors.NETWORK_OFF)
        assert setup.resolver.asked == []
        (line,) = setup.decisions.lines
        assert (line.outcome, line.code, line.host, line.port) == ("refused", errors.NETWORK_OFF, PUBLIC_NAME, 443)

    tell(story)


# --- where to ---


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        (["127.0.0.1"], errors.ADDRESS_LOOPBACK),
        (["10.0.0.1"], errors.ADDRESS_PRIVATE),
        (["169.254.169.254"], errors.ADDRESS_METADATA),
        (["1.1.1.1", "192.168.0.1"], errors.ADDRESS_PRIVATE),
        (["::ffff:127.0.0.1"], errors.ADDRESS_LOOPBACK),
        (["2606:4700::1111"], errors.ADDRESS_FAMILY),
    ],
)
def test_a_name_with_a_bad_answer_is_refused_and_reported(tell, basic, make_ticket, answers, code) -> None:
    async def story(setup) -> None:
        setup.resolver.answers = {PUBLIC_NAME: answers}
        place = f"{PUBLIC_NAME}:{setup.origin.port}"
        for request in (connect(place, basic(make_ticket())), get(f"http://{place}/", basic(make_ticket()))):
            assert status_and_code(await setup.talk(request)) == (403, code)
        assert setup.origin.connections == 0
        assert [(line.method, line.outcome, line.code, line.host, line.port) for line in setup.decisions.lines] == [
            ("CONNECT", "refused", code, PUBLIC_NAME, setup.origin.port),
            ("HTTP", "refused", code, PUBLIC_NAME, setup.origin.port),
        ]

    tell(story, operator=NOBODY)


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("127.0.0.1", errors.ADDRESS_LOOPBACK),
        ("0x7f.1", errors.ADDRESS_LOOPBACK),
        ("[::1]", errors.ADDRESS_LOOPBACK),
        ("[::ffff:7f00:1]", errors.ADDRESS_LOOPBACK),
        ("localhost", errors.HOST_BLOCKED),
        ("host.docker.internal", errors.HOST_BLOCKED),
        ("redis", errors.HOST_BLOCKED),
    ],
)
def test_a_local_host_is_refused_without_a_lookup(tell, basic, make_ticket, host, code) -> None:
    async def story(setup) -> None:
        answer = await setup.talk(connect(f"{host}:{setup.origin.port}", basic(make_ticket())))
        assert status_and_code(answer) == (403, code)
        assert setup.resolver.asked == []
        assert setup.origin.connections == 0

    tell(story, operator=NOBODY)


def test_a_name_without_an_answer_fails(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        answer = await setup.talk(connect(f"{PUBLIC_NAME}:443", basic(make_ticket())))
        assert status_and_code(answer) == (502, errors.HOST_UNRESOLVED)
        assert [line.outcome for line in setup.decisions.lines] == ["failed"]

    tell(story)


def test_a_name_is_looked_up_once_for_each_request(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        setup.resolver.answers = {PUBLIC_NAME: ["127.0.0.1"]}
        answer = await setup.talk(get(f"http://{PUBLIC_NAME}:{setup.origin.port}/", basic(make_ticket())))
        assert answer.endswith(b"ok")
        assert setup.resolver.asked == [PUBLIC_NAME]
        (line,) = setup.decisions.lines
        assert (line.outcome, line.address, line.host, line.port) == ("connected", "127.0.0.1", PUBLIC_NAME, setup.origin.port)

    tell(story)


def test_a_slow_lookup_ends_in_a_time_out(tell, basic, make_ticket, SpyResolver) -> None:
    async def story(setup) -> None:
        answer = await setup.talk(connect(f"{PUBLIC_NAME}:443", basic(make_ticket())))
        assert status_and_code(answer) == (504, errors.HOST_TIMED_OUT)

    tell(story, resolver=SpyResolver(delay=20), limits=Limits(connect_seconds=0.2))


def test_a_closed_port_is_a_failure_that_names_its_address(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            answer = await setup.talk(connect(f"127.0.0.1:{unused.getsockname()[1]}", basic(make_ticket())))
        assert status_and_code(answer) == (502, errors.HOST_UNREACHABLE)
        assert b"127.0.0.1" in answer

    tell(story)


def test_an_allowed_host_is_dialled_at_its_pinned_address_and_nothing_beside_it(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        port = setup.origin.port
        allowed = AllowedHost(host="nas.lan", port=port, address="127.0.0.1")
        credential = basic(make_ticket(network=NetworkGrant(enabled=True, allowed_hosts=(allowed,))))
        assert (await setup.talk(get(f"http://nas.lan:{port}/", credential))).endswith(b"ok")
        assert setup.resolver.asked == []
        for other in (f"nas.lan:{port + 1}", f"127.0.0.1:{port}", f"x.nas.lan:{port}"):
            assert status_and_code(await setup.talk(connect(other, credential)))[0] == 403
        assert setup.origin.connections == 1

    tell(story, operator=NOBODY)


def test_the_operators_networks_open_only_what_they_name(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        answer = await setup.talk(connect(f"127.0.0.1:{setup.origin.port}", basic(make_ticket())))
        assert status_and_code(answer) == (403, errors.ADDRESS_LOOPBACK)

    tell(story, operator=OperatorRules(networks=(ip_network("127.0.0.2/32"),)))


# --- plain HTTP ---


def test_a_plain_request_reaches_the_server_without_its_credential(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        place = f"127.0.0.1:{setup.origin.port}"
        answer = await setup.talk(get(f"http://{place}/a?b=c", basic(make_ticket())))
        assert answer.endswith(b"\r\n\r\nok")
        assert bytes(setup.origin.got) == f"GET /a?b=c HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n".encode()

    tell(story)


SMUGGLING = {
    "both lengths": "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": "Content-Length: 0\r\nContent-Length: 44\r\n\r\n",
    "lengths in a list": "Content-Length: 0, 0\r\n\r\n",
    "odd transfer encoding": "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "space before colon": "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "folded": "X: y\r\n Transfer-Encoding: chunked\r\n\r\n",
    "bare LF": "X: y\nTransfer-Encoding: chunked\r\n\r\n",
    "bare CR": "X: y\rTransfer-Encoding: chunked\r\n\r\n",
    "NUL": "X: y\x00\r\n\r\n",
    "second host": "Host: other.example.com\r\n\r\n",
    "connection names length": "Content-Length: 5\r\nConnection: content-length\r\n\r\nhello",
    "too long": "X: " + "a" * 40_000 + "\r\n\r\n",
}


@pytest.mark.parametrize("tail", SMUGGLING.values(), ids=SMUGGLING.keys())
def test_a_request_with_two_readings_reaches_no_server(tell, basic, make_ticket, tail) -> None:
    async def story(setup) -> None:
        url = f"http://127.0.0.1:{setup.origin.port}/"
        answer = await setup.talk(get(url, basic(make_ticket()))[:-2] + tail)
        assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 "))
        assert setup.origin.connections == 0

    tell(story)


def test_another_host_header_reaches_no_server(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        answer = await setup.talk(get(f"http://127.0.0.1:{setup.origin.port}/", basic(make_ticket()), host="other.example.com"))
        assert status_and_code(answer) == (400, errors.REQUEST_MALFORMED)
        assert setup.origin.connections == 0

    tell(story)


def test_a_second_request_on_the_connection_is_not_passed_on(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        url = f"http://127.0.0.1:{setup.origin.port}"
        await setup.talk(get(f"{url}/first", basic(make_ticket())) + get(f"{url}/second", basic(make_ticket())))
        assert b"/first" in setup.origin.got
        assert b"/second" not in setup.origin.got
        assert setup.origin.connections == 1

    tell(story)


def test_a_body_that_breaks_its_framing_cuts_both_connections(tell, basic, make_ticket, Origin) -> None:
    async def story(setup) -> None:
        head = get(f"http://127.0.0.1:{setup.origin.port}/", basic(make_ticket())).replace("GET", "POST")[:-2]
        reader, writer = await asyncio.open_connection("127.0.0.1", setup.port)
        writer.write((head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n").encode())
        await asyncio.sleep(0.2)
        writer.write(b"nonsense\r\nGET /smuggled HTTP/1.1\r\n\r\n")
        async with asyncio.timeout(5):
            with pytest.raises(ConnectionResetError):
                await reader.read()
        assert b"5\r\nhello\r\n" in setup.origin.got
        assert b"smuggled" not in setup.origin.got

    tell(story, origin=Origin(answer=b""))


def test_a_large_chunked_body_arrives_whole(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        head = get(f"http://127.0.0.1:{setup.origin.port}/", basic(make_ticket())).replace("GET", "PUT")[:-2]
        body = bytes(range(256)) * 4_000
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(body[i : i + 9_999]), body[i : i + 9_999]) for i in range(0, len(body), 9_999))
        setup.origin.answer = b""
        reader, writer = await asyncio.open_connection("127.0.0.1", setup.port)
        writer.write((head + "Transfer-Encoding: chunked\r\n\r\n").encode() + chunks + b"0\r\n\r\n")
        await writer.drain()
        async with asyncio.timeout(5):
            while not setup.origin.got.endswith(b"\r\n0\r\n\r\n"):
                await asyncio.sleep(0.01)
        writer.close()
        del reader
        sent, _, rest = bytes(setup.origin.got).partition(b"\r\n\r\n")
        assert b"Transfer-Encoding: chunked" in sent
        assert _unchunk(rest) == body

    tell(story)


def _unchunk(data: bytes) -> bytes:
    out = b""
    while True:
        size, _, data = data.partition(b"\r\n")
        if not int(size, 16):
            return out
        out, data = out + data[: int(size, 16)], data[int(size, 16) + 2 :]


# --- tunnels ---


def test_a_tunnel_carries_bytes_both_ways_and_the_end(tell, basic, make_ticket, Origin) -> None:
    async def story(setup) -> None:
        head, reader, writer = await setup.tunnel(f"127.0.0.1:{setup.origin.port}", basic(make_ticket()))
        assert head == b"HTTP/1.1 200 Connection Established\r\n\r\n"
        data = bytes(range(256)) * 40_000
        sending = asyncio.create_task(_send(writer, data))
        async with asyncio.timeout(10):
            assert await reader.readexactly(len(data)) == data
            await sending
            assert await reader.read() == b""
        writer.close()

    tell(story, origin=Origin(echo=True))


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()
    writer.write_eof()


def test_bytes_that_come_with_the_connect_are_passed_on(tell, basic, make_ticket, Origin) -> None:
    async def story(setup) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", setup.port)
        writer.write(connect(f"127.0.0.1:{setup.origin.port}", basic(make_ticket())).encode() + b"early")
        async with asyncio.timeout(5):
            await reader.readuntil(b"\r\n\r\n")
            assert await reader.readexactly(5) == b"early"
        writer.close()

    tell(story, origin=Origin(echo=True))


def test_a_reader_that_does_not_read_stops_the_sender(tell, basic, make_ticket, Origin) -> None:
    async def story(setup) -> None:
        _, reader, writer = await setup.tunnel(f"127.0.0.1:{setup.origin.port}", basic(make_ticket()))
        writer.transport.set_write_buffer_limits(high=1)
        stuck = asyncio.create_task(_send(writer, bytes(100_000_000)))
        reader._transport.pause_reading()  # type: ignore[attr-defined]  # a client that does not read
        await asyncio.sleep(1)
        assert not stuck.done()
        assert len(setup.origin.got) < 40_000_000
        writer.transport.abort()
        stuck.cancel()

    tell(story, origin=Origin(echo=True))


@pytest.mark.parametrize("limits", [Limits(idle_seconds=0.5), Limits(total_seconds=0.5)])
def test_a_silent_tunnel_is_cut(tell, basic, make_ticket, Origin, limits) -> None:
    async def story(setup) -> None:
        _, reader, writer = await setup.tunnel(f"127.0.0.1:{setup.origin.port}", basic(make_ticket()))
        await _until_cut(reader)
        writer.close()

    tell(story, origin=Origin(echo=True), limits=limits)


def test_a_tunnel_does_not_outlive_its_ticket(tell, basic, make_ticket, now, Origin) -> None:
    async def story(setup) -> None:
        _, reader, writer = await setup.tunnel(f"127.0.0.1:{setup.origin.port}", basic(make_ticket(deadline=now + 700)))
        await _until_cut(reader)
        writer.close()

    tell(story, origin=Origin(echo=True))


def test_a_tunnel_ends_at_its_limit_of_bytes(tell, basic, make_ticket, Origin) -> None:
    async def story(setup) -> None:
        _, reader, writer = await setup.tunnel(f"127.0.0.1:{setup.origin.port}", basic(make_ticket()))
        writer.write(bytes(5_000))
        await _until_cut(reader)
        assert len(setup.origin.got) <= 1_000
        writer.close()

    tell(story, origin=Origin(echo=True), limits=Limits(bytes_per_connection=1_000))


async def _until_cut(reader: asyncio.StreamReader) -> None:
    async with asyncio.timeout(5):
        try:
            while await reader.read(65_536):
                pass
        except ConnectionError:
            pass


# --- limits ---


def test_a_call_has_only_so_many_tunnels_and_gets_them_back(tell, basic, make_ticket, Origin) -> None:
    async def story(setup) -> None:
        place = f"127.0.0.1:{setup.origin.port}"
        one, other = basic(make_ticket()), basic(make_ticket(call_id="e" * 32))
        tunnels = [await setup.tunnel(place, one) for _ in range(2)]
        assert status_and_code(await setup.talk(connect(place, one))) == (503, errors.NETWORK_BUSY)
        head, _, writer = await setup.tunnel(place, other)
        assert b" 200 " in head
        for _, _, each in (*tunnels, (head, None, writer)):
            each.transport.abort()
        async with asyncio.timeout(5):
            while setup.proxy.handler._open._open:  # what is counted cannot be seen from outside
                await asyncio.sleep(0.01)
        head, _, writer = await setup.tunnel(place, one)
        assert b" 200 " in head
        writer.close()

    tell(story, origin=Origin(echo=True), limits=Limits(connections_per_call=2))


def test_what_failed_is_not_counted_as_open(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        for _ in range(5):
            answer = await setup.talk(connect(f"{PUBLIC_NAME}:443", basic(make_ticket())))
            assert status_and_code(answer) == (502, errors.HOST_UNRESOLVED)
        await asyncio.sleep(0)
        assert not setup.proxy.handler._open._open  # as above

    tell(story, limits=Limits(connections_per_call=1))


def test_a_slow_head_is_cut_while_others_are_served(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", setup.port)
        dripping = asyncio.create_task(_drip(writer))
        started = asyncio.get_running_loop().time()
        answer = await setup.talk(get(f"http://127.0.0.1:{setup.origin.port}/", basic(make_ticket())))
        assert answer.endswith(b"ok")
        await _until_cut(reader)
        assert asyncio.get_running_loop().time() - started < 3
        dripping.cancel()
        writer.close()

    tell(story, limits=Limits(head_seconds=0.7))


async def _drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET http://example.com/ HTTP/1.1\r\nX: ")
    while True:
        writer.write(b"a")
        await asyncio.sleep(0.05)


def test_a_crowd_of_silent_connections_shuts_nobody_out(tell, basic, make_ticket) -> None:
    async def story(setup) -> None:
        crowd = [await asyncio.open_connection("127.0.0.1", setup.port) for _ in range(30)]
        answer = await setup.talk(get(f"http://127.0.0.1:{setup.origin.port}/", basic(make_ticket())))
        assert answer.endswith(b"ok")
        await _until_cut(crowd[0][0])
        assert len(setup.proxy.listener._waiting) <= 5  # what is held cannot be seen from outside
        for _, writer in crowd:
            writer.close()

    tell(story, limits=replace(Limits(), waiting=5))


def test_a_client_that_leaves_during_the_lookup_leaves_nothing_behind(tell, basic, make_ticket, SpyResolver) -> None:
    async def story(setup) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", setup.port)
        writer.write(connect(f"{PUBLIC_NAME}:443", basic(make_ticket())).encode())
        await asyncio.sleep(0.1)
        writer.transport.abort()
        async with asyncio.timeout(10):
            while setup.proxy.handler._open._open or setup.proxy.listener._relays:  # as above
                await asyncio.sleep(0.02)

    tell(story, resolver=SpyResolver(delay=1), limits=Limits(connect_seconds=2))
