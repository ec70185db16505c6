#!/usr/bin/env python3
"""Drives several `pikabot convergence-node` processes over one relay, as MDK's convergence campaign drives its nodes.

    DIR/venv/bin/python Tests/Interop/nodes_live.py PIKABOT_BINARY [--only TEXT]

Quiescence is the campaign's: catch up and observe in turn until every node states two equal checkpoints in succession,
and all state the same group.
"""

import argparse
import asyncio
import hashlib
import json
from pathlib import Path

from pikabot import OurRelay, end
from scenario import check, main

PROTOCOL = "marmot-convergence-node-v1"
LINE_LIMIT = 1 << 21
COMMITTED = ["epoch", "member_identities", "admin_identities", "group_name", "group_description", "member_count"]


class NodeError(Exception):
    """An `error` response; `code` and `category` are its own."""

    def __init__(self, body):
        super().__init__(f"{body['code']}: {body['message']}")
        self.code, self.category = body["code"], body["category"]


class Node:
    """One participant: a folder with its account, and the process that has it open."""

    def __init__(self, name, binary, relay, folder):
        self.name, self.binary, self.relay, self.folder = name, Path(binary).resolve(), relay, Path(folder) / name
        self.folder.mkdir(parents=True)
        self.log, self.process, self.requests = self.folder / "node.log", None, 0

    async def start(self):
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                str(self.binary), "convergence-node", "--allow-cleartext-isolated-relay", start_new_session=True,
                limit=LINE_LIMIT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log)
        body = await self.ask("initialize", participant=self.name, root=str(self.folder / "root"), relay_urls=[self.relay.url])
        self.account = body["account_id"]

    async def line(self, text):
        """Writes one line; returns the next response."""
        self.process.stdin.write(text.encode() + b"\n")
        answer = await asyncio.wait_for(self.process.stdout.readline(), 60)
        if not answer:
            raise AssertionError(f"{self.name} ended with {await self.process.wait()}")
        return json.loads(answer)

    async def ask(self, kind, **fields):
        """Sends a command; returns the body of its response."""
        self.requests += 1
        request = f"{self.name}:{self.requests}"
        command = {"type": kind, **fields}
        if kind not in ("initialize", "configure_peers", "select_group", "shutdown"):
            command["action_id"] = request
        response = await self.line(json.dumps({"protocol": PROTOCOL, "request_id": request, "command": command}))
        check(response["protocol"] == PROTOCOL and response["request_id"] == request, f"{response} answers {request}")
        body = response["body"]
        if body["type"] == "error":
            raise NodeError(body)
        check(body.get("action_id", kind) in (request, kind), f"{kind}: {body}")
        return body

    async def observe(self):
        observation = (await self.ask("observe"))["observation"]
        stated = observation["protocol"]
        text = json.dumps({name: stated[name] for name in COMMITTED}, separators=(",", ":"), ensure_ascii=False)
        check(hashlib.sha256(text.encode()).hexdigest() == stated["state_commitment_sha256"], f"{self.name}: wrong commitment")
        return observation

    async def kill(self):
        self.process.kill()
        await self.process.wait()

    async def close(self):
        if self.process:
            await end(self.process)

    def describe(self):
        return self.log.read_text(errors="replace")[-500:]


async def cast(stage, *names):
    """Starts a relay and nodes that know each other's labels."""
    relay = await stage.enter(OurRelay(stage.options.pikabot, stage.folder))
    nodes = [await stage.enter(Node(name, stage.options.pikabot, relay, stage.folder)) for name in names]
    await introduce(nodes)
    return nodes


async def introduce(nodes):
    for node in nodes:
        await node.ask("configure_peers", accounts_by_participant={other.name: other.account for other in nodes})


async def found(nodes, admins=None, name="nodes"):
    """The first node founds a group with the others; returns its id."""
    first, *others = nodes
    body = await first.ask(
        "create_group", group="main", name=name, member_accounts=[node.account for node in others],
        initial_admin_accounts=[node.account for node in admins or [first]])
    for node in others:
        await node.ask("select_group", group="main", group_id_hex=body["group_id_hex"])
    return body


async def quiescent(nodes, seconds=90):
    """Waits until all nodes rest in the same state; returns their observations."""
    deadline, found = asyncio.get_running_loop().time() + seconds, []
    while asyncio.get_running_loop().time() < deadline:
        try:
            for node in nodes:
                await node.ask("catch_up", full_history=False)
            found = [await node.observe() for node in nodes]
        except NodeError as error:
            # A member that has not received its invitation yet, or whose relay is away.
            if error.code not in ("unknown_group", "account_catch_up"):
                raise
            await asyncio.sleep(0.2)
            continue
        stable = all(one["progress"]["stable_checkpoint_observations"] >= 2 and not one["progress"]["retry_timer_armed"] for one in found)
        if stable and len({one["protocol"]["state_commitment_sha256"] for one in found}) == 1:
            return found
        await asyncio.sleep(0.2)
    raise TimeoutError(f"no agreement after {seconds} s: {[one['protocol'] for one in found]}")


