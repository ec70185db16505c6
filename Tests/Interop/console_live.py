"""The operator's console in a real browser: every page, live updates, actions, roles and attacks.

    DIR/venv/bin/python Tests/Interop/console_live.py PIKABOT_BINARY [--only TEXT] [--screenshots FOLDER]
"""

import argparse
import asyncio
import base64
import http.client
import json
import os
import re
import signal
import socket
import ssl
import warnings
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from nostr_sdk import Keys, PublicKey, UnsignedEvent
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys as Keyboard

from browser import Browser
from pikabot import OurRelay
from scenario import check, main
from supervised import SECONDS, Supervised

PAGES = ["/", "/accounts/a", "/why?minutes=60", "/logs", "/configuration", "/load", "/actions/restart?account=a"]
CONSOLE = "  console: {{ listen: 127.0.0.1:0, contents: {contents}, reports: ./reports{more} }}\n"

# What `pikabot load` writes, without what the page does not show.
REPORT = {
    "schemaVersion": 1, "run": {"name": "evening", "startedAt": "2026-01-31T18:00:00Z"}, "duration": 60, "passed": False,
    "thresholds": [{"key": "deliver.p95", "condition": "< 200 ms", "passed": False, "found": "231 ms"}],
    "operations": [
        {"name": name, "count": count, "failures": 0, "rate": count / 60, "latency": {
            "mean": 0.04, "max": 0.4, "percentiles": {"p50": 0.03, "p95": 0.231, "p99": 0.3}}}
        for name, count in (("send", 1200), ("deliver", 1180))],
    "correctness": {"expected": 1200, "excused": 20, "delivered": 1180, "diverged": 0},
    "series": {"interval": 5, "operations": [
        {"name": "send", "count": [80 + 9 * (n % 4) for n in range(12)], "p95": [0.02 + 0.001 * n for n in range(12)]},
        {"name": "deliver", "count": [75 + 8 * (n % 5) for n in range(12)],
         "p95": [0.11 + 0.012 * n for n in range(12)]}]},
}


class Console(Supervised):
    """Two echo bots with a console. The first accepts every invitation, the second asks an operator."""

    def __init__(self, *arguments, contents=True, configured=True, more="", **options):
        self.observe = "observe:\n" + CONSOLE.format(contents=str(contents).lower(), more=more) if configured else ""
        super().__init__(*arguments, **options)

    def write(self, names, **invites):
        super().write(names, **({"a": "anyone"} | invites))
        self.file.write_text(self.file.read_text() + self.observe)

    async def link(self, *flags):
        code, output, errors = await self.command("console", *flags)
        check(code == 0, f"console: {code} {errors}")
        return output.strip()


async def stand(stage, scripts=True, **options):
    """A running program with a console, a browser that is logged in, and the address."""
    relay = await stage.enter(OurRelay(stage.options.pikabot, stage.folder))
    bots = await stage.enter(Console(stage.options.pikabot, relay, stage.folder / "bots", **options))
    await bots.until_ready("a", "b")
    browser = await stage.enter(Browser(scripts))
    return relay, bots, browser, await log_in(bots, browser)


async def log_in(bots, browser, *flags):
    url = await bots.link(*flags)
    await browser.open(url)
    await browser.press("Log in")
    check(await browser.text("h1") == "Overview", f"after the login: {await browser.text('h1')}")
    return url.split("/login")[0]


async def chat(stage, relay, bots):
    """A member with a group of the bot `a`, which has answered once."""
    member = await stage.member("guest", relay)
    await member.fetch_key_package(bots.keys["a"], SECONDS, [443, 30443])
    group = await member.create_group("Tea <b>&</b> talk", [bots.keys["a"]])
    await answered(member, bots, group, "hello there")
    return member, group


async def answered(member, bots, group, text):
    await member.send(group, text)
    await member.until_message(f"echo: {text}", bots.keys["a"], SECONDS)


class Client:
    """A program that speaks HTTP, with a cookie or without."""

    def __init__(self, address, cookie=None):
        self.host, self.cookie = urlsplit(address).netloc, cookie

    async def send(self, method, path, form=None, **headers):
        """Status, headers and text of the answer."""
        return await asyncio.to_thread(self._send, method, path, form, headers)

    def _send(self, method, path, form, headers):
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        fields = {"Cookie": self.cookie} if self.cookie else {}
        body = None
        if form is not None:
            body = form if isinstance(form, str) else urlencode(form)
            fields["Content-Type"] = "application/x-www-form-urlencoded"
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, fields)
        answer = connection.getresponse()
        result = answer.status, dict(answer.getheaders()), answer.read().decode()
        connection.close()
        return result


