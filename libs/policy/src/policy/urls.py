"""Read the URL of one hop into the one place it means, or refuse it.

The reader is stricter than RFC 3986 where programs are known to differ: back-slashes, control characters, spaces, user
information and an empty host are refused rather than repaired.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote

from contracts import errors
from contracts.errors import Refusal
from policy.hosts import Host, host_text, parse_host

MAX_URL_CHARACTERS = 8_192
MAX_PORT = 65_535
DEFAULT_PORTS = {"http": 80, "https": 443}

# RFC 3986 appendix B, with a scheme and an authority that must be there.
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?", re.DOTALL
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]{0,5}))?")
# C0 controls, space, DEL, C1 controls, and the line and paragraph separators.
_FORBIDDEN = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029]")
# What may stand in a path and query as it is: RFC 3986 reserved and unreserved characters, the percent sign, and what
# servers take although it should be encoded.
_AS_IT_IS = "!#$%&'()*+,-./:;<=>?@[]^_`{|}~\""


@dataclass(frozen=True)
class Target:
    """One place on the web: scheme, canonical host, port, and what is asked for there, in ASCII and without a fragment."""

    scheme: str
    host: Host
    port: int
    path_and_query: str

    @property
    def authority(self) -> str:
        """What a Host header says."""
        return host_text(self.host) if self.port == DEFAULT_PORTS[self.scheme] else f"{host_text(self.host)}:{self.port}"

    @property
    def url(self) -> str:
        """The URL that every program reads in the same way; ask for this one, not for what was given."""
        return f"{self.scheme}://{self.authority}{self.path_and_query}"


def parse_url(text: str) -> Target | Refusal:
    """Read an http or https URL. Whether its host may be reached is for `destinations.judge_destination` to say."""
    if len(text) > MAX_URL_CHARACTERS:
        return _malformed(f"The URL is longer than {MAX_URL_CHARACTERS} characters.")
    if holds_ambiguity(text):
        return _malformed("The URL holds a space, a control character or a back-slash.", "Percent-encode it.")
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() not in DEFAULT_PORTS:
        return Refusal(
            code=errors.URL_SCHEME, detail=f"The scheme {scheme[1][:32]} is not http or https.", hint="Use an http or https URL."
        )
    match = _URL.fullmatch(text)
    if match is None:
        return _malformed("This is not a URL with a scheme and a host.")
    place = parse_authority(match["authority"], default_port=DEFAULT_PORTS[match["scheme"].lower()])
    if isinstance(place, Refusal):
        return place
    try:
        path_and_query = quote((match["path"] or "/") + (match["query"] or ""), safe=_AS_IT_IS + "\\")
    except UnicodeEncodeError:
        return _malformed("The URL is not valid Unicode.")
    return Target(match["scheme"].lower(), *place, path_and_query)


def holds_ambiguity(text: str) -> bool:
    """Whether a URL or reference holds what programs are known to read in different ways: spaces, controls, back-slashes."""
    return bool(_FORBIDDEN.search(text)) or "\\" in text.partition("?")[0].partition("#")[0]


def parse_authority(text: str, *, default_port: int | None) -> tuple[Host, int] | Refusal:
    """Read `host` or `host:port`; without a default the port must be there."""
    if "@" in text:
        return _malformed("The URL holds user information before its host.", "Leave out everything up to the @.")
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return _malformed("The host and port cannot be read.")
    port = int(match["port"]) if match["port"] else default_port
    if port is None or not 1 <= port <= MAX_PORT:
        return _malformed("The port is missing or not between 1 and 65535.")
    host = parse_host(match["host"])
    return host if isinstance(host, Refusal) else (host, port)


def _malformed(detail: str, hint: str = "Check the URL.") -> Refusal:
    return Refusal(code=errors.URL_MALFORMED, detail=detail, hint=hint)