async def conversation(stage):
    nodes = await cast(stage, "alice", "bob", "carol")
    body = await found(nodes, admins=nodes[:2])
    check(body["published"] == len(body["message_ids"]) == 1, f"admins of a new group: {body}")
    await quiescent(nodes)
    for node in nodes:
        answer = await node.ask("send_application", payload=f"from {node.name} é \"q\"")
        check(answer["published"] == 1 and "message_ids" not in answer, f"a message: {answer}")
    await nodes[1].ask("update_group_profile", name="renamed", description="by bob")
    observations = await quiescent(nodes)
    for one in observations:
        check(one["protocol"]["group_name"] == "renamed" and one["protocol"]["group_description"] == "by bob", f"{one}")
        check(one["protocol"]["admin_identities"] == ["alice", "bob"], f"admins: {one}")
        texts = sorted(one["application"]["visible_plaintexts"])
        check(texts == [f"from {name} é \"q\"" for name in ("alice", "bob", "carol")], f"{one['participant']}: {texts}")
        ids = one["application"]["visible_message_ids"]
        check(ids == sorted(ids) and len(ids) == 3, f"ids: {ids}")


async def fork(stage):
    nodes = await cast(stage, "alice", "bob", "carol")
    await found(nodes, admins=nodes[:2])
    await quiescent(nodes)
    # Both commit before either has seen the other's commit, or one after the other: they agree in any case.
    await asyncio.gather(*[node.ask("update_group_data", name=f"by {node.name}") for node in nodes[:2]])
    await asyncio.gather(*[node.ask("send_application", payload=node.name) for node in nodes])
    observations = await quiescent(nodes)
    names = {one["protocol"]["group_name"] for one in observations}
    check(len(names) == 1 and names <= {"by alice", "by bob"}, f"names: {names}")
    texts = {tuple(sorted(one["application"]["visible_plaintexts"])) for one in observations}
    check(texts == {("alice", "bob", "carol")}, f"texts: {texts}")


async def membership(stage):
    nodes = await cast(stage, "alice", "bob", "carol")
    body = await found(nodes[:2])
    await quiescent(nodes[:2])
    await nodes[0].ask("invite_members", member_accounts=[nodes[2].account])
    await nodes[2].ask("select_group", group="main", group_id_hex=body["group_id_hex"])
    check((await quiescent(nodes))[0]["protocol"]["member_count"] == 3, "carol is no member")
    await nodes[2].ask("leave")
    # The members rest before one of them commits the departure, after a random delay.
    async with asyncio.timeout(60):
        while (await quiescent(nodes[:2]))[0]["protocol"]["member_identities"] != ["alice", "bob"]:
            await asyncio.sleep(0.2)
    await nodes[0].ask("remove_members", member_accounts=[nodes[1].account])
    check((await quiescent(nodes[:1]))[0]["protocol"]["member_identities"] == ["alice"], "bob is still a member")


async def refusals(stage):
    nodes = await cast(stage, "alice", "bob")
    await found(nodes)
    await quiescent(nodes)

    async def refused(code, node, kind, **fields):
        try:
            await node.ask(kind, **fields)
        except NodeError as error:
            check(error.code == code, f"{kind}: {error.code} instead of {code}")
            return error
        raise AssertionError(f"{kind} was not refused")

    await refused("invalid_admin_set", nodes[0], "update_admin_policy", admin_accounts=[])
    await refused("invalid_admin_set", nodes[0], "update_admin_policy", admin_accounts=["ab" * 32])
    error = await refused("app_runtime_operation_failed", nodes[1], "update_group_data", name="x")
    check(error.category == "expected_refusal", f"a member's rename: {error.category}")
    long = await nodes[0].line("x" * (1 << 20))
    check(long["request_id"] == "oversized" and long["body"]["code"] == "frame_too_large", f"{long}")
    wrong = await nodes[0].line(json.dumps({"protocol": "v0", "request_id": "1", "command": {"type": "shutdown"}}))
    check(wrong["body"]["code"] == "wrong_protocol", f"{wrong}")
    check((await nodes[0].ask("barrier", barrier="end"))["barrier"] == "end", "a barrier")
    await nodes[0].ask("shutdown")
    check(await asyncio.wait_for(nodes[0].process.wait(), 15) == 0, "the exit status of a shutdown")
    nodes[1].process.stdin.close()
    check(await asyncio.wait_for(nodes[1].process.wait(), 15) == 0, "the exit status at the end of the input")


async def restart(stage):
    nodes = await cast(stage, "alice", "bob")
    body = await found(nodes)
    await quiescent(nodes)
    account = nodes[1].account
    await nodes[1].kill()
    await nodes[0].ask("update_group_data", name="while bob was away")
    await nodes[0].ask("send_application", payload="for bob")
    await nodes[1].start()
    check(nodes[1].account == account, "another account after the restart")
    await introduce(nodes)
    await nodes[1].ask("select_group", group="main", group_id_hex=body["group_id_hex"])
    found_by_bob = (await quiescent(nodes))[1]
    check(found_by_bob["protocol"]["group_name"] == "while bob was away", f"{found_by_bob}")
    check(found_by_bob["application"]["visible_plaintexts"] == ["for bob"], f"{found_by_bob}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pikabot", metavar="PIKABOT_BINARY")
    parser.set_defaults(jobs=2, timeout=180)
    main({
        "conversation": conversation,
        "fork": fork,
        "membership": membership,
        "refusals": refusals,
        "restart": restart,
    }, parser)