async def client(bots, address, *flags):
    """A client that has used a link, and the token of its forms."""
    token = (await bots.link(*flags)).split("token=")[1]
    _, headers, _ = await Client(address).send("POST", "/login", {"token": token})
    cookie = headers["set-cookie"].split(";")[0]
    logged_in = Client(address, cookie)
    _, _, page = await logged_in.send("GET", "/")
    return logged_in, re.search(r'name="token" value="([0-9a-f]+)"', page)[1]


async def login(stage):
    """A link works once, and only by its button; a logout ends the session."""
    relay, bots, browser, address = await stand(stage)
    url = await bots.link()
    await browser.open(f"{address}/logout-is-post-only")
    for _ in range(2):  # Opening the link alone does not use it up.
        status, _, page = await Client(address).send("GET", url.removeprefix(address))
        check(status == 200 and "Log in" in page, f"the link answered {status}")
    token = url.split("token=")[1]
    status, headers, _ = await Client(address).send("POST", "/login", {"token": token})
    cookie = headers.get("set-cookie", "")
    check(status == 303 and "HttpOnly" in cookie and "SameSite=Strict" in cookie, f"{status} {headers}")
    status, _, page = await Client(address).send("POST", "/login", {"token": token})
    check(status == 403 and "used before" in page, f"the second use: {status} {page}")
    for path in ("/", "/accounts/a", "/configuration"):
        status, headers, _ = await Client(address).send("GET", path)
        check(status == 303 and headers["location"] == "/login", f"{path} without a session: {status}")
    await browser.open(address)
    await browser.press("Log out")
    await browser.open(address)
    check("/login" in browser.driver.current_url, f"after the logout: {browser.driver.current_url}")
    check("one-time link" in await browser.text() or "pikabot console" in await browser.text(), await browser.text())


