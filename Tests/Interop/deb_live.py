"""The Debian package on fresh machines of each supported release, booted with their own systemd by systemd-nspawn.

    DIR/venv/bin/python Tests/Interop/deb_live.py PACKAGE.deb [--trees DIR] [--only TEXT]

Needs root, debootstrap and systemd-nspawn. A base system of each release is kept in --trees; every run copies it and
boots the copy, which has a network of its own with a loopback interface only.
"""

import argparse
import asyncio
import json
import re
import time
from pathlib import Path

from machine import Machine, base_tree, run
from scenario import check, main

SUITES = ("bookworm", "trixie")
RELAY = "ws://127.0.0.1:3334"
UNIT, FILE = "pikabot@greeter.service", "/etc/pikabot/greeter.yaml"
KEY, CREDENTIAL = "/etc/pikabot/secrets/greeter.key", f"/run/credentials/{UNIT}/account.key"
CONTROL = "/var/lib/pikabot/greeter/control.sock"
# As .ci/check-units: tenths of systemd's rating; the remaining exposure is the network and local sockets.
EXPOSURE = 1.1
NEWCOMER_SECONDS = 180


class Package:
    """The package, and the names of the packages that it depends on."""

    def __init__(self, file):
        self.file = Path(file).resolve()
        depends = run("dpkg-deb", "--field", self.file, "Depends")
        self.dependencies = [re.match(r"[a-z0-9.+-]+", word.strip())[0] for word in depends.split(",")]
        self.version = run("dpkg-deb", "--field", self.file, "Version").strip()


