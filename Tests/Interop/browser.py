"""Headless Chromium for the tests of the operator's console."""

import asyncio
import base64
import json
import time
from importlib.util import find_spec
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chrome.service import Service

from scenario import check

SECONDS = 60
BROWSER, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
# Chromium's sandbox needs privileges that test machines rarely have.
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,900",
         "--disable-background-networking", "--disable-component-update", "--no-first-run")


class Browser:
    name = "chromium"

    def __init__(self, scripts=True, flags=()):
        self.scripts, self.flags = scripts, flags
        self.driver = None

    async def start(self):
        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER
        for flag in [*FLAGS, *self.flags]:
            options.add_argument(flag)
        if not self.scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = await asyncio.to_thread(webdriver.Chrome, options=options, service=Service(DRIVER))
        self.driver.set_page_load_timeout(SECONDS)

    async def close(self):
        if self.driver:
            await asyncio.to_thread(self.driver.quit)

    async def open(self, url):
        await asyncio.to_thread(self.driver.get, url)

    async def text(self, selector="main"):
        return await asyncio.to_thread(lambda: self.driver.find_element("css selector", selector).text)

    async def find(self, selector):
        return await asyncio.to_thread(self.driver.find_elements, "css selector", selector)

    async def click(self, selector):
        """Clicks the only element that fits, which must exist."""
        await self._click("css selector", selector)

    async def press(self, label):
        """Follows the link or button whose text begins so."""
        await self._click("xpath", f"//*[self::a or self::button][starts-with(normalize-space(), '{label}')]")

    async def _click(self, by, selector):
        """Clicks, and waits for the next document: every link and button leads to one."""
        await self.run("window.left = true")
        for attempt in range(5):
            found = await asyncio.to_thread(self.driver.find_elements, by, selector)
            check(len(found) == 1, f"{len(found)} elements fit {selector!r} at {self.driver.current_url}")
            try:
                await asyncio.to_thread(found[0].click)
                break
            except StaleElementReferenceException:
                # A live update has replaced it.
                check(attempt < 4, f"{selector!r} is replaced all the time")
        deadline = time.monotonic() + SECONDS
        while await self.run("return window.left === true || document.readyState !== 'complete'"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{selector!r} led nowhere from {self.driver.current_url}")
            await asyncio.sleep(0.02)

    async def link(self, selector):
        """The address of the only link that fits."""
        found = await self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.href)", selector)
        check(len(found) == 1, f"{len(found)} links fit {selector!r} at {self.driver.current_url}")
        return found[0]

    async def run(self, script, *arguments):
        return await asyncio.to_thread(self.driver.execute_script, script, *arguments)

    async def until(self, what, fits, selector="main", seconds=SECONDS, read=None):
        """Waits, without a reload, until the text of an element fits, or what `read` returns."""
        deadline, text = time.monotonic() + seconds, ""
        while time.monotonic() < deadline:
            try:
                text = await (read() if read else self.text(selector))
                if fits(text):
                    return text
            except (NoSuchElementException, StaleElementReferenceException):
                # The page has just replaced the part.
                pass
            await asyncio.sleep(0.05)
        raise TimeoutError(f"no {what} after {seconds} s; {self.driver.current_url} shows {text[-1500:]!r}")

    async def until_live(self):
        await self.until("live page", lambda text: text == "Live", "#live")

    async def command(self, name, **arguments):
        return await asyncio.to_thread(self.driver.execute_cdp_cmd, name, arguments)

    async def look(self, width=1200, height=900, dark=False, still=False):
        await self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        await self.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}])

    async def screenshot(self, path, width):
        """A picture of the page down to its end, at most 2,400 pixels."""
        height = await self.run("return document.documentElement.scrollHeight")
        await self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=min(height, 2400), deviceScaleFactor=1,
            mobile=False)
        answer = await self.command("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(answer["data"]))

    async def violations(self):
        """What axe-core finds on the page, as lines of text."""
        source = Path(find_spec("axe_playwright_python").origin).parent / "axe.min.js"
        found = await asyncio.to_thread(self._violations, source.read_text())
        return [f"{one['id']}: {node['html'][:160]}: {node.get('failureSummary', '')}"
                for one in found for node in one["nodes"]]

    def _violations(self, source):
        # Not by the page's own means: its policy permits no other script.
        self.driver.execute_script(source)
        self.driver.set_script_timeout(SECONDS)
        return self.driver.execute_async_script(
            "const done = arguments[0]; axe.run({ resultTypes: ['violations'] }).then((r) => done(r.violations));")

    def complaints(self):
        """Errors and warnings of the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def requested(self):
        """The addresses that were requested since the last call."""
        addresses = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                addresses.append(message["params"]["request"]["url"])
        return addresses

    def describe(self):
        return f"at {self.driver.current_url}" if self.driver else "not started"