async def pages(stage):
    """Each page shows the facts of real accounts, in every width and both schemes, without a fault that axe-core knows."""
    relay, bots, browser, address = await stand(stage)
    member, group = await chat(stage, relay, bots)
    reports = bots.folder / "reports"
    reports.mkdir()
    (reports / "broken.json").write_text("{")
    (reports / "evening.json").write_text(json.dumps(REPORT))

    await browser.open(f"{address}/")
    text = await browser.until("the answer in the overview", lambda text: "a\n" in text or "ready" in text)
    check("No problems are known." in text and "1 of 1" in text, text)
    await browser.click('a[href="/accounts/a"]')
    text = await browser.until("the chat", lambda text: "Tea <b>&</b> talk" in text)
    for wanted in ("connected", "stored", "use: echo", "Events and answers"):
        check(wanted in text, f"the account lacks {wanted!r}: {text}")
    chat_page = (await browser.link('a[href*="/chats/"]')).removeprefix(address)
    await browser.open(address + chat_page)
    text = await browser.text()
    for wanted in ("hello there", "sent", PublicKey.parse(member.pubkey).to_bech32()[:12]):
        check(wanted in text, f"the chat lacks {wanted!r}: {text}")
    await browser.open(f"{address}/why?minutes=60")
    check("handled" in await browser.text(), f"why: {await browser.text()}")
    await browser.open(f"{address}/logs?level=info&account=a")
    check("Relay connected" in await browser.text(), f"logs: {await browser.text()}")
    await browser.open(f"{address}/configuration")
    text = await browser.text()
    check("use: echo" in text and "secrets/a.key" in text, f"configuration: {text}")
    check((bots.folder / "secrets" / "a.key").read_text().strip() not in text, "the page shows a key")
    await browser.open(f"{address}/load")
    text = await browser.text()
    for wanted in ("broken.json", "evening.json", "1,180 of 1,200" if "1,180" in text else "1180 of 1200", "send"):
        check(wanted in text, f"load lacks {wanted!r}: {text}")

    folder = stage.options.screenshots
    for path in PAGES + [chat_page]:
        for label, width, dark in (("light", 1200, False), ("dark", 1200, True), ("narrow", 320, False),
                                   ("wide", 1920, False)):
            await browser.look(width, dark=dark)
            await browser.open(address + path)
            # The bar for scrolling keeps its place beside the page.
            over = await browser.run(
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            check(over <= 0, f"{path} is {over} pixels too wide at {width}")
            found = await browser.violations()
            check(not found, f"{path}, {label}:\n" + "\n".join(found))
            if folder and label != "wide":
                parts = path.split("?")[0].strip("/").split("/")
                name = "chat" if "chats" in parts else {"": "overview", "accounts": "account", "actions": "question"}.get(
                    parts[0], parts[0])
                await browser.screenshot(folder / f"console-{name}-{label}.png", width)
    check(not browser.complaints(), f"the browser complains: {browser.complaints()}")
    strangers = [url for url in browser.requested() if not url.startswith((address, "data:", "chrome", "about:"))]
    check(not strangers, f"requests to others: {strangers}")

    await browser.look(still=True)
    await browser.open(address)
    duration = await browser.run("return getComputedStyle(document.querySelector('nav a')).transitionDuration")
    check(duration in ("0s", ""), f"an animation of {duration} in spite of prefers-reduced-motion")


async def live(stage):
    """The page changes without a reload: a message, a pause and its end, a killed worker."""
    relay, bots, browser, address = await stand(stage)
    member, group = await chat(stage, relay, bots)
    await browser.open(f"{address}/accounts/a")
    await browser.until_live()
    await browser.run("window.untouched = true")
    first = await browser.until("one call", lambda text: re.search(r"use: echo (\d+)", text))
    count = int(re.search(r"use: echo (\d+)", first)[1])
    await answered(member, bots, group, "once more")
    await browser.until("another call", lambda text: f"use: echo {count + 1}" in text)
    check(await browser.run("return window.untouched === true"), "the page was loaded again")

    await browser.press("Pause")
    check("skipped" in await browser.text(), f"the question: {await browser.text()}")
    await browser.click("main form button")
    await browser.until("the pause", lambda text: "paused" in text)
    before = len(member.messages)
    await member.send(group, "nobody hears this")
    await browser.open(f"{address}/why?minutes=5&account=a")
    deadline = asyncio.get_running_loop().time() + SECONDS
    while "paused" not in (text := await browser.text()):
        check(asyncio.get_running_loop().time() < deadline, f"the page does not explain the pause: {text}")
        await browser.open(f"{address}/why?minutes=5&account=a")
    check(all("nobody hears this" not in one["content"] for one in member.messages[before:]
              if one["pubkey"] == bots.keys["a"]), "a paused bot has answered")
    await browser.open(f"{address}/accounts/a")
    await browser.press("Resume")
    await browser.click("main form button")
    await browser.until("the end of the pause", lambda text: "running" in text)
    await answered(member, bots, group, "back again")

    await browser.open(address)
    await browser.until_live()
    pids = await bots.until_ready("a", "b")
    await browser.run("window.untouched = true")
    os.kill(pids["a"], signal.SIGKILL)
    await browser.until("the end of the worker", lambda text: re.search(r"a\s+(\W\s*)?(restarting|starting)", text) or
                        re.search(r"^a .*\b1 1 of 1", text, re.MULTILINE))
    await browser.until("the new worker", lambda text: re.search(r"^a .*ready .*\b1 1 of 1", text, re.MULTILINE))
    check(await browser.run("return window.untouched === true"), "the page was loaded again")
    rows = await browser.text("#part-actions")
    check("pause the bot echo of a" in rows and "resume" in rows, f"the list of actions: {rows}")
    check("operator" in bots.log.read_text() and "pause the bot echo of a" in bots.log.read_text(), "not logged")


async def stale(stage):
    """The page drops an update that is not newer than what it shows, and one that it cannot read."""
    relay, bots, browser, address = await stand(stage)
    await browser.command("Page.addScriptToEvaluateOnNewDocument", source="""
        window.EventSource = class extends EventTarget {
          constructor(url) { super(); window.stream = this; }
          close() {}
        };""")
    await browser.open(address)
    rev = int(await browser.run("return document.body.dataset.rev"))
    send = """window.stream.dispatchEvent(new MessageEvent("update", { data: arguments[0] }))"""
    for number, text in ((rev + 5, "newer"), (rev + 5, "the same"), (rev + 4, "older"), (rev - 1, "stale")):
        update = {"rev": number, "now": 1, "parts": {"program": f"<p>{text}</p>"}, "append": {}}
        await browser.run(send, json.dumps(update))
        check(await browser.text("#part-program") == "newer", f"{text} update: {await browser.text('#part-program')}")
    await browser.run(send, "{")
    check("could not be read" in await browser.text("#live"), await browser.text("#live"))
    await browser.run(send, json.dumps({"rev": rev + 6, "now": 1, "parts": {"program": "<p>again</p>"}, "append": {}}))
    check(await browser.text("#part-program") == "again", "the page no longer follows")


async def configuration(stage):
    """A wrong file shows its problem at its line; a text is validated and not saved; a reload applies changes."""
    relay, bots, browser, address = await stand(stage)
    good = bots.file.read_text()
    await browser.open(f"{address}/configuration")
    bots.file.write_text(good.replace("accept: nobody", "accept: nonsense"))
    number = next(i for i, line in enumerate(bots.file.read_text().splitlines(), 1) if "nonsense" in line)
    await browser.press("Reload")
    await browser.click("main form button")
    text = await browser.text()
    check("failed" in text and f":{number}:" in text, f"the failed reload: {text}")
    await browser.open(f"{address}/configuration")
    text = await browser.text()
    check(f"{number} " in text and "nonsense" in text, f"the problem: {text}")
    await browser.open(address)
    await browser.until("the problem", lambda text: f"line {number}" in text, "#part-problems")

    await browser.open(f"{address}/configuration")
    await browser.run("document.querySelector('textarea').value = arguments[0]",
                      good.replace("patience: 60s", "patience: soon"))
    await browser.press("Validate")
    line = next(i for i, line in enumerate(good.splitlines(), 1) if "patience" in line)
    wrong = await browser.text(".numbered .wrong")
    check(wrong.startswith(str(line)) and "soon" in wrong, f"the validated text: {wrong}")
    check("nonsense" in bots.file.read_text(), "validating has changed the file")

    bots.file.write_text(good.replace("accept: nobody", "accept: anyone"))
    await browser.open(f"{address}/configuration")
    text = await browser.text()
    check("accounts[b].invites.accept" in text and "applies at once" in text, f"the preview: {text}")
    await browser.press("Reload")
    await browser.click("main form button")
    await browser.until("the reload", lambda text: "Nothing: the file is in force." in text)


async def invitation(stage):
    """An invitation that no rule decides waits; an operator accepts one and declines another."""
    relay, bots, browser, address = await stand(stage)
    member = await stage.member("guest", relay)
    await member.fetch_key_package(bots.keys["b"], SECONDS, [443, 30443])
    await member.create_group("Wanted", [bots.keys["b"]])
    await browser.open(f"{address}/accounts/b")
    await browser.until("the invitation", lambda text: "Wanted" in text)
    await browser.press("Accept")
    await browser.click("main form button")
    await browser.until("the chat", lambda text: "Wanted" in text and "Invitations" not in text)


async def roles(stage):
    """The role `view` sees every page and no action; requests that act are refused."""
    relay, bots, browser, address = await stand(stage)
    await browser.press("Log out")
    await log_in(bots, browser, "--view", "--name", "visitor")
    check("visitor, view" in await browser.text(".who"), await browser.text(".who"))
    for path in PAGES[:-1]:
        await browser.open(address + path)
        actions = await browser.find('a[href^="/actions/"], form[action^="/actions/"], textarea')
        check(not actions, f"{path} offers actions to the role view")
    visitor, token = await client(bots, address, "--view")
    for method, path, form in (("GET", "/actions/restart?account=a", None),
                               ("POST", "/actions/restart", {"account": "a", "token": token}),
                               ("POST", "/actions/reload", {"token": token}),
                               ("POST", "/configuration/validate", {"text": "version: 1", "token": token})):
        status, _, _ = await visitor.send(method, path, form)
        check(status == 403, f"{method} {path} of a visitor: {status}")
    _, workers = await bots.status()
    check(workers["a"]["restarts"] == 0, "a visitor has restarted an account")


async def attacks(stage):
    """Forged forms, foreign hosts and sites, guessed links, too many streams and requests, malformed input."""
    relay, bots, browser, address = await stand(stage)
    operator, token = await client(bots, address)
    form = {"account": "a", "token": token}
    host = urlsplit(address).netloc
    table = [
        ("form without its token", 403, "POST", "/actions/restart", {"account": "a"}, {}),
        ("form with another token", 403, "POST", "/actions/restart", {"account": "a", "token": "0" * 64}, {}),
        ("form of another site", 403, "POST", "/actions/restart", form, {"Origin": "https://evil.example"}),
        ("form of a sandbox", 403, "POST", "/actions/restart", form, {"Origin": "null"}),
        ("form of another port", 403, "POST", "/actions/restart", form, {"Origin": "http://127.0.0.1:1"}),
        ("request of another site", 403, "POST", "/actions/restart", form, {"Sec-Fetch-Site": "cross-site"}),
        ("another host", 421, "GET", "/", None, {"Host": "evil.example"}),
        ("another host that acts", 421, "POST", "/actions/restart", form, {"Host": "evil.example"}),
        ("an action by GET", 200, "GET", "/actions/restart?account=a", None, {}),
        ("another method", 405, "DELETE", "/", None, {}),
        ("an unknown action", 404, "POST", "/actions/erase", form, {}),
        ("an unknown account", 404, "POST", "/actions/restart", form | {"account": "<b>"}, {}),
        ("an unknown page", 404, "GET", "/../../etc/passwd", None, {}),
        ("a form that is none", 415, "POST", "/actions/restart", form, {"Content-Type": "application/json"}),
        ("a form that is too large", 413, "POST", "/actions/restart", "a=" + "b" * 40_000, {}),
        ("a malformed form", 400, "POST", "/actions/restart", "a=%zz", {}),
        ("an address that is too long", 414, "GET", "/why?event=" + "a" * 5_000, None, {}),
    ]
    for what, wanted, method, path, fields, headers in table:
        status, answer, _ = await operator.send(method, path, fields, **headers)
        check(status == wanted, f"{what}: {status} instead of {wanted}")
        check("default-src 'none'" in answer.get("content-security-policy", ""), f"{what}: no policy in {answer}")
    _, workers = await bots.status()
    check(workers["a"]["restarts"] == 0, "an attack has restarted an account")
    status, _, _ = await operator.send("POST", "/actions/restart", form, Origin=f"http://{host}")
    check(status == 303, f"the form of the page itself: {status}")
    await bots.until("the restart", lambda workers: workers["a"]["restarts"] == 1)

    # A hostile name is text on every page.
    member = await stage.member("guest", relay)
    await member.fetch_key_package(bots.keys["a"], SECONDS, [443, 30443])
    hostile = '<script>document.title="owned"</script><img src=x onerror=alert(1)>"\'&'
    await member.create_group(hostile, [bots.keys["a"]])
    await browser.open(f"{address}/accounts/a")
    await browser.until("the hostile name", lambda text: 'document.title="owned"' in text)
    check(await browser.run("return document.title") != "owned", "a name has run as script")
    check(not await browser.find("main img, main script"), "a name became markup")

    streams = []
    for _ in range(6):
        connection = http.client.HTTPConnection(host, timeout=SECONDS)
        await asyncio.to_thread(connection.request, "GET", "/events?page=/&rev=0", None, {"Cookie": operator.cookie})
        answer = await asyncio.to_thread(connection.getresponse)
        streams.append((await asyncio.to_thread(answer.readline)).decode())
        check(answer.status == 200, f"a stream: {answer.status}")
    check(streams.count("event: full\n") == 2, f"of six streams of one session: {streams}")

    began = asyncio.get_running_loop().time()
    reader, writer = await asyncio.open_connection(*host.split(":"))
    writer.write(b"GET / HTTP/1.1\r\nHost: a")

    async def drip():
        while True:  # Each byte would begin a new idle time.
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(0.5)

    dripping = asyncio.create_task(drip())
    with suppress(ConnectionError):
        check(not await asyncio.wait_for(reader.read(), SECONDS), "half a request was answered")
    dripping.cancel()
    with suppress(ConnectionError, asyncio.CancelledError):
        await dripping
    writer.close()
    took = asyncio.get_running_loop().time() - began
    check(took < 40, f"a request that never ends was cut off after {took:.0f} s")

    guesses = [(await Client(address).send("POST", "/login", {"token": f"{n:064x}"}))[0] for n in range(12)]
    check(guesses[:10] == [403] * 10 and guesses[-1] == 429, f"twelve guesses: {guesses}")
    # Twenty requests a second are served for ever; a machine that is slower than that refuses nothing.
    for _ in range(50):
        asked = await asyncio.gather(*[Client(address).send("GET", "/login") for _ in range(40)])
        if 429 in [status for status, _, _ in asked]:
            break
    else:
        check(False, "2,000 requests at once were all served")


async def scriptless(stage):
    """Without script every page can be read, and forms act."""
    relay, bots, browser, address = await stand(stage, scripts=False)
    for path in PAGES:
        await browser.open(address + path)
        check(len(await browser.text()) > 40, f"{path} is empty")
    check("Without script" in await browser.text("#live") or not await browser.text("#live"), "no note")
    await browser.open(f"{address}/accounts/a")
    await browser.press("Restart")
    await browser.click("main form button")
    await bots.until("the restart", lambda workers: workers["a"]["restarts"] == 1)


async def keyboard(stage):
    """Tab reaches every link, button and field, each with a visible outline."""
    relay, bots, browser, address = await stand(stage)
    for path in PAGES:
        await browser.open(address + path)
        wanted = await browser.run("""return [...document.querySelectorAll("a, button, input, select, textarea")]
            .filter((e) => e.type !== "hidden" && e.checkVisibility()).length""")
        seen = await asyncio.to_thread(reach, browser.driver, wanted + 30)
        check(seen["count"] >= wanted, f"{path}: Tab reaches {seen['count']} of {wanted}")
        check(not seen["bare"], f"{path}: no outline at {seen['bare']}")


def reach(driver, limit):
    """Presses Tab until the page begins again; counts the elements of the kinds that act."""
    driver.execute_script("window.reached = new Set(); window.bare = [];")
    for _ in range(limit):
        # To the page, not to an element, which a live update may replace.
        ActionChains(driver).send_keys(Keyboard.TAB).perform()
        driver.execute_script("""const e = document.activeElement;
            if (e && e.matches("a, button, input, select, textarea")) {
              window.reached.add(e);
              if (getComputedStyle(e).outlineStyle === "none") window.bare.push(e.outerHTML.slice(0, 80));
            }""")
    return driver.execute_script("return { count: window.reached.size, bare: window.bare }")


async def on_demand(stage):
    """A program without a console in its file starts one when a login is requested; contents stay hidden."""
    relay, bots, browser, address = await stand(stage, configured=False)
    check(address == "http://127.0.0.1:9465", f"the address is {address}")
    member, group = await chat(stage, relay, bots)
    await browser.open(f"{address}/accounts/a")
    await browser.until("the chat", lambda text: "Tea <b>&</b> talk" in text)
    await browser.open(await browser.link('a[href*="/chats/"]'))
    text = await browser.text()
    check("sent" in text and "hello there" not in text, f"the chat without contents: {text}")


async def keys(stage):
    """The owner of a configured key logs in by a browser extension; a stranger and a repeated event do not."""
    owner, guest, stranger = Keys.generate(), Keys.generate(), Keys.generate()
    relay = await stage.enter(OurRelay(stage.options.pikabot, stage.folder))
    bots = await stage.enter(Console(
        stage.options.pikabot, relay, stage.folder / "bots",
        more=f", operators: [{owner.public_key().to_bech32()}], viewers: [{guest.public_key().to_bech32()}]"))
    await bots.until_ready("a", "b")
    browser = await stage.enter(Browser())
    address = (await bots.link()).split("/login")[0]
    # An extension that asks the test.
    await browser.command("Page.addScriptToEvaluateOnNewDocument", source="""
        window.nostr = { signEvent: (event) => new Promise((done) => { window.asked = event; window.done = done; }) };""")
    signed = None
    for who, wanted in ((stranger, None), (guest, "view"), (owner, "operate")):
        await browser.open(f"{address}/login")
        await browser.run("document.getElementById('nostr').click()")
        draft = await browser.run("return JSON.stringify(window.asked)")
        fields = json.loads(draft) | {"pubkey": who.public_key().to_hex()}
        signed = UnsignedEvent.from_json(json.dumps(fields)).sign(who).as_json()
        await browser.run("window.done(JSON.parse(arguments[0]))", signed)
        if wanted:
            text = await browser.until("the login", lambda text: wanted in text, ".who")
            check(who.public_key().to_bech32()[:20] in text, f"the name of the session: {text}")
            await browser.press("Log out")
        else:
            await browser.until("the refusal", lambda text: "does not name this key" in text, "#nostr-problem")
    header = "Nostr " + base64.b64encode(signed.encode()).decode()
    status, _, text = await Client(address).send("POST", "/login/nostr", "", Authorization=header)
    check(status == 401 and "used before" in text, f"a repeated event: {status} {text}")


async def tls(stage):
    """With a certificate the console speaks HTTPS only, and its cookie is for HTTPS only."""
    certificate, key = stage.folder / "console.pem", stage.folder / "console.key"
    process = await asyncio.create_subprocess_exec(
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key), "-out",
        str(certificate), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL)
    check(await process.wait() == 0, "openssl failed")
    key.chmod(0o600)
    relay = await stage.enter(OurRelay(stage.options.pikabot, stage.folder))
    bots = await stage.enter(Console(
        stage.options.pikabot, relay, stage.folder / "bots",
        more=f", tls: {{ certificate: {certificate}, key: {key} }}"))
    await bots.until_ready("a", "b")
    browser = await stage.enter(Browser(flags=["--ignore-certificate-errors"]))
    address = await log_in(bots, browser)
    check(address.startswith("https://127.0.0.1:"), f"the address is {address}")
    await browser.until_live()
    (cookie,) = await asyncio.to_thread(browser.driver.get_cookies)
    check(cookie["secure"] and cookie["httpOnly"] and cookie["sameSite"] == "Strict", f"{cookie}")
    check(cookie["name"].startswith("__Host-"), f"{cookie}")
    context = ssl.create_default_context(cafile=str(certificate))
    for version, works in ((ssl.TLSVersion.TLSv1_3, True), (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_1, False)):
        check(await asyncio.to_thread(speaks, urlsplit(address).port, context, version) == works, f"{version.name}")


