/// The script: it follows the changes of the page and keeps relative times current. Everything else works without it.
enum Script {
    static let text = #"""
        (() => {
          "use strict";
          const body = document.body;
          const status = document.getElementById("live");
          const longestLog = 1000;
          let rev = Number(body.dataset.rev) || 0;
          let offset = (Number(body.dataset.now) || 0) - Date.now() / 1000;

          const say = (text) => { if (status && status.textContent !== text) status.textContent = text; };

          // The same rule as on the server.
          const span = (s) => s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min`
            : s < 86400 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`;
          const relative = (at) => {
            const difference = Math.floor(Date.now() / 1000 + offset) - at;
            if (Math.abs(difference) < 5) return "now";
            return difference > 0 ? `${span(difference)} ago` : `in ${span(-difference)}`;
          };
          const refreshTimes = () => {
            for (const time of document.querySelectorAll("time[data-at]")) {
              const text = relative(Number(time.dataset.at));
              if (Number.isFinite(Number(time.dataset.at)) && time.textContent !== text) time.textContent = text;
            }
          };

          // Names an element by what it does, so that focus returns to it after its part was replaced.
          const key = (element) => element && ["id", "href", "name", "aria-label"]
            .map((name) => element.getAttribute && element.getAttribute(name)).find((value) => value);
          const focusable = (part) => part.querySelectorAll("a, button, input, select, summary, [tabindex]");

          const replace = (part, html) => {
            const focused = part.contains(document.activeElement) ? document.activeElement : null;
            if (focused && focused.matches("input, select, textarea")) return;
            const name = key(focused);
            const scrolled = new Map();
            for (const region of part.querySelectorAll(".scroll, pre")) scrolled.set(key(region), region.scrollLeft);
            part.innerHTML = html;
            for (const region of part.querySelectorAll(".scroll, pre")) region.scrollLeft = scrolled.get(key(region)) || 0;
            if (name) for (const element of focusable(part)) {
              if (key(element) === name) { element.focus({ preventScroll: true }); break; }
            }
          };

          const append = (list, html) => {
            const atEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 40;
            list.insertAdjacentHTML("beforeend", html);
            while (list.children.length > longestLog) list.firstElementChild.remove();
            if (atEnd && list.contains(document.activeElement) === false) window.scrollTo(0, document.documentElement.scrollHeight);
          };

          const apply = (update) => {
            // An update that is not newer than the page is stale.
            if (!(update.rev > rev)) return;
            rev = update.rev;
            body.dataset.rev = String(rev);
            offset = update.now - Date.now() / 1000;
            for (const [id, html] of Object.entries(update.parts || {})) {
              const part = document.getElementById("part-" + id);
              if (part) replace(part, html);
            }
            for (const [id, html] of Object.entries(update.append || {})) {
              const list = document.getElementById(id);
              if (list) append(list, html);
            }
            refreshTimes();
          };

          const follow = () => {
            const stream = new EventSource(body.dataset.events + "&rev=" + rev);
            stream.addEventListener("open", () => say("Live"));
            stream.addEventListener("update", (message) => { try { apply(JSON.parse(message.data)); } catch { say("An update could not be read. Load the page again."); } });
            stream.addEventListener("end", () => { stream.close(); say("The session has ended. Log in again."); });
            stream.addEventListener("error", () => {
              say(stream.readyState === EventSource.CLOSED ? "Not live. Load the page again, or log in." : "Connection lost; connecting again");
            });
            window.addEventListener("pagehide", () => stream.close(), { once: true });
          };

          const nostr = document.getElementById("nostr");
          const offerNostr = () => { if (nostr && window.nostr) nostr.hidden = false; };
          const logInWithKey = async () => {
            const problem = document.getElementById("nostr-problem");
            try {
              const url = new URL("/login/nostr", location.href).href;
              const event = await window.nostr.signEvent({
                kind: 27235, created_at: Math.floor(Date.now() / 1000), tags: [["u", url], ["method", "POST"]], content: "" });
              const answer = await fetch(url, { method: "POST", headers: { Authorization: "Nostr " + btoa(JSON.stringify(event)) } });
              if (answer.ok) location.assign("/"); else problem.textContent = await answer.text();
            } catch { problem.textContent = "The extension did not sign."; }
          };

          refreshTimes();
          setInterval(refreshTimes, 10000);
          if (body.dataset.events && window.EventSource) follow();
          if (nostr) {
            nostr.addEventListener("click", logInWithKey);
            offerNostr();
            setTimeout(offerNostr, 500);
          }
        })();
        """#
}