class Installation:
    """pikabot on one machine, from its installation to its removal."""

    def __init__(self, machine, package):
        self.machine, self.package = machine, package
        self.npub = None
        self.messages = 0

    def report(self, text):
        print(f"  {self.machine.tree.name}: {text}", flush=True)

    async def install(self):
        await asyncio.to_thread(run, "cp", self.package.file, self.machine.root / "pikabot.deb")
        await self.machine.run("apt-get", "install", "--yes", "/pikabot.deb", seconds=300)

    async def answers(self, seconds=60):
        """Sends a message as a guest and waits for the echo; returns the seconds until then."""
        self.messages += 1
        text, start = f"message {self.messages}", time.monotonic()
        guest = ["--state-dir", "/root/guest", "--relay", RELAY]
        await self.machine.run("pikabot", "send", *guest, "--to", self.npub, "--content", text)

        async def is_heard():
            heard = await self.machine.run("pikabot", "listen", *guest, "--timeout", "2", "--lookback", "60")
            return f"echo: {text}" in heard

        await self.machine.until("answer", is_heard, seconds)
        return time.monotonic() - start

    async def is_ready(self):
        # The socket is named, because an invalid file does not tell it.
        status, output = await self.machine.call("pikabot", "status", FILE, "--json", "--control", CONTROL)
        return status == 0 and json.loads(output)["workers"][0]["state"] == "ready"

    async def main_process(self):
        return (await self.machine.show(UNIT, "MainPID"))["MainPID"]

    async def until_restarted(self, before, why):
        """Waits until the service runs in another process than `before`, and is ready."""

        async def is_restarted():
            shown = await self.machine.show(UNIT, "MainPID", "ActiveState")
            return shown["MainPID"] not in ("0", before) and shown["ActiveState"] == "active"

        await self.machine.until(f"restart after {why}", is_restarted, 90)
        check(await self.is_ready(), f"not ready after {why}")

    async def journal(self, *arguments):
        return await self.machine.run("journalctl", "--unit", UNIT, "--no-pager", "--output", "cat", *arguments)

    # What a new machine shows, in order

    async def newcomer(self):
        """From nothing to an answer, in under three minutes, of which downloads are no part."""
        machine, start = self.machine, time.monotonic()
        await self.install()
        version = (await machine.run("pikabot", "--version")).strip()
        check(self.package.version.startswith(f"{version}-"), f"version {version} of {self.package.version}")
        for unit in ("pikabot.service", "pikabot-relay.service"):
            shown = await machine.show(unit, "ActiveState", "UnitFileState")
            check(shown == {"ActiveState": "inactive", "UnitFileState": "disabled"}, f"{unit} is not off: {shown}")
        await machine.run("systemctl", "enable", "--now", "pikabot-relay")
        setup = ["pikabot", "setup", "greeter", "--service", "--relay", RELAY, "--invites", "anyone", "--yes"]

        async def is_set_up():
            # The relay's service is started before it listens.
            status, output = await machine.call(*setup)
            return status == 0 and json.loads(output)

        result = await machine.until("setup", is_set_up, 30)
        self.npub = result["npub"]
        await machine.run("systemctl", "enable", "--now", UNIT)
        check(await self.is_ready(), "systemctl start returned before the account was ready")
        await self.answers()
        seconds = time.monotonic() - start
        check(seconds < NEWCOMER_SECONDS, f"{seconds:.0f} s from the package to an answer")
        self.report(f"from the package to an answer in {seconds:.0f} s")

    async def contents(self):
        machine = self.machine
        for unit in ("pikabot.service", "pikabot-shard@.service", "pikabot@.service", "pikabot-relay.service"):
            output = await machine.run("systemctl", "cat", unit)
            check("/usr/local" not in output, f"{unit} has a path of a local installation")
        check((await machine.run("stat", "--format", "%a %U", "/etc/pikabot/secrets")).strip() == "700 root", "secrets")
        check((await machine.run("stat", "--format", "%a %U", KEY)).strip() == "600 root", "key file")
        await machine.run("bash", "-n", "/usr/share/bash-completion/completions/pikabot")
        completed = await machine.run("bash", "-c", """
            source /usr/share/bash-completion/completions/pikabot
            COMP_WORDS=(pikabot sta) COMP_CWORD=1 COMP_LINE='pikabot sta' COMP_POINT=11
            _pikabot 2>/dev/null; echo "${COMPREPLY[@]}" """)
        check("status" in completed.split(), f"completion of \"sta\": {completed}")
        listed = (await machine.run("dpkg", "--listfiles", "pikabot")).split()
        for page in ("pikabot.1.gz", "pikabot-run.1.gz", "pikabot-setup.1.gz"):
            check(f"/usr/share/man/man1/{page}" in listed, f"no manual page {page}")
        check(not (await machine.run("dpkg", "--verify", "pikabot")).strip(), "dpkg --verify finds changed files")
        again = json.loads(await machine.run("pikabot", "setup", "greeter", "--service", "--yes"))
        check(again["npub"] == self.npub and not again["created"] and len(again["kept"]) == 2, f"setup again: {again}")
        self.report("units, permissions, completions, manual pages; setup again keeps key and configuration")

    async def service(self):
        machine = self.machine
        shown = await machine.show(UNIT, "Type", "StatusText", "UID")
        check(shown["Type"] == "notify" and shown["StatusText"] == "1 of 1 accounts ready", f"readiness: {shown}")
        self.report(f"readiness: systemctl start returns at READY=1, status \"{shown['StatusText']}\"")
        user, process = shown["UID"], await self.main_process()
        check(user not in ("0", "[not set]"), f"user {user}")
        owners = await machine.run("stat", "--format", "%a %u", CREDENTIAL)
        check(owners.split() in (["400", user], ["440", "0"]), f"credential: {owners}")
        check((await machine.run("cat", KEY)).strip() == (await machine.run("cat", CREDENTIAL)).strip(), "another key")
        status, _ = await machine.call("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "cat", KEY)
        check(status != 0, "the service's user can read the key file of root")
        environment = await machine.run("cat", f"/proc/{process}/environ")
        check((await machine.run("cat", KEY)).strip() not in environment, "the key is in the environment")
        check((await machine.run("stat", "--format", "%u", f"/proc/{process}")).strip() == user, "another user's process")
        self.report(f"LoadCredential: a copy for user {user}, who cannot read {KEY}")

    async def hardening(self):
        machine, process = self.machine, await self.main_process()
        rating = await machine.run("systemd-analyze", "security", UNIT, "--no-pager")
        exposure = float(re.search(r"exposure level for \S+: ([\d.]+)", rating)[1])
        check(exposure <= EXPOSURE, f"exposure {exposure}")
        lines = (await machine.run("cat", f"/proc/{process}/status")).splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        found = status["NoNewPrivs"], status["Seccomp"], int(status["CapEff"], 16), int(status["CapBnd"], 16)
        check(found == ("1", "2", 0, 0), f"no new privileges, seccomp, capabilities: {found}")
        inside = ["nsenter", "--target", process, "--mount"]
        for path in ("/usr/x", "/etc/pikabot/x", "/var/lib/x", "/boot/x"):
            status, output = await machine.call(*inside, "touch", path)
            check(status != 0 and "Read-only file system" in output, f"touch {path}: {status} {output}")
        hidden = await machine.run(*inside, "sh", "-c", "ls -A /home /dev | grep -vE '^$|:$'")
        check(not {"sda", "kmsg", "mem", "vda"} & set(hidden.split()), f"devices: {hidden}")
        await machine.run(*inside, "touch", "/var/lib/pikabot/greeter/x")
        await machine.run("rm", "/var/lib/pikabot/greeter/x")
        self.report(f"hardening: exposure {exposure}; everything but its state is read-only; no capabilities")

    async def reload(self):
        machine, process = self.machine, await self.main_process()
        file = machine.root / FILE.lstrip("/")
        good = file.read_text()
        file.write_text(good.replace("accept: anyone", "accept: nobody"))
        await machine.run("systemctl", "reload", UNIT)
        status = json.loads(await machine.run("pikabot", "status", FILE, "--json"))
        check(status["configuration"]["lastReload"]["success"] is True, f"reload: {status['configuration']}")
        check("invites.accept: anyone -> nobody" in await self.journal("--lines", "20"), "the journal lacks the change")
        check(await self.main_process() == process, "reload started another process")
        await self.answers()
        file.write_text("version: 1\nrelays: none\n")
        await machine.run("systemctl", "reload", UNIT, status=1)
        check("relays" in await self.journal("--lines", "20"), "the journal does not name the error")
        check(await self.main_process() == process and await self.is_ready(), "an invalid file stopped the service")
        status, output = await machine.call("pikabot", "reload", FILE)
        check(status == 78, f"reload of an invalid file: status {status}, {output}")
        await self.answers()
        file.write_text(good)
        await machine.run("systemctl", "reload", UNIT)
        self.report("reload: a change applies in the same process; an invalid file is an error and changes nothing")

    async def watchdog(self):
        """The service notifies while its workers answer, and is killed and started again when it hangs."""
        machine = self.machine
        machine.write(f"/etc/systemd/system/{UNIT}.d/short.conf", "[Service]\nWatchdogSec=8s\n")
        await machine.run("systemctl", "daemon-reload")
        await machine.run("systemctl", "restart", UNIT)
        first = (await machine.show(UNIT, "WatchdogTimestampMonotonic"))["WatchdogTimestampMonotonic"]
        await asyncio.sleep(12)
        shown = await machine.show(UNIT, "WatchdogTimestampMonotonic", "NRestarts", "WatchdogUSec")
        check(shown["WatchdogTimestampMonotonic"] != first, f"no notification: {shown}")
        check(shown["NRestarts"] == "0" and shown["WatchdogUSec"] == "8s", f"restarted although it answers: {shown}")
        process = await self.main_process()
        await machine.run("sh", "-c", f"kill -STOP {process}")
        await self.until_restarted(process, "a hang")
        check("Watchdog timeout" in await self.journal("--since", "-2min"), "no watchdog timeout in the journal")
        await self.answers()
        self.report("watchdog: notified while it answers; killed and restarted when it hangs")

    async def failures(self):
        machine, process = self.machine, await self.main_process()
        await machine.run("sh", "-c", f"kill -KILL {process}")
        await self.until_restarted(process, "a crash")
        await self.answers()
        machine.write("/etc/pikabot/broken.yaml", "version: 1\nrelays: none\n")
        machine.write("/etc/pikabot/secrets/broken.key", "0" * 63 + "1\n", 0o600)
        await machine.run("systemctl", "start", "pikabot@broken", status=1)
        await asyncio.sleep(7)  # longer than RestartSec
        shown = await machine.show("pikabot@broken", "ExecMainStatus", "NRestarts", "Result")
        check(shown["ExecMainStatus"] == "78" and shown["NRestarts"] == "0", f"an invalid configuration: {shown}")
        self.report("a crash is followed by a restart, an invalid configuration is not (status 78)")

    async def upgrade(self):
        machine, process = self.machine, await self.main_process()
        await machine.run("apt-get", "install", "--reinstall", "--yes", "/pikabot.deb", seconds=300)
        await self.until_restarted(process, "an upgrade")
        shown = await machine.show("pikabot.service", "ActiveState")
        check(shown["ActiveState"] == "inactive", "an upgrade started a service that did not run")
        await self.answers()
        self.report("upgrade: running services continue with the new program")

    async def removal(self):
        machine = self.machine
        await machine.run("apt-get", "remove", "--yes", "pikabot", seconds=300)
        for unit in (UNIT, "pikabot-relay.service"):
            shown = await machine.show(unit, "ActiveState", "LoadState")
            check(shown["ActiveState"] in ("inactive", "failed"), f"{unit} runs after removal: {shown}")
        processes = await machine.run("sh", "-c", "cat /proc/[0-9]*/comm")
        check("pikabot" not in processes.split(), "a process runs after removal")
        check(not (machine.root / "usr/bin/pikabot").exists(), "the program is left")
        check((machine.root / "etc/default/pikabot-relay").exists(), "removal deleted a configuration file")
        # The state outlasts a removal: the account is still in its group.
        await self.install()
        await machine.run("systemctl", "start", "pikabot-relay", UNIT)
        await self.answers()
        output = await machine.run("apt-get", "purge", "--yes", "pikabot", seconds=300)
        check("kept /etc/pikabot" in output, f"purge does not name the kept folders: {output[-800:]}")
        for path in ("etc/default/pikabot-relay", "etc/systemd/system/multi-user.target.wants/pikabot@greeter.service",
                     "usr/share/doc/pikabot", "lib/systemd/system/pikabot@.service"):
            file = machine.root / path
            check(not file.exists() and not file.is_symlink(), f"purge left /{path}")
        for path in (KEY, FILE, "/var/lib/private/pikabot/greeter/greeter/state.sqlite"):
            check((machine.root / path.lstrip("/")).exists(), f"purge deleted {path}")
        failed = await machine.run("systemctl", "--failed", "--plain", "--no-legend")
        check(not re.search(r"pikabot(-relay|@greeter)", failed), f"failed units: {failed}")
        self.report("removal stops the services and keeps the state; purge keeps keys and state only")

    async def observe(self):
        await self.newcomer()
        await self.contents()
        await self.service()
        await self.hardening()
        await self.reload()
        await self.watchdog()
        await self.failures()
        await self.upgrade()
        await self.removal()


def scenario(suite):
    async def play(stage):
        package = Package(stage.options.package)
        tree = await asyncio.to_thread(base_tree, suite, package.dependencies, Path(stage.options.trees))
        machine = await stage.enter(Machine(tree, stage.folder))
        installation = Installation(machine, package)
        try:
            await installation.observe()
        except Exception:
            log = (await machine.call("journalctl", "--no-pager", "--lines", "80"))[1]
            print("\n".join(line for line in log.splitlines() if "thread priority" not in line), flush=True)
            raise

    return play


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("--trees", default=".build/debian", help="where the base systems are kept")
    parser.set_defaults(timeout=1500)
    main({f"package on {suite}": scenario(suite) for suite in SUITES}, parser)
