import BotKit
import Testing

@testable import ResponderBot

/// The message for each kind of invalid rule.
struct WrongSettingsTests {
    struct Wrong: CustomTestStringConvertible, Sendable {
        let rule: BotSettings
        let message: String
        var testDescription: String { message }

        init(_ rule: BotSettings, _ message: String) {
            self.rule = rule
            self.message = message
        }
    }

    private static let any: BotSettings = ["any": true]
    private static let ping: BotSettings = ["command": "ping"]
    private static let daily: BotSettings = ["schedule": ["every": "1h"]]

    static let all: [Wrong] = [
        Wrong(["reply": "x"], "rules[0]: expected the key when, found none; add when: …"),
        Wrong(
            ["when": ping],
            "rules[0]: expected one action, found none; add one of reply, send, react, media, webhook, run, exec, agent, or do: [ … ]"
        ),
        Wrong(
            ["when": ping, "reply": "x", "send": "y"],
            "rules[0]: expected one action, found reply, send; put them in order under do: [ { reply: … }, { send: … } ]"
        ),
        Wrong(
            ["when": ping, "reply": "x", "do": [["react": "👍"]]],
            "rules[0].reply: expected do: without other actions, found \"x\"; move it into the list under do:"),
        Wrong(
            ["when": ping, "do": []],
            "rules[0].do: expected at least one action, found an empty list; add { reply: TEXT }"),
        Wrong(
            ["when": ping, "do": [["reply": "x", "react": "👍"]]],
            "rules[0].do[0]: expected one action, found reply, react; "
                + "write each action as a separate list element, such as { reply: TEXT }"),
        Wrong(
            ["when": ["command": "ping", "joined": "others"], "reply": "x"],
            "rules[0].when: expected one kind of event, found joined, command; name one of command, mention, match, "
                + "startsWith, contains, equals, any, reaction, kind, schedule, feed, joined, left, removed, call"),
        Wrong(
            ["when": ["command": "two words"], "reply": "x"],
            "rules[0].when.command: expected 1 to 32 characters without whitespace and without the prefix /, "
                + "found \"two words\"; write the bare name, such as ping"),
        Wrong(
            ["when": ["match": "("], "reply": "x"],
            "rules[0].when.match: expected a regular expression (ICU) of at most 1000 characters, found \"(\"; "
                + "check its brackets and backslashes; in YAML, put it in single quotes"),
        Wrong(
            ["when": ["match": "(a)"], "reply": "{2}"],
            "rules[0].reply: expected one of the placeholders {sender}, {name}, {text}, {0}, {chat}, {chatID}, {members}, {me}, "
                + "{date}, {time}, {answer}, {1}, found {2}; remove it: this trigger does not provide it"),
        Wrong(
            ["when": daily, "send": "{name}"],
            "rules[0].send: expected one of the placeholders {chat}, {chatID}, {members}, {me}, {date}, {time}, {answer}, "
                + "found {name}; remove it: this trigger does not provide it"),
        Wrong(
            ["when": daily, "react": "👍"],
            "rules[0].react: expected a trigger with a message to react to, found \"👍\"; remove it, or write send: TEXT"
        ),
        Wrong(
            ["when": daily, "cooldown": "1m", "send": "x"],
            "rules[0].cooldown: expected no cooldown for a schedule, found \"1m\"; "
                + "remove it: a schedule has no sender, and sets its own interval"),
        Wrong(
            ["when": ["schedule": ["every": "1h", "cron": "* * * * *"]], "send": "x"],
            "rules[0].when.schedule: expected every: or cron:, found both; "
                + "write { every: 1h } or { cron: \"0 9 * * 1-5\", timeZone: Europe/Berlin }"),
        Wrong(
            ["when": ["schedule": ["cron": "0 9 * * 1-5", "timeZone": "Mars"]], "send": "x"],
            "rules[0].when.schedule.timeZone: expected a time zone, found \"Mars\"; "
                + "write a name such as Europe/Berlin or UTC"),
        Wrong(
            ["when": ["left": "self"], "send": "x"],
            "rules[0].when.left: expected others, found \"self\"; write left: others"),
        Wrong(
            ["when": ["kind": 70_000], "reply": "x"],
            "rules[0].when.kind: expected an event kind from 0 to 65535, or a list of them, found \"70000\"; "
                + "write a number in this range"),
        Wrong(
            ["when": any, "reply": "{"],
            "rules[0].reply: expected a } after each {, found \"{\"; close it, or write {{ for a brace"),
        Wrong(
            ["when": any, "only": "friends", "reply": "x"],
            "rules[0].only: expected admins, operators, npubs, or a list of them, found \"friends\"; "
                + "write only: admins, or only: [operators, npub1…]"),
        Wrong(
            ["when": any, "chats": ["abc"], "reply": "x"],
            "rules[0].chats[0]: expected an element of a list of chat ids (hexadecimal digits), found \"abc\"; "
                + "write a list of chat ids (hexadecimal digits)"),
        Wrong(
            ["when": ping, "webhook": ["url": "https://api.exampel/"]],
            "rules[0].webhook.url: expected a host listed under allow, found \"api.exampel\"; "
                + "write api.example, or add the host to allow: [ … ]"),
        Wrong(
            ["when": ping, "webhook": ["url": "https://{args}/"]],
            "rules[0].webhook.url: expected an https:// URL with a host and without placeholders, user name or whitespace "
                + "before the path, found \"https://{args}/\"; write https://HOST/…"),
        Wrong(
            ["when": ping, "webhook": ["url": "http://api.example/"]],
            "rules[0].webhook.url: expected https:// for a host that is not private, found \"http://api.example/\"; "
                + "write https://, or list the host as { host: api.example, private: true }"),
        Wrong(
            ["when": ping, "webhook": ["url": "https://api.example/", "token": "abc"]],
            "rules[0].webhook.token: expected a reference to a secret, found \"abc\"; "
                + "write { file: PATH }, { env: NAME }, { credential: NAME } or { command: [program, argument] }"),
        Wrong(
            ["when": ping, "webhook": ["url": "https://api.example/", "headers": ["Host": "x"]]],
            "rules[0].webhook.headers.Host: expected a header that may be set, found \"x\"; remove it"),
        Wrong(
            ["when": ping, "webhook": ["url": "https://api.example/", "headers": ["X-A": "a\r\nHost: b"]]],
            "rules[0].webhook.headers.X-A: expected one line of plain ASCII, found \"a Host: b\"; "
                + "remove line breaks and non-ASCII characters"),
        Wrong(
            ["when": ping, "run": ["command": []]],
            "rules[0].run.command: expected a program and its arguments, found an empty list; write [program, argument]"
        ),
        Wrong(
            ["when": ping, "agent": ["model": "m"]],
            "rules[0].agent: expected endpoint: or command:, found neither; "
                + "write endpoint: https://HOST/v1/chat/completions, or command: [program, argument]"),
        Wrong(
            ["when": ping, "agent": ["command": ["a"], "maximumTokens": 500, "budget": ["perSender": "400/day"]]],
            "rules[0].agent.budget.perSender: expected at least 500 tokens (maximumTokens) a day or an hour, "
                + "found \"400/day\"; write a number and /day or /h, such as 20000/day"),
        Wrong(
            ["when": daily, "agent": ["command": ["a"]]],
            "rules[0].agent: expected the key prompt, found none; "
                + "add prompt: TEXT; this trigger has no message text"),
        Wrong(
            ["when": ["aliases": ["x"], "mention": true], "reply": "x"],
            "rules[0].when.aliases: expected aliases only together with command, found a list; add command: NAME"),
        Wrong(
            ["when": ["reaction": "👍", "kind": 7], "reply": "x"],
            "rules[0].when.kind: expected either kind or reaction, found \"7\"; remove one of them"),
    ]

    @Test(arguments: all)
    func reportsEachProblem(_ wrong: Wrong) {
        #expect(problems(settings(wrong.rule)) == [wrong.message])
    }

    @Test func checksBotWideSettings() {
        let wrong: BotSettings = [
            "prefix": " ", "allow": ["a b"], "timeZone": "x", "seed": -1, "rule": [],
        ]
        #expect(
            problems(wrong) == [
                "prefix: expected 1 to 4 characters without whitespace, found \" \"; write prefix: \"/\"",
                "timeZone: expected a time zone, found \"x\"; write a name such as Europe/Berlin or UTC",
                "allow[0]: expected an element of a list of hosts, found \"a b\"; write a list of hosts",
                "seed: expected a whole number of at least 0, found \"-1\"; write a number in this range",
                "with: expected the key rules, found none; add rules: …",
                "rule: expected one of prefix, timeZone, allow, failure, seed, rules, found the unknown key \"rule\"; write rules",
            ])
    }
}
