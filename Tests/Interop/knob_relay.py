"""nostr-sdk's LocalRelay in memory with options: knob_relay.py PORT OPTION=VALUE…

    login=write|read|both   needs NIP-42      refuse=1|TEXT  refuses all     notes=N   events a minute
    filter=N                events per query  reqs=N     concurrent queries  pow=N     proof-of-work bits

Prints `ready` when it listens and ends when its stdin does.
"""

import asyncio
import sys

from nostr_sdk import (
    LocalRelayBuilder, LocalRelayBuilderNip42, LocalRelayBuilderNip42Mode, RateLimit, WritePolicy, WritePolicyResult,
    uniffi_set_event_loop)


class Nothing(WritePolicy):
    def __init__(self, reason):
        super().__init__()
        self.reason = reason

    async def admit_event(self, event, socket_addr):
        return WritePolicyResult.REJECT(self.reason)


async def main():
    # The relay calls its policy in Python, from threads without an event loop.
    uniffi_set_event_loop(asyncio.get_running_loop())
    knobs = dict(argument.split("=", 1) for argument in sys.argv[2:])
    builder = LocalRelayBuilder().addr("127.0.0.1").port(int(sys.argv[1]))
    builder = builder.rate_limit(
        RateLimit(max_reqs=int(knobs.get("reqs", 500)), notes_per_minute=int(knobs.get("notes", 1_000_000))))
    if "login" in knobs:
        mode = LocalRelayBuilderNip42Mode[knobs["login"].upper()]
        builder = builder.nip42(LocalRelayBuilderNip42(mode=mode))
    if "refuse" in knobs:
        builder = builder.write_policy(Nothing("nobody writes here" if knobs["refuse"] == "1" else knobs["refuse"]))
    if "filter" in knobs:
        builder = builder.max_filter_limit(int(knobs["filter"])).default_filter_limit(int(knobs["filter"]))
    if "pow" in knobs:
        builder = builder.min_pow(int(knobs["pow"]))
    relay = builder.build()
    await relay.run()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    relay.shutdown()


asyncio.run(main())
