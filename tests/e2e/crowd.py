# SPDX-License-Identifier: GPL-3.0-or-later
"""crowd.py HOST PORT TOKEN: clients that mean no good, until they are killed.

A hundred follow the run's events, half of which never read what they are
sent; four ask for all of its trials, over and over; fifty begin a request and
do not end it. Whoever is turned away or cut off comes again. They run only
when nobody else wants the processor."""

import asyncio
import os
import sys

STREAMS, FLOODS, HALF_OPEN = 100, 4, 50
HOST, PORT, TOKEN = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def request(path):
    return (f"GET {path} HTTP/1.1\r\nHost: {HOST}:{PORT}\r\n"
            f"Authorization: Bearer {TOKEN}\r\n").encode()


async def follow(reads):
    reader, writer = await asyncio.open_connection(HOST, PORT, limit=1 << 16)
    try:
        writer.write(request("/api/v1/events?run=1") + b"\r\n")
        while reads and await reader.read(1 << 16):
            pass
        await asyncio.sleep(5)  # without a look at what comes
    finally:
        writer.close()


async def flood():
    reader, writer = await asyncio.open_connection(HOST, PORT, limit=1 << 20)
    try:
        writer.write(request("/api/v1/runs/1/columns?since=0") +
                     b"Connection: close\r\n\r\n")
        while await reader.read(1 << 20):
            pass
    finally:
        writer.close()


async def begin():
    _, writer = await asyncio.open_connection(HOST, PORT)
    try:
        writer.write(request("/api/v1/runs"))
        await asyncio.sleep(5)  # without the rest of its request
    finally:
        writer.close()


async def again_and_again(client, *words):
    while True:
        try:
            await client(*words)
        except OSError:
            pass
        await asyncio.sleep(0.01)  # others come to their turn


async def main():
    await asyncio.gather(
        *(again_and_again(follow, i % 2 == 0) for i in range(STREAMS)),
        *(again_and_again(flood) for _ in range(FLOODS)),
        *(again_and_again(begin) for _ in range(HALF_OPEN)))


os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
asyncio.run(main())
