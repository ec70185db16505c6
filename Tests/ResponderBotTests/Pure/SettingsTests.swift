import BotKit
import Testing

@testable import ResponderBot

struct SettingsTests {
    private static let chat = String(repeating: "ab", count: 32)

    static let right: [BotSettings] = [
        ["when": ["command": "ping"], "reply": "pong"],
        ["when": ["command": "roll", "aliases": ["r"], "prefix": "!", "help": "rolls"], "reply": ["{1|six}", "one"]],
        ["when": ["mention": true, "direct": false], "only": "admins", "reply": "{name}: {text}"],
        ["when": ["match": "(a)(b)", "startsWith": "x"], "cooldown": "1m", "reply": "{1}{2}{0}"],
        ["when": ["any": true], "cooldown": ["for": "1h", "per": "sender"], "stop": false, "react": ["👍", "👀"]],
        ["when": ["reaction": "👍"], "send": ["text": "thanks for {emoji}", "to": [.string(chat)]]],
        ["when": ["kind": [7, 1_059]], "reply": "a kind"],
        ["when": ["schedule": ["every": "1h"]], "chats": [.string(chat)], "send": "it is {time} in {chat}"],
        ["when": ["schedule": ["cron": "0 9 * * 1-5", "timeZone": "Europe/Berlin"]], "send": "good morning"],
        ["when": ["joined": "self"], "send": "hello, I am {me}"],
        ["when": ["joined": "others"], "send": "welcome {who}"],
        ["when": ["left": "others"], "send": "bye {who}"],
        ["when": ["removed": "others"], "failure": "none", "send": "{who} was removed by {name}"],
        ["when": ["call": "invite"], "send": "I take no calls, {name}"],
        ["when": ["command": "cat"], "media": ["file": "cat.png", "caption": "for {name}"]],
        [
            "when": ["command": "weather"],
            "do": [
                ["react": "⏳"],
                [
                    "webhook": [
                        "url": "https://api.example/v1?q={args}", "method": "GET", "token": ["env": "WEATHER"],
                        "headers": ["X-Key": ["file": "key"], "Accept": "text/plain"], "timeout": "5s",
                        "answer": "keep",
                    ]
                ],
                ["reply": "in {args}: {answer}"],
            ],
        ],
        ["when": ["command": "uptime"], "run": ["command": ["uptime", "-p"], "environment": ["LANG": "C"]]],
        ["when": ["command": "up"], "exec": ["command": ["uptime"]]],
        [
            "when": ["mention": true],
            "agent": [
                "endpoint": "http://127.0.0.1:8080/v1/chat/completions", "model": "small", "system": "You are {me}.",
                "history": 20, "maximumTokens": 200, "temperature": 0.5,
                "budget": ["perSender": "20000/day", "perGroup": "5000/h"], "token": ["credential": "agent"],
            ],
        ],
        ["when": ["command": "ask"], "agent": ["command": ["agent.py"], "timeout": "1m"]],
    ]

    @Test func readsEveryKindOfRule() {
        #expect(problems(.object(["allow": ["api.example", "127.0.0.1:8080"], "rules": .array(Self.right)])) == [])
    }

    @Test func ruleNamesAreUnique() throws {
        let rule: BotSettings = ["when": ["command": "ping"], "reply": "pong"]
        let other: BotSettings = ["when": ["any": true], "reply": "x"]
        #expect(try ResponderSettings(settings(rule, other)).rules.map(\.name) == ["ping", "rule 2"])
        #expect(try ResponderSettings(settings(rule, rule)).rules.map(\.name) == ["ping", "ping #2"])
        let named: BotSettings = ["name": "ping", "when": ["any": true], "reply": "x"]
        #expect(
            problems(settings(rule, named)) == [
                "rules[1].name: expected a unique name, found another rule named ping; "
                    + "give the rule a unique name:"
            ])
    }

    @Test func reportsSeveralProblemsTogether() {
        let found = problems(
            settings(
                ["when": ["comand": "ping"], "reply": "pong"], ["when": ["command": "a"], "reply": "{nmae}"],
                ["when": ["command": "b"], "reply": "x", "cooldwn": "1m"]))
        #expect(found.count >= 3)
        #expect(found.contains { $0.hasPrefix("rules[0].when") })
        #expect(found.contains { $0.contains("{nmae}") && $0.hasSuffix("write {name}") })
        #expect(found.contains { $0.hasPrefix("rules[2].cooldwn") && $0.hasSuffix("write cooldown") })
    }

    /// A secret in a header is not repeated.
    @Test func redactsSecrets() {
        let found = problems(
            settings([
                "when": ["command": "a"],
                "webhook": ["url": "https://api.example/", "headers": ["Authorization": "Bearer sk-1234"]],
            ]))
        #expect(found.count == 1)
        #expect(!found.contains { $0.contains("sk-1234") })
    }
}
