"""nostr-sdk's LocalRelay on one loopback port with its events in a folder: relay_process.py PORT FOLDER [login].

With `login` it accepts and returns events only after a login (NIP-42).

Prints `ready` when it listens and ends when its stdin does. After a kill and a
restart on the same folder it has every acknowledged event.
"""

import asyncio
import sys

from nostr_sdk import (
    LocalRelayBuilder, LocalRelayBuilderNip42, LocalRelayBuilderNip42Mode, NostrLmdb, RateLimit,
    uniffi_set_event_loop)


async def main():
    # The relay calls its database in Python, from threads without an event loop.
    uniffi_set_event_loop(asyncio.get_running_loop())
    port, folder = int(sys.argv[1]), sys.argv[2]
    database = await NostrLmdb.open(folder)
    builder = LocalRelayBuilder().addr("127.0.0.1").port(port).database(database)
    # The default of 60 events a minute per connection would throttle the tests.
    builder = builder.rate_limit(RateLimit(max_reqs=500, notes_per_minute=1_000_000))
    if sys.argv[3:] == ["login"]:
        builder = builder.nip42(LocalRelayBuilderNip42(mode=LocalRelayBuilderNip42Mode.BOTH))
    relay = builder.build()
    await relay.run()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    relay.shutdown()


asyncio.run(main())
