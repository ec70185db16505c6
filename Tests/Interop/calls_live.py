"""Call signals between our account and MDK members, which are written by hand because MDK has no calls.

    DIR/venv/bin/python Tests/Interop/calls_live.py PIKABOT_BINARY [--only TEXT]

MDK members cannot prove their own invites, because MDK's Python interface exports no group key; so theirs are refused,
and ours are answered with the token that they carry. No transport supports the address, so an accepted call ends.
"""

import argparse
import json
import re
import time
import uuid

from pikabot import EchoWorker, LabError, LabMember
from scenario import check, main

URL = "https://moq.example/anon"
AUDIO = {"name": "audio0", "codec": "opus", "sample_rate": 48000, "channels": 1, "frame_ms": 20}
WAIT_SECONDS = 60


def signal(kind, call, body, **changes):
    content = {"v": 1, "ns": "pika.call", "type": f"call.{kind}", "call_id": call, "ts_ms": int(time.time() * 1000),
               "from": None, "body": body}
    return json.dumps({**content, **changes})


async def signal_from(guest, sender, kind, call=None):
    """Returns the first signal of this type that a guest reads, parsed."""

    def fits(text):
        try:
            content = json.loads(text)
        except ValueError:
            return False
        return isinstance(content, dict) and content.get("type") == f"call.{kind}" and call in (None, content["call_id"])

    message = await guest.until_message(fits, sender, WAIT_SECONDS)
    check(message["kind"] == 10 and message["tags"] == [], f"a signal of kind {message['kind']}: {message['tags']}")
    return json.loads(message["content"])


async def room(stage, version):
    """Creates a group of one MDK member and us."""
    relay = await stage.relay()
    guest = await stage.member("guest", relay, version)
    ours = await stage.enter(LabMember(stage.options.pikabot, relay, stage.folder / "lab"))
    group = (await ours.command("create_group", name="calls", members=[guest.pubkey]))["group"]
    check(await guest.until_joined(WAIT_SECONDS) == group, "the guest joined another group")
    return ours, guest, group


async def ringing(stage, version):
    """Starts a call to the guest; returns the invite that the guest reads."""
    ours, guest, group = await room(stage, version)
    await ours.command("start_call", group=group, moq_url=URL)
    invite = await signal_from(guest, ours.pubkey, "invite")
    return ours, guest, group, invite


async def until_phase(ours, phase, call, reason=None):
    await ours.until(f"call {phase} {reason}", lambda event: event["event"] == "call_state"
                     and (event["call_id"], event["phase"], event["reason"]) == (call, phase, reason), WAIT_SECONDS)


async def our_invite(stage, version):
    ours, guest, group, invite = await ringing(stage, version)
    call, session = invite["call_id"], invite["body"]
    check(set(invite) == {"v", "ns", "type", "call_id", "ts_ms", "from", "body"}, f"fields {list(invite)}")
    check((invite["v"], invite["ns"], invite["from"]) == (1, "pika.call", None), f"{invite}")
    check(uuid.UUID(call).version == 4, f"call id {call}")
    check(abs(invite["ts_ms"] / 1000 - time.time()) < WAIT_SECONDS, f"ts_ms {invite['ts_ms']}")
    check((session["moq_url"], session["broadcast_base"]) == (URL, f"pika/calls/{call}"), f"session {session}")
    check(re.fullmatch(r"capv1_[0-9a-f]{64}", session["relay_auth"]), "malformed token")
    check(session["tracks"] == [AUDIO], f"tracks {session['tracks']}")
    await guest.send(group, signal("reject", call, {"reason": "busy"}), kind=10)
    await until_phase(ours, "ended", call, "busy")


async def accepted(stage, version):
    """Our token comes back in the accept and is recognised; the call then fails for lack of a media transport."""
    ours, guest, group, invite = await ringing(stage, version)
    call = invite["call_id"]
    await guest.send(group, signal("accept", call, invite["body"]), kind=10)
    await until_phase(ours, "ended", call, "runtime_error")
    end = await signal_from(guest, ours.pubkey, "end", call)
    check(end["body"] == {"reason": "runtime_error"}, f"{end}")