def speaks(port, context, version):
    """Whether a server accepts exactly this version of TLS, with a certificate for 127.0.0.1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version, context.maximum_version = ssl.TLSVersion.MINIMUM_SUPPORTED, version
        context.minimum_version = version
    try:
        with socket.create_connection(("127.0.0.1", port), SECONDS) as plain:
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
                return secure.version() is not None
    except ssl.SSLError:
        return False


async def memory(stage):
    """A page that is open for long keeps its size, however many updates it gets."""
    relay, bots, browser, address = await stand(stage)
    member, group = await chat(stage, relay, bots)
    await browser.open(f"{address}/accounts/a")
    await browser.until_live()

    async def size():
        await browser.command("HeapProfiler.collectGarbage")
        counts = (await browser.command("Memory.getDOMCounters")) | {
            "bytes": (await browser.command("Runtime.getHeapUsage"))["usedSize"]}
        return {name: counts[name] for name in ("nodes", "jsEventListeners", "bytes")}

    async def updated(times):
        for number in range(times):
            rev = await browser.run("return Number(document.body.dataset.rev)")
            if number % 4 == 0:
                await member.send(group, f"update {number}")
            await browser.until(
                "an update", lambda now: int(now) > rev, read=lambda: browser.run("return document.body.dataset.rev"))

    await browser.command("Performance.enable")
    # The first updates fill the charts and the list of chats.
    await updated(4)
    first, began = await size(), asyncio.get_running_loop().time()
    while asyncio.get_running_loop().time() - began < stage.options.minutes * 60:
        await updated(2)
    last = await size()
    print(f"  {first} at first, {last} after {stage.options.minutes:g} minutes", flush=True)
    check(last["nodes"] < first["nodes"] * 1.3 + 300, "the page has grown")
    check(last["jsEventListeners"] <= first["jsEventListeners"] + 5, "listeners pile up")
    check(last["bytes"] < first["bytes"] * 1.3 + 1_000_000, "the heap has grown")


SCENARIOS = {
    "login": login, "pages": pages, "live updates": live, "stale updates": stale, "configuration": configuration, "invitation": invitation,
    "roles": roles, "attacks": attacks, "without script": scriptless, "keyboard": keyboard, "on demand": on_demand,
    "keys": keys, "TLS": tls, "memory": memory,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pikabot", help="the built pikabot program")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER", help="save a picture of each page there")
    parser.add_argument("--minutes", type=float, default=0.25, help="how long the scenario `memory` runs")
    main(SCENARIOS, parser)
