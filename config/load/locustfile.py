"""Load test of encrypted groups from many machines: each user of Locust (https://locust.io) is a pikabot account.

    locust -f config/load/locustfile.py --master --relays wss://relay.example --group-size 5
    PIKABOT=/usr/local/bin/pikabot locust -f - --worker --master-host MASTER      # on each machine

Each user is one account in its own `pikabot daemon` (docs/daemon.md). The master forms groups of users from all
workers; the members send messages. Arguments of the master configure the test. Variables of a worker configure its
machine: PIKABOT, the program, and TMPDIR, the directory of the accounts. docs/load.md has an example and describes
the measurements.
"""

import collections
import json
import logging
import os
import random
import shutil
import sys
import tempfile
import time
import uuid
from contextlib import suppress
from pathlib import Path

import gevent
from gevent import subprocess
from gevent.event import AsyncResult, Event
from gevent.lock import RLock
from locust import User, events, task
from locust.exception import StopUser
from locust.runners import LocalRunner, MasterRunner, WorkerRunner, WORKER_REPORT_INTERVAL

log = logging.getLogger("pikabot")

PATIENCE = 60  # seconds for one command
ENDED = "agent ended"
CHAT = 9  # the kind of chat messages; group profiles have other kinds
MIXING = 10  # seconds that the first waiting account waits for one of another worker


@events.init_command_line_parser.add_listener
def add_arguments(parser):
    group = parser.add_argument_group("pikabot")
    group.add_argument("--relays", env_var="PIKABOT_RELAYS", default="ws://127.0.0.1:7777", metavar="URL,…",
                       help="Relays of every account")
    group.add_argument("--group-size", type=int, env_var="PIKABOT_GROUP_SIZE", default=5, help="Members of a group")
    group.add_argument("--protocol", choices=["v1", "v2", "auto"], env_var="PIKABOT_PROTOCOL", default="auto",
                       help="Protocol generation of the groups")
    group.add_argument("--think", type=float, env_var="PIKABOT_THINK", default=5.0, metavar="SECONDS",
                       help="Average interval between a user's messages")
    group.add_argument("--message-bytes", type=int, env_var="PIKABOT_MESSAGE_BYTES", default=300, metavar="N",
                       help="Minimum length of a message; the measurement data takes about 200")
    group.add_argument("--commit-share", type=float, env_var="PIKABOT_COMMIT_SHARE", default=0.0, metavar="SHARE",
                       help="Share of a founder's turns that change the group instead of sending (0 to 1)")
    group.add_argument("--settle", type=float, env_var="PIKABOT_SETTLE", default=20.0, metavar="SECONDS",
                       help="Time at the end for outstanding messages to arrive")


# Durations across machines.

def boot_id():
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
    return uuid.uuid4().hex[:8]


BOOT = boot_id()


def stamp():
    return f"{BOOT}:{time.monotonic():.6f}:{time.time():.6f}"


def milliseconds_since(text):
    """Uses the monotonic clock on one machine, else the wall clocks of both, which must agree."""
    boot, ticks, clock = text.split(":")
    return 1000 * (time.monotonic() - float(ticks) if boot == BOOT else time.time() - float(clock))


# Anyone who knows an account's key can invite it; groups not named like the test's are ignored.

def invitation(group_name):
    """Returns the stamp in the name of a test group; None for any other name."""
    with suppress(ValueError):
        word, number, text = group_name.split(" ")
        if word == "load" and int(number) > 0:
            milliseconds_since(text)
            return text
    return None


def message(text):
    """Returns a test message's number, its sender's message count if it is the last, and its age.
    None for any other text."""
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        content = json.loads(text)
        return int(content["n"]), int(content["last"]), milliseconds_since(content["sent"])
    return None


class Failed(Exception):
    """A failure, which Locust groups by this word, such as the code of the daemon's error."""


class Refused(Failed):
    """An error of the daemon: the command was not executed."""


# The accounts' processes, and their cleanup.

# Ends with its standard input, however the worker ended, and then removes everything of the worker. The directory is
# moved first, so that a process that is just starting cannot record its id there and does not begin.
GUARD = """
import os, shutil, signal, sys
from pathlib import Path
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
sys.stdin.buffer.read()
root = Path(sys.argv[1]); gone = root.with_name(root.name + ".gone")
if root.exists():
    root.rename(gone)
    for file in gone.glob("*/pid"):
        try: os.kill(int(file.read_text()), signal.SIGKILL)
        except (ValueError, ProcessLookupError): pass
    while gone.exists(): shutil.rmtree(gone, ignore_errors=True)
"""
START = 'echo $$ >"$1/pid" && shift && exec "$@"'


