"""How many UDP datagrams this container has sent since it started, asking its resolver included. Prints the number."""

import json
from pathlib import Path

names, values = (line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if line.startswith("Udp:"))
print(json.dumps(int(values[names.index("OutDatagrams")])))
