"""config/Containerfile, built by buildah and run by podman with crun, without a daemon and without a registry.

    DIR/venv/bin/python Tests/Interop/image_live.py PIKABOT [--trees DIR]

PIKABOT is a release build with the Swift library in it: it stands for the image's first stage, which needs a base image
from a registry. An ordinary user builds the second stage as written, on a base image made of a fresh debootstrap tree.
Needs root to create that user and the tree.
"""

import argparse
import asyncio
import json
import os
import pwd
import shutil
import signal
from contextlib import suppress
from pathlib import Path

from machine import base_tree, run
from scenario import Failure, check, main

PORT = 3398
RELAY = f"ws://127.0.0.1:{PORT}"
USER = 10001
# The user of this machine that builds and runs the image.
ACCOUNT = "pikabot-image"
BASE = "docker.io/library/debian:bookworm-slim"
# Podman wants one kind of control groups, which some machines do not have: it gets a mount namespace with version 2.
NAMESPACE = "mount -t cgroup2 none /sys/fs/cgroup && echo ready && exec sleep infinity"


class Builder:
    """An ordinary user of this machine, created for the test, with buildah, podman and a storage of its own."""

    name = "image builder"

    def __init__(self, folder):
        self.first_id = None
        self.home = folder / "builder"
        self.storage = ["--root", self.home / "storage", "--runroot", self.home / "run", "--storage-driver", "vfs"]
        self.holder = None

    async def start(self):
        for program in ("buildah", "podman", "crun", "newuidmap"):
            if not shutil.which(program):
                raise Failure(f"{program} is missing; install Debian's buildah, podman, crun and uidmap")
        self.home.parent.chmod(0o755)
        with suppress(KeyError):
            # Left by an interrupted run.
            self.end_processes()
            run("userdel", ACCOUNT)
        # A system user has no range of subordinate ids, in which the users of an image are.
        run("useradd", "--home-dir", self.home, "--create-home", "--shell", "/bin/sh", ACCOUNT)
        self.first_id = int(next(line.split(":")[1] for line in Path("/etc/subuid").read_text().splitlines()
                                 if line.startswith(f"{ACCOUNT}:")))
        (self.home / "tmp").mkdir()
        self.give(self.home / "tmp")
        self.holder = await asyncio.create_subprocess_exec(
            "unshare", "--mount", "sh", "-c", NAMESPACE, stdout=asyncio.subprocess.PIPE)
        check(await self.holder.stdout.readline() == b"ready\n", "no mount namespace with control groups")

    def give(self, path, user=None):
        """Makes the builder, or a user of its containers, the owner of a file or folder."""
        owner = pwd.getpwnam(ACCOUNT).pw_uid if user is None else self.first_id + user - 1
        os.chown(path, owner, owner)

    async def tool(self, name, *arguments, merged=False):
        """Runs buildah or podman as the builder; returns its output, merged with its errors if asked for."""
        process = await asyncio.create_subprocess_exec(
            "nsenter", "--target", str(self.holder.pid), "--mount",
            "setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--init-groups", "--inh-caps=-all",
            "env", "-i", f"--chdir={self.home}", f"PATH={os.environ['PATH']}", f"HOME={self.home}",
            f"XDG_RUNTIME_DIR={self.home}/tmp", f"TMPDIR={self.home}/tmp", name, *map(str, self.storage), *map(str, arguments),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        output, errors = [text.decode(errors="replace") for text in await process.communicate()]
        command = " ".join([name, *map(str, arguments)])
        check(process.returncode == 0, f"{command}: {process.returncode}\n{(output + errors)[-3000:]}")
        return output + errors if merged else output

    async def close(self):
        if not self.holder:
            return
        try:
            await self.tool("podman", "rm", "--all", "--force", "--time", "0")
        finally:
            self.end_processes()
            self.holder.kill()
            await self.holder.wait()
            await asyncio.sleep(0.5)
            run("userdel", ACCOUNT)

    @staticmethod
    def end_processes():
        """Ends the processes of the user: podman's one for the user namespace outlives its commands."""
        user = pwd.getpwnam(ACCOUNT).pw_uid
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if process.stat().st_uid == user:
                    os.kill(int(process.name), signal.SIGKILL)


class ProcessRelay:
    """`pikabot relay` on this machine, whose network the container shares."""

    name = "pikabot relay"

    def __init__(self, pikabot):
        self.pikabot, self.process = pikabot, None

    async def start(self):
        self.process = await asyncio.create_subprocess_exec(
            self.pikabot, "relay", "--listen", f"127.0.0.1:{PORT}", "--data", ":memory:", "--media", ":memory:",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL)

    async def close(self):
        self.process.terminate()
        await self.process.wait()


async def build(builder, tree, pikabot):
    """Builds the image; returns its description."""
    layer = builder.home / "base.tar"
    # Ordinary users cannot create devices.
    await asyncio.to_thread(run, "tar", "--create", f"--file={layer}", f"--directory={tree}", "--exclude=./dev/*", ".")
    await builder.tool("buildah", "from", "--name", "base", "scratch")
    await builder.tool("buildah", "add", "--quiet", "base", layer, "/")
    await builder.tool("buildah", "commit", "--quiet", "base", BASE)
    layer.unlink()
    await builder.tool("buildah", "rm", "base")
    digest = (await builder.tool("buildah", "images", "--format", "{{.Digest}}", BASE)).split()[-1]
    first = builder.home / "first-stage"
    (first / "image").mkdir(parents=True)
    run("install", "--strip", "--mode=755", pikabot, first / "image/pikabot")
    # The clone may be in a folder that the user cannot read.
    context = builder.home / "context"
    context.mkdir()
    run("cp", "--archive", "--parents", "Package.swift", ".dockerignore", "Sources", "bots", "config/dependencies.txt",
        "config/Containerfile", ".ci/dependencies", context)
    await builder.tool(
        "buildah", "build", "--pull-never", "--format", "docker", "--isolation", "chroot", "--network", "host",
        "--build-context", f"build={first}", "--build-arg", f"SWIFT_DIGEST={digest}",
        "--build-arg", f"DEBIAN_DIGEST={digest}", "--file", context / "config/Containerfile",
        "--tag", "pikabot", context)
    return json.loads(await builder.tool("podman", "inspect", "--type", "image", "pikabot"))[0]


def write_bot(pikabot, folder, builder):
    """Sets up a bot whose paths are those of the container; returns its npub."""
    report = json.loads(run(pikabot, "setup", "greeter", "--directory", folder, "--relay", RELAY, "--invites", "anyone",
                            "--offline", "--yes"))
    file = folder / "greeter.yaml"
    text = file.read_text().replace("./state", "/var/lib/pikabot")
    file.write_text(text.replace("secrets/greeter.key", "/run/secrets/greeter.key"))
    file.chmod(0o644)
    for path in (folder, folder / "secrets"):
        path.chmod(0o755)
    for path in (folder / "state", folder / "secrets/greeter.key"):
        builder.give(path, USER)
    return report["npub"]


async def until(what, fits, seconds=60):
    deadline = asyncio.get_running_loop().time() + seconds
    while not (found := await fits()):
        check(asyncio.get_running_loop().time() < deadline, f"no {what} after {seconds} s")
        await asyncio.sleep(0.3)
    return found


async def image(stage):
    pikabot = str(Path(stage.options.pikabot).resolve())
    tree = await asyncio.to_thread(base_tree, "bookworm", [], Path(stage.options.trees))
    builder = await stage.enter(Builder(stage.folder))
    made = await build(builder, tree, pikabot)
    check(made["Config"]["User"] == f"{USER}:{USER}", f"user: {made['Config']}")
    check("status" in str(made.get("Healthcheck") or made.get("HealthCheck")), f"no health check: {sorted(made)}")
    print("  built: the second stage as written, with user and health check", flush=True)

    await stage.enter(ProcessRelay(pikabot))
    bot = stage.folder / "bot"
    npub = await asyncio.to_thread(write_bot, pikabot, bot, builder)
    stage.folder.chmod(0o755)
    limit = next(line.split()[2] for line in Path("/proc/self/limits").read_text().splitlines()
                 if line.startswith("Max processes"))
    limit = "4096" if limit == "unlimited" else str(min(4096, int(limit)))
    start = ["run", "--detach", "--name", "greeter", "--read-only", "--cap-drop", "all", "--user", USER,
             "--network", "host", "--cgroups", "disabled", "--pids-limit", "-1", "--ulimit", "nofile=1024:1024",
             "--ulimit", f"nproc={limit}:{limit}", "--stop-timeout", "45", "--volume", f"{bot}/greeter.yaml:/etc/pikabot/pikabot.yaml:ro",
             "--volume", f"{bot}/state:/var/lib/pikabot",
             "--volume", f"{bot}/secrets/greeter.key:/run/secrets/greeter.key:ro", "pikabot"]

    async def call(*arguments):
        return await builder.tool(
            "podman", "--runtime", "crun", "--cgroup-manager", "cgroupfs", *arguments, merged=True)

    async def is_ready():
        try:
            return "ready" in await call("exec", "greeter", "pikabot", "status", "/etc/pikabot/pikabot.yaml")
        except Failure:
            return False

    async def answers(text):
        guest = ["--state-dir", str(stage.folder / "guest"), "--relay", RELAY]
        await asyncio.to_thread(run, pikabot, "send", *guest, "--to", npub, "--content", text)

        async def is_heard():
            return f"echo: {text}" in await asyncio.to_thread(run, pikabot, "listen", *guest, "--timeout", "2")

        await until("answer", is_heard)

    for round in ("first", "second"):
        await call(*start)
        await until("readiness", is_ready)
        await answers(f"{round} container")
        status = await call("exec", "greeter", "sh", "-c", "touch /x; cat /proc/1/comm; cat /proc/1/status")
        check("Read-only file system" in status and "tini" in status, f"root file system: {status[:300]}")
        check("CapEff:\t0000000000000000" in status and f"Uid:\t{USER}" in status, f"capabilities and user: {status}")
        await call("stop", "greeter")
        code = (await call("inspect", "greeter", "--format", "{{.State.ExitCode}}")).splitlines()[0]
        check(code == "0", f"the container ended with status {code}")
        check("Draining workers" in await call("logs", "greeter"), "the workers were not drained")
        await call("rm", "greeter")
    print("  run: ready, answers, read-only, no capabilities, drains on stop; a second container continues", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("pikabot")
    parser.add_argument("--trees", default=".build/debian", help="where the base systems are kept")
    parser.set_defaults(timeout=900)
    main({"container image": image}, parser)