class Home:
    """The directory of one worker's accounts, with the process that cleans it up."""

    def __init__(self):
        self.program = shutil.which(os.environ.get("PIKABOT", "pikabot"))
        if not self.program:
            raise SystemExit("pikabot: not found in PATH; set PIKABOT to the path of the program")
        self.folder = Path(tempfile.mkdtemp(prefix="pikabot-locust-"))
        self.guard = subprocess.Popen(
            [sys.executable, "-S", "-c", GUARD, str(self.folder)], stdin=subprocess.PIPE, start_new_session=True)

    def start(self, folder, *arguments):
        """Starts a process with JSON lines; its id is in the directory while it runs."""
        folder.mkdir()
        pipe = subprocess.PIPE
        with (folder / "log").open("wb") as errors:
            return subprocess.Popen(
                ["/bin/sh", "-c", START, "sh", str(folder), self.program, *arguments], stdin=pipe, stdout=pipe,
                stderr=errors, start_new_session=True)


class Agent:
    """One account: commands with their replies, and events for the callback `hear`."""

    def __init__(self, home, relays, hear):
        self.folder = home.folder / uuid.uuid4().hex[:12]
        flags = [word for relay in relays for word in ("--relay", relay)]
        self.process = home.start(
            self.folder, "--state-dir", str(self.folder / "state"), *flags, "daemon", "--auto-accept-welcomes")
        self.hear = hear
        self.replies = {}
        self.requests = 0
        self.ready = AsyncResult()
        self.reader = gevent.spawn(self._read)

    def command(self, cmd, **fields):
        """Returns the result of `ok`; raises Failed with the code of `error`."""
        self.requests += 1
        request, reply = str(self.requests), AsyncResult()
        self.replies[request] = reply
        try:
            self.process.stdin.write(json.dumps({"cmd": cmd, "request_id": request, **fields}).encode() + b"\n")
            self.process.stdin.flush()
            return reply.get(timeout=PATIENCE)
        except gevent.Timeout:
            raise Failed("no answer") from None
        except OSError:
            raise Failed(ENDED) from None
        finally:
            self.replies.pop(request, None)

    def _read(self):
        try:
            for text in self.process.stdout:
                self._take(json.loads(text))
        finally:
            for waiting in [self.ready, *self.replies.values()]:
                if not waiting.ready():
                    waiting.set_exception(Failed(ENDED))

    def _take(self, line):
        kind, reply = line["type"], self.replies.get(line.get("request_id"))
        if kind == "ready":
            self.ready.set(line["pubkey"])
        elif kind == "ok" and reply:
            reply.set(line.get("result"))
        elif kind == "error" and reply:
            log.warning("%s: %s", line["code"], line["message"])
            reply.set_exception(Refused(line["code"]))
        else:
            self.hear(line)

    def close(self):
        """Kills the process at once; its state is not needed again."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self.reader.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


# The master: forms the groups.

class Matchmaker:
    """Forms groups of waiting accounts, mixed from the workers, and announces complete groups.

    To the master: `pikabot_waiting` {key, worker}, `pikabot_joined` {group, key}, `pikabot_finished` {worker}.
    To the workers: `pikabot_group` {group, keys: the founder first}, `pikabot_start` {group, keys: the members},
    `pikabot_finish`.
    """

    def __init__(self, environment):
        self.environment, self.runner = environment, environment.runner
        for name in ("waiting", "joined", "finished"):
            self.runner.register_message(f"pikabot_{name}", getattr(self, name))
        events.test_start.add_listener(self.reset)
        events.test_stopping.add_listener(self.finish)
        self.reset()

    def reset(self, **_):
        self.queues = collections.defaultdict(collections.deque)  # worker -> (key, start of the wait)
        self.groups = {}  # number -> (keys, joined keys)
        self.begun = set()

    def tell(self, name, **data):
        self.runner.send_message(f"pikabot_{name}", data)

    def waiting(self, msg, **_):
        self.queues[msg.data["worker"]].append((msg.data["key"], time.monotonic()))
        gevent.spawn_later(MIXING, self.match)
        self.match()

    def match(self):
        size = self.environment.parsed_options.group_size
        while sum(map(len, self.queues.values())) >= size:
            filled = [queue for queue in self.queues.values() if queue]
            waits = time.monotonic() - min(queue[0][1] for queue in filled)
            if len(filled) == 1 and getattr(self.runner, "worker_count", 1) > 1 and waits < MIXING:
                return
            keys, number = [], len(self.groups) + 1
            while len(keys) < size:  # in turn
                for queue in [queue for queue in filled if queue][: size - len(keys)]:
                    keys.append(queue.popleft()[0])
            log.info("group %d: %d accounts of %d workers", number, size, min(size, len(filled)))
            self.groups[number] = (keys, set())
            gevent.spawn_later(PATIENCE, self.start, number, self.groups[number])
            self.tell("group", group=number, keys=keys)

    def joined(self, msg, **_):
        group = self.groups.get(msg.data["group"])
        if group:
            group[1].add(msg.data["key"])
            if len(group[1]) == len(group[0]):
                self.start(msg.data["group"], group)

    def start(self, number, group):
        """Starts with the present members; called once."""
        if self.groups.get(number) is group and number not in self.begun:
            self.begun.add(number)
            self.tell("start", group=number, keys=[key for key in group[0] if key in group[1]])

    def finish(self, **_):
        """Runs before Locust stops its users: waits for and counts outstanding messages."""
        clients = getattr(self.runner, "clients", None)
        workers = {client.id for client in clients.ready + clients.running + clients.spawning} if clients else {"local"}
        self.unfinished, self.all_finished = workers, Event()
        self.tell("finish")
        self.all_finished.wait(self.environment.parsed_options.settle + PATIENCE)
        # Workers report their counts at their own interval.
        gevent.sleep(WORKER_REPORT_INTERVAL + 1 if clients else 0)

    def finished(self, msg, **_):
        self.unfinished.discard(msg.data["worker"])
        if not self.unfinished:
            self.all_finished.set()


# The workers.

class Worker:
    """Forwards the master's messages to the users of one process."""

    def __init__(self, environment):
        self.runner = environment.runner
        self.name = self.runner.client_id if isinstance(self.runner, WorkerRunner) else "local"
        self.home = Home()
        self.users = {}  # by key
        for name in ("group", "start"):
            self.runner.register_message(f"pikabot_{name}", getattr(self, name))
        self.runner.register_message("pikabot_finish", self.finish, concurrent=True)

    def tell(self, name, **data):
        self.runner.send_message(f"pikabot_{name}", data)

    def group(self, msg, **_):
        for user in self.members(msg):
            user.assigned.set((msg.data["group"], msg.data["keys"]))

    def start(self, msg, **_):
        for user in self.members(msg):
            user.started.set(msg.data["keys"])

    def members(self, msg):
        return [self.users[key] for key in msg.data["keys"] if key in self.users]

    def finish(self, **_):
        gevent.joinall([gevent.spawn(user.finish) for user in list(self.users.values())])
        self.tell("finished", worker=self.name)


