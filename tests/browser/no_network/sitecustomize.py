"""On the path of the app and its jobs: refuses and notes down every connection that would leave this machine."""

import os
import socket
import sys
from pathlib import Path

HERE = ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "")


def refuse(event, arguments):
    place = {"socket.connect": 1, "socket.getaddrinfo": 0, "socket.sendto": 1}.get(event)
    if place is None:
        return
    address = arguments[place]
    if event != "socket.getaddrinfo" and arguments[0].family not in (socket.AF_INET, socket.AF_INET6):
        return
    host = address[0] if isinstance(address, tuple) else address
    if host is not None and (host.decode() if isinstance(host, bytes) else host) not in HERE:
        with Path(os.environ["NO_NETWORK_LOG"]).open("a", encoding="utf-8") as log:
            log.write(f"{event} {host}\n")
        raise ConnectionRefusedError(f"the test has cut the network: {host}")


sys.addaudithook(refuse)
