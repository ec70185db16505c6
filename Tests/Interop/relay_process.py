"""nostr-sdk's LocalRelay on one loopback port with its events in a folder: relay_process.py PORT FOLDER [login].

With `login` it takes and gives events only after a login (NIP-42).

Prints `ready` when it listens and ends when its stdin does. Killing it at any instant and starting it again on the
same folder keeps every event it had acknowledged.
"""

import asyncio
import sys

from nostr_sdk import (
    LocalRelayBuilder, LocalRelayBuilderNip42, LocalRelayBuilderNip42Mode, NostrLmdb, RateLimit,
    uniffi_set_event_loop)


async def main():
    # The relay calls its database back through Python, from threads that have no event loop.
    uniffi_set_event_loop(asyncio.get_running_loop())
    port, folder = int(sys.argv[1]), sys.argv[2]
    database = await NostrLmdb.open(folder)
    builder = LocalRelayBuilder().addr("127.0.0.1").port(port).database(database)
    # The library's default of 60 events a minute from one connection would throttle a load of messages.
    builder = builder.rate_limit(RateLimit(max_reqs=500, notes_per_minute=1_000_000))
    if sys.argv[3:] == ["login"]:
        builder = builder.nip42(LocalRelayBuilderNip42(mode=LocalRelayBuilderNip42Mode.BOTH))
    relay = builder.build()
    await relay.run()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    relay.shutdown()


asyncio.run(main())