@events.init.add_listener
def begin(environment, **_):
    if isinstance(environment.runner, (MasterRunner, LocalRunner)):
        if environment.parsed_options.group_size < 2:
            raise SystemExit("--group-size: expected 2 or more")
        environment.pikabot_matchmaker = Matchmaker(environment)
    if isinstance(environment.runner, (WorkerRunner, LocalRunner)):
        environment.pikabot_worker = Worker(environment)


class Member(User):
    """A member of one group, which alternately sends a message and waits."""

    def wait_time(self):
        """Exponentially distributed, so that the messages of many users form a Poisson process."""
        return min(self.random.expovariate(1 / max(self.options.think, 0.001)), 10 * self.options.think)

    def prepare(self):
        self.random = random.Random()
        self.assigned, self.started, self.group_id = AsyncResult(), AsyncResult(), AsyncResult()
        self.key = self.agent = None
        self.invited = {}  # test group -> the stamp of its invitation
        self.turns, self.said, self.is_over, self.talking = 0, 0, False, False
        self.turn = RLock()
        self.heard = collections.defaultdict(set)  # key -> numbers of received messages
        self.last = {}  # key -> its message count, once it has sent the last one
        self.news = Event()

    def on_start(self):
        self.worker, self.options = self.environment.pikabot_worker, self.environment.parsed_options
        self.prepare()
        with self.measured("identity"):
            self.agent = Agent(self.worker.home, self.options.relays.split(","), self.hear)
            self.key = self.agent.ready.get(timeout=PATIENCE + 40)
        with self.measured("publish"):
            self.agent.command("publish_keypackage")
        self.worker.users[self.key] = self
        self.worker.tell("waiting", key=self.key, worker=self.worker.name)
        self.enter(*self.until(self.assigned))

    def until(self, result, seconds=None):
        """Waits; raises StopUser when Locust stops the user. Returns None on timeout."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            with suppress(gevent.Timeout):
                return result.get(timeout=1)
            if self._state == "stopping" or self.is_over:
                raise StopUser
            if deadline and time.monotonic() > deadline:
                return None

    def enter(self, number, keys):
        self.number, self.is_founder = number, keys[0] == self.key
        if self.is_founder:
            # The group's name contains the time of the invitations.
            with self.measured("create"):
                name = f"load {number} {stamp()}"
                made = self.agent.command(
                    "init_group", peer_pubkey=keys[1], group_name=name, protocol=self.options.protocol)
            if keys[2:]:
                with self.measured("add"):
                    self.agent.command("add_members", nostr_group_id=made["nostr_group_id"], peer_pubkeys=keys[2:])
            self.group_id.set(made["nostr_group_id"])
        elif self.until(self.group_id, 2 * PATIENCE) is None:
            self.fire("join", 0, Failed("no invitation"))
            raise StopUser
        self.worker.tell("joined", group=number, key=self.key)
        self.peers = set(self.until(self.started)) - {self.key}
        self.talking = True

    @task
    def talk(self):
        if self.is_founder and self.random.random() < self.options.commit_share:
            with self.measured("commit"):
                self.agent.command(
                    "update_group_profile", nostr_group_id=self.group_id.get(), name=f"load {self.number}",
                    about=stamp())
        else:
            self.say()

    def say(self, is_last=False):
        with self.turn:
            if self.is_over:
                return
            self.is_over = is_last
            self.turns, self.said = self.turns + 1, self.said + 1
            content = {"n": self.turns, "last": self.said if is_last else 0, "sent": stamp(), "fill": ""}
            content["fill"] = "x" * max(0, self.options.message_bytes - len(json.dumps(content)))
            with self.measured("send"):
                try:
                    self.agent.command("send_message", nostr_group_id=self.group_id.get(), content=json.dumps(content))
                except Refused:
                    self.said -= 1  # not expected by anyone
                    raise

    def hear(self, line):
        kind, group = line["type"], line.get("nostr_group_id")
        if kind == "welcome_received":
            if invited := invitation(line["group_name"]):
                self.invited[group] = invited
        elif kind == "group_joined" and group in self.invited:
            self.fire("join", milliseconds_since(self.invited[group]))
            self.group_id.set(group)
        elif kind == "message_received" and line["kind"] == CHAT and self.is_mine(group):
            if content := message(line["content"]):
                self.take(line["from_pubkey"], *content)

    def is_mine(self, group):
        """Returns whether it is the test's group; its messages may arrive before `group_joined`."""
        return group in self.invited or self.group_id.ready() and group == self.group_id.get()

    def take(self, sender, number, last, milliseconds):
        again = number in self.heard[sender]
        self.heard[sender].add(number)
        if last:
            self.last[sender] = last
        self.fire("deliver", milliseconds, Failed("came again") if again else None)
        self.news.set()

    # The end.

    def finish(self):
        """Sends the last message, waits for those of the others, and counts missing ones."""
        if not self.talking:
            self.is_over = True
            return
        with suppress(StopUser):
            self.say(is_last=True)
        deadline = time.monotonic() + self.options.settle
        while self.missing() and time.monotonic() < deadline:
            self.news.clear()
            self.news.wait(max(0, deadline - time.monotonic()))
        for reason, count in self.missing().items():
            for _ in range(count):
                self.fire("deliver", 0, Failed(reason))

    def missing(self):
        counts = collections.Counter()
        for peer in self.peers:
            if peer in self.last:
                counts["did not come"] += self.last[peer] - len(self.heard[peer])
            else:
                counts["last one did not come"] += 1
        return +counts

    def on_stop(self):
        if self.key:
            self.worker.users.pop(self.key, None)
        # One of many users that leave during the test.
        if self.talking and not self.is_over:
            with suppress(StopUser):
                self.say(is_last=True)
        if self.agent:
            self.agent.close()

    # Locust's statistics.

    def measured(self, name):
        return Measured(self, name)

    def fire(self, name, milliseconds, failure=None):
        if milliseconds < 0:
            milliseconds, failure = 0, Failed("the machines' clocks differ")
        self.environment.events.request.fire(
            request_type="pikabot", name=name, response_time=milliseconds, response_length=0, exception=failure,
            context={"group": getattr(self, "number", None)})


class Measured:
    """Measures the enclosed operation. A failure of an essential operation ends the user."""

    def __init__(self, user, name):
        self.user, self.name = user, name

    def __enter__(self):
        self.began = time.monotonic()

    def __exit__(self, kind, error, _):
        if isinstance(error, gevent.Timeout):
            error = Failed("no answer")
        if error is None or isinstance(error, Failed):
            self.user.fire(self.name, 1000 * (time.monotonic() - self.began), error)
        is_over = self.name in ("identity", "publish", "create", "add") or str(error) == ENDED
        if isinstance(error, Failed) and is_over:
            raise StopUser from error
        return isinstance(error, Failed)
