"""What a command is given: its whole environment, its program, and what the kernel lets it touch."""

from collections.abc import Mapping
from pathlib import Path

from seal import Limits, Profile

PROXY_PORT = 3128
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Hidden folders of the workspace: nothing that a command writes lies outside it.
HOME = ".switchbox/home"
TMPDIR = ".switchbox/tmp"

# What shells, compilers, git, Python and Node read. /opt, /app, /keys, /run and other chats are not among it.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
# /proc as a whole would show the command lines of other chats' processes; these are the files that tools ask for.
SYSTEM_DATA = (
    "/etc",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel",
    "/proc/sys/vm",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

LIMITS = Limits(processes=256, file_bytes=1024**3, open_files=1024)


def environment(folder: Path, proxy: str | None) -> Mapping[str, str]:
    """Exactly the variables that a command has; nothing of this service's own. `proxy` holds the call's credential."""
    home, scratch = str(folder / HOME), str(folder / TMPDIR)
    variables = {"PATH": PATH, "HOME": home, "TMPDIR": scratch, "LANG": "C.UTF-8", "PWD": str(folder)}
    if proxy is not None:
        variables |= dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), proxy)
    return variables


def profile(folder: Path, *, network: bool, protected_pids: tuple[int, ...], unsafe_no_landlock: bool) -> Profile:
    """What the command may touch: its workspace, a read-only system, and with the network on the filter's port."""
    return Profile(
        read_write=(str(folder),),
        read_only=SYSTEM,
        read_data=SYSTEM_DATA,
        devices=DEVICES,
        tcp_connect_ports=(PROXY_PORT,) if network else (),
        protected_pids=protected_pids,
        limits=LIMITS,
        unsafe_allow_no_landlock=unsafe_no_landlock,
    )
