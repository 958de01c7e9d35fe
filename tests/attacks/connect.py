"""Try TCP connections to many addresses at once. Argument: JSON `[[host, port], ...]`. Prints one outcome for each.

`open`, an errno's name (`ECONNREFUSED` tells that somebody is there), or `timeout` after two seconds.
"""

import errno
import json
import selectors
import socket
import sys
import time

targets = json.loads(sys.argv[1])
outcomes = ["timeout"] * len(targets)
selector = selectors.DefaultSelector()
for index, (host, port) in enumerate(targets):
    attempt = socket.socket()
    attempt.setblocking(False)
    code = attempt.connect_ex((host, port))
    if code in {0, errno.EINPROGRESS}:
        selector.register(attempt, selectors.EVENT_WRITE, index)
    else:
        outcomes[index] = errno.errorcode[code]

deadline = time.monotonic() + 2
while selector.get_map() and (left := deadline - time.monotonic()) > 0:
    for key, _ in selector.select(left):
        selector.unregister(key.fileobj)
        code = key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        outcomes[key.data] = errno.errorcode[code] if code else "open"
        key.fileobj.close()
print(json.dumps(outcomes))
