#!/usr/bin/env python3
"""clients.py WHAT PORT COOKIE: clients of a server that behave badly. Ends when the server answers others."""
import os
import random
import resource
import socket
import struct
import sys
import threading

what, port, cookie = sys.argv[1], int(sys.argv[2]), sys.argv[3]
HANG = float(os.environ.get("HANG", 3600))
REQUEST = f"GET /%s HTTP/1.1\r\nHost: localhost:{port}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"


def connect():
    s = socket.socket()
    s.settimeout(HANG)
    s.connect(("127.0.0.1", port))
    return s


def reset(s):
    """The other side gets an error, not an end."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def is_answered(path="api/1/trace"):
    """Connections may be closed while there are too many."""
    try:
        with connect() as s:
            s.sendall((REQUEST % path).encode())
            answer = b""
            while part := s.recv(1 << 16):
                answer += part
            return answer.startswith(b"HTTP/1.1 200 ")
    except OSError:
        return False


def leave():
    for n in range(200):
        s = connect()
        request = (REQUEST % ("" if n % 2 else "api/1/trace")).encode()
        s.sendall(request[: len(request) if n % 3 else 3 * n % len(request)])
        if n % 4 == 0 and n % 3:
            s.recv(1)
        (reset if n % 5 else socket.socket.close)(s)


def garbage():
    random.seed(1)
    for n in range(200):
        with connect() as s:
            request = bytearray((REQUEST % "api/1/trace?x=%zz&%").encode())
            if n % 2:
                request = bytearray(random.randbytes(n * 10))
            else:
                for _ in range(5):
                    request[random.randrange(len(request))] = random.randrange(256)
            try:
                s.sendall(request)
                s.shutdown(socket.SHUT_WR)
                while s.recv(1 << 16):
                    pass
            except OSError:
                pass


def many():
    """Each of 32 clients is answered 20 times."""
    missed = []

    def ask():
        for _ in range(20):
            if not is_answered():
                missed.append(1)

    threads = [threading.Thread(target=ask) for _ in range(32)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if missed:
        sys.exit(f"{len(missed)} of 640 questions were not answered")


def silent():
    """Connections that send nothing, or a part of a request, are closed in the end."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, max(2048, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    held = []
    for n in range(1000):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", port))
        held.append(s)
        if n % 2:
            try:
                s.send(b"GET / HT")
            except OSError:
                pass
    while not is_answered():
        pass


{"leave": leave, "garbage": garbage, "many": many, "silent": silent}[what]()
if not is_answered():
    sys.exit("the server does not answer")
