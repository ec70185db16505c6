"""A fake server for responders: an OpenAI-compatible endpoint and a webhook. Standalone: fake_agent.py [PORT].

The reply depends on the request. `/v1/chat/completions` answers `heard: TEXT` to the last message; the text `slow N`
delays the answer by N seconds, `busy` is refused with 429 once, `broken` always with 500, `odd` gets a malformed
answer. `/weather?place=X` says `sunny in X`, `/event` summarises the webhook's document, `/redirect`
redirects to another server.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class FakeAgent:
    """Started and closed by the scenario; `requests` holds (path, document or None, headers)."""

    name = "fake agent"
    token = "sk-fake"

    def __init__(self, port=0):
        self.requests = []
        self.refused = set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self, None)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.answer(self, json.loads(body))

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}"

    async def start(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    async def close(self):
        self.server.shutdown()
        self.server.server_close()

    def describe(self):
        return f"{len(self.requests)} requests, the latest {[(path, body) for path, body, _ in self.requests[-2:]]}"

    def asked(self, path):
        return [(body, headers) for asked, body, headers in self.requests if urlsplit(asked).path == path]

    def answer(self, handler, body):
        self.requests.append((handler.path, body, dict(handler.headers)))
        parts = urlsplit(handler.path)
        try:
            if parts.path == "/v1/chat/completions":
                self.complete(handler, body)
            elif parts.path == "/weather":
                self.say(handler, 200, f"sunny in {parse_qs(parts.query)['place'][0]}")
            elif parts.path == "/event":
                event = body["event"]
                self.say(handler, 200, f"{event['type']} {event['text']} in {body['chats'][0]['name']}")
            elif parts.path == "/redirect":
                self.say(handler, 302, "elsewhere", {"Location": f"{self.url}/weather?place=nowhere"})
            else:
                self.say(handler, 404, "what?")
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client did not wait

    def complete(self, handler, body):
        if handler.headers.get("Authorization") != f"Bearer {self.token}":
            return self.say(handler, 401, "who are you?")
        question = body["messages"][-1]["content"].split(": ", 1)[-1]
        if question.startswith("slow "):
            time.sleep(float(question.split()[1]))
        if question.startswith("busy") and question not in self.refused:
            self.refused.add(question)
            return self.say(handler, 429, "{}", {"Retry-After": "1"})
        if question.startswith("broken"):
            return self.say(handler, 500, "internal trace of the model server")
        if question.startswith("odd"):
            return self.say(handler, 200, "<html>")
        message = {"role": "assistant", "content": f"heard: {question}"}
        answer = {"choices": [{"index": 0, "message": message}], "usage": {"total_tokens": 100}}
        return self.say(handler, 200, json.dumps(answer))

    @staticmethod
    def say(handler, status, text, headers=()):
        content = text.encode()
        handler.send_response(status)
        for name, value in dict(headers).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


if __name__ == "__main__":
    agent = FakeAgent(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(agent.url, flush=True)
    agent.server.serve_forever()