async def accepted_without_token(stage, version):
    ours, guest, group, invite = await ringing(stage, version)
    call = invite["call_id"]
    session = {**invite["body"], "relay_auth": "capv1_" + "0" * 64}
    await guest.send(group, signal("accept", call, session), kind=10)
    await until_phase(ours, "ended", call, "auth_failed")
    check((await signal_from(guest, ours.pubkey, "end", call))["body"] == {"reason": "auth_failed"}, "wrong reason for the end")


async def accepted_after_a_commit(stage, version):
    ours, guest, group, invite = await ringing(stage, version)
    call = invite["call_id"]
    await ours.command("rename", group=group, name="another epoch")
    await guest.until_state(group, name="another epoch")
    await guest.send(group, signal("accept", call, invite["body"]), kind=10)
    await until_phase(ours, "ended", call, "auth_failed")


async def hung_up(stage, version):
    ours, guest, group, invite = await ringing(stage, version)
    call = invite["call_id"]
    await ours.command("end_call", group=group, call_id=call, reason="user_hangup")
    check((await signal_from(guest, ours.pubkey, "end", call))["body"] == {"reason": "user_hangup"}, "wrong reason for the end")
    try:
        await ours.command("accept_call", group=group, call_id=call)
    except LabError:
        return
    check(False, "an ended call was accepted")


async def their_invites(stage, version):
    """Invites without a proof or to a busy account are refused with that reason; other signals are ignored."""
    ours, guest, group = await room(stage, version)
    session = {"moq_url": URL, "broadcast_base": "pika/calls/x", "relay_auth": "capv1_" + "a" * 64, "tracks": [AUDIO]}
    ignored = [signal("invite", "old", session, v=2), signal("invite", "other", session, ns="other"),
               signal("invite", "half", {"moq_url": URL}), signal("ring", "ring", session), "{}"]
    for content in ignored:
        await guest.send(group, content, kind=10)
    first = str(uuid.uuid4())
    await guest.send(group, signal("invite", first, session), kind=10)
    rejected = await signal_from(guest, ours.pubkey, "reject")
    check((rejected["call_id"], rejected["body"]) == (first, {"reason": "auth_failed"}), f"{rejected}")
    await ours.command("start_call", group=group, moq_url=URL)
    own = await signal_from(guest, ours.pubkey, "invite")
    second = str(uuid.uuid4())
    await guest.send(group, signal("invite", second, session), kind=10)
    rejected = await signal_from(guest, ours.pubkey, "reject", second)
    check(rejected["body"] == {"reason": "busy"}, f"{rejected}")
    # Glare: the guest refuses ours in turn.
    await guest.send(group, signal("reject", own["call_id"], {"reason": "busy"}), kind=10)
    await until_phase(ours, "ended", own["call_id"], "busy")
    answers = [message for message in guest.messages if message["kind"] == 10 and message["pubkey"] == ours.pubkey]
    check(len(answers) == 3, f"{len(answers)} signals from our account")


async def echo_bot(stage, version):
    """The bot's account automatically refuses unproven invites."""
    relay = await stage.relay()
    bot = await stage.enter(EchoWorker(stage.options.pikabot, relay, stage.folder / "worker"))
    guest = await stage.member("guest", relay, version)
    await guest.fetch_key_package(bot.pubkey, WAIT_SECONDS, [443])
    group = await guest.create_group("calls", [bot.pubkey])
    call = str(uuid.uuid4())
    session = {"moq_url": URL, "broadcast_base": f"pika/calls/{call}", "relay_auth": "", "tracks": [AUDIO]}
    await guest.send(group, signal("invite", call, session), kind=10)
    rejected = await signal_from(guest, bot.pubkey, "reject", call)
    check(rejected["body"] == {"reason": "auth_failed"}, f"{rejected}")
    await guest.send(group, "still there?")
    await guest.until_message("echo: still there?", bot.pubkey, WAIT_SECONDS)


STORIES = {
    "our invite, refused": our_invite, "our invite, accepted": accepted,
    "our invite, accepted without its token": accepted_without_token,
    "our invite, accepted after a commit": accepted_after_a_commit, "our invite, cancelled": hung_up,
    "their invites": their_invites, "their invite to the echo bot": echo_bot,
}
SCENARIOS = {
    f"{name}, {version}": lambda stage, story=story, version=version: story(stage, version)
    for name, story in STORIES.items() for version in ("0.8.0", "0.7.0")
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pikabot", help="the built pikabot program")
    main(SCENARIOS, parser)
