"""A Debian machine in a folder: a fresh debootstrap tree, booted with its own systemd by systemd-nspawn."""

import asyncio
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from scenario import Failure, check

BOOT_SECONDS = 90
STOP_SECONDS = 60
# Besides the base system; the packages that pikabot depends on are added from its control file.
INCLUDED = ["systemd", "systemd-sysv", "dbus"]


def run(*command, **options):
    """Runs a command on this machine and returns its output; raises Failure with its last lines."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def mirror():
    """Returns the address of the Debian archive that apt uses on this machine."""
    for line in run("apt-get", "indextargets", "--format", "$(REPO_URI) $(COMPONENT) $(ORIGIN)",
                    "Created-By: Packages").splitlines():
        address, component, origin = (line.split(" ", 2) + ["", ""])[:3]
        if component == "main" and origin == "Debian" and "security" not in address:
            return address.rstrip("/")
    raise Failure("no Debian archive in apt's sources")


def base_tree(suite, dependencies, folder):
    """Returns a base system of this release with at least these packages; creates it on the first call."""
    wanted = {*INCLUDED, *dependencies}
    tree, stamp = folder / suite, folder / f"{suite}.complete"
    if stamp.exists() and wanted <= set(stamp.read_text().split()):
        return tree
    stamp.unlink(missing_ok=True)
    shutil.rmtree(tree, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    run("debootstrap", "--variant=minbase", f"--include={','.join(sorted(wanted))}", suite, tree, mirror(), timeout=900)
    stamp.write_text(" ".join(sorted(wanted)))
    return tree


class Machine:
    """A copy of a base tree that is booted, with a network of its own that has only a loopback interface."""

    def __init__(self, tree, folder):
        self.tree, self.root, self.log = tree, folder / "root", folder / "console.log"
        self.name = f"machine {tree.name}"
        self.process = self.leader = None

    async def start(self):
        if os.geteuid() != 0 or not shutil.which("systemd-nspawn"):
            raise Failure("root and systemd-nspawn (Debian's systemd-container) are needed")
        await asyncio.to_thread(run, "cp", "--archive", "--reflink=auto", self.tree, self.root)
        # Neither a service manager nor an operator of the host is involved.
        with self.log.open("wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                "systemd-nspawn", "--directory", str(self.root), "--boot", "--register=no", "--keep-unit",
                "--private-network", "--console=pipe", "--machine=pikabot-test", "--hostname=pikabot-test",
                env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}, start_new_session=True,
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = asyncio.get_running_loop().time() + BOOT_SECONDS
        while True:
            check(self.process.returncode is None, f"systemd-nspawn ended; {self.describe()}")
            self.leader = self._leader()
            if self.leader:
                _, state = await self.call("systemctl", "is-system-running")
                if state.strip() in ("running", "degraded"):
                    return
            check(asyncio.get_running_loop().time() < deadline, f"not booted after {BOOT_SECONDS} s; {self.describe()}")
            await asyncio.sleep(0.3)

    def _leader(self):
        """Returns the process id of the machine's systemd, the child of systemd-nspawn in a new process namespace."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for child in children.read_text().split():
            with suppress(OSError):
                if os.readlink(f"/proc/{child}/ns/pid") != os.readlink("/proc/self/ns/pid"):
                    return child
        return None

    async def call(self, *command, input=None, seconds=180):
        """Runs a command in the machine; returns its exit status and output."""
        process = await asyncio.create_subprocess_exec(
            "nsenter", "--target", self.leader, "--all", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", *map(str, command), cwd="/",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
        try:
            output, _ = await asyncio.wait_for(process.communicate((input or "").encode()), seconds)
        except TimeoutError:
            process.kill()
            raise Failure(f"{' '.join(map(str, command))}: not finished after {seconds} s") from None
        return process.returncode, output.decode(errors="replace")

    async def run(self, *command, status=0, **options):
        """Runs a command in the machine, which must end with this exit status; returns its output."""
        found, output = await self.call(*command, **options)
        check(found == status, f"{' '.join(map(str, command))}: status {found}, expected {status}\n{output[-3000:]}")
        return output

    async def show(self, unit, *properties):
        """Returns properties of a unit, by name."""
        lines = (await self.run("systemctl", "show", unit, "--property", ",".join(properties))).splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    async def until(self, what, fits, seconds=60):
        """Calls an async function until its result is true; returns the result."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not (found := await fits()):
            check(asyncio.get_running_loop().time() < deadline, f"no {what} after {seconds} s")
            await asyncio.sleep(0.2)
        return found

    def write(self, path, text, mode=0o644):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    async def close(self):
        if self.process and self.process.returncode is None:
            # SIGRTMIN+3 to the machine's systemd is an orderly shutdown.
            if self.leader:
                with suppress(ProcessLookupError):
                    os.kill(int(self.leader), signal.SIGRTMIN + 3)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), STOP_SECONDS)
        if self.process and self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()

    def describe(self):
        lines = self.log.read_text(errors="replace").splitlines()[-15:] if self.log.exists() else []
        return "console ends:" + "".join(f"\n    {line}" for line in lines)
