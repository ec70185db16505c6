import BotDispatch
import ExternalBots
import Restarts

extension ConfigurationSchema {
    static let includedBot = SchemaMapping(
        "includedBot", "A bot of the program",
        [
            SchemaKey(
                "use", .text(.includedBot), .refused, example: "echo", effect: .restartsWorker,
                "Which bot: `pikabot check` names those that there are."),
            name("`use`, with `#2` behind a repeated one", example: "helper"),
        ] + policy + [
            SchemaKey(
                "with", .settings, .standard("{}"), example: "{ greeting: hello }", effect: .live,
                "The bot's own settings; its own page describes them.")
        ])

    static let externalBot = SchemaMapping(
        "externalBot", "A program that is a bot",
        [
            SchemaKey(
                "command", .list(of: .text(.word), atLeast: 1), .refused, example: "[python3, bots/scribe.py]",
                effect: .restartsWorker,
                "The program and its arguments; it speaks the daemon's JSON lines on its standard input and output. A "
                    + "program or script with a relative path begins at `directory`, a program without a slash is looked "
                    + "for in `PATH`."),
            name("the name of the script or program, without folder and extension", example: "scribbler"),
        ] + policy + [
            SchemaKey("allow", .mapping(allow), .meaning("its defaults"), "What the program may do."),
            SchemaKey(
                "directory", .text(.path), .standard("."), example: "bots", effect: .restartsWorker,
                "Its working directory."),
            SchemaKey(
                "environment", .table(of: .variable, .either([.text(.word), .mapping(secret)])), .standard("{}"),
                example: "{ MODE: quiet, TOKEN: { file: secrets/token } }", effect: .restartsWorker,
                "Its whole environment besides `PATH`, `HOME` and `LANG`; a secret is a reference."),
            SchemaKey(
                "restart", .choice(RestartKind.allCases.map(\.rawValue)), .standard("permanent"), example: "transient",
                effect: .restartsWorker, "When the program is started again, as for an account."),
        ])

    private static func name(_ standard: String, example: String) -> SchemaKey {
        SchemaKey(
            "name", .text(.botName), .meaning(standard), example: example, effect: .restartsWorker,
            "Names it in logs and metrics, and what it stores; unique in the account. A new name is a new bot with "
                + "nothing stored.")
    }

    private static let policy = [
        SchemaKey("groups", .mapping(groups), .meaning("its defaults"), "In which chats it is at work."),
        SchemaKey(
            "triggers", .either([.choice(["members", "admins", "nobody"]), .mapping(triggers)]), .standard("members"),
            example: "admins", effect: .live,
            "Who may trigger it, judged by members and roles at the time of the message: the second of three separate "
                + "lists."),
        SchemaKey("limits", .mapping(limits), .meaning("its defaults"), "How much it reacts to."),
        SchemaKey(
            "timeout", .text(.duration), .standard("30s"), example: "10s", effect: .live,
            "How long one of its handlers may take, at most an hour."),
    ]

    static let groups = SchemaMapping(
        "groups", "Groups",
        [
            SchemaKey(
                "default", .choice(GroupPolicy.Scope.allCases.map(\.rawValue)), .standard("all"), example: "mention",
                effect: .live,
                "Which messages of a group it sees: `all`, those that mention the account (`mention`), "
                    + "or `none`. Chats of two it sees whole."),
            SchemaKey(
                "chats", .table(of: .chatID, .choice(GroupPolicy.Scope.allCases.map(\.rawValue))), .standard("{}"),
                example: "{ \(exampleChatID): all }", effect: .live, "Chats that differ."),
        ])

    static let triggers = SchemaMapping(
        "triggers", "Triggers",
        [
            SchemaKey(
                "allow", .list(of: .text(.publicKey), atLeast: 1), .refused, example: "[\(examplePublicKey)]",
                hint: "[npub1…]",
                effect: .live,
                "Those who may trigger it, while they are members.")
        ])

    static let limits = SchemaMapping(
        "limits", "Limits",
        [
            SchemaKey(
                "perSender", .text(.rate), .standard("unlimited"), example: "6/min", effect: .live,
                "What it reacts to of one sender."),
            SchemaKey(
                "perGroup", .text(.rate), .standard("unlimited"), example: "30/min", effect: .live,
                "What it reacts to in one group."),
            SchemaKey(
                "botPair", .integer(0...1_000_000), .standard("3"), example: "2", effect: .live,
                "Messages that two bots may exchange in a row, before the loop breaker stops them."),
        ])

    static let allow = SchemaMapping(
        "allow", "Permissions of a program",
        [
            SchemaKey(
                "commands", .list(of: .choice(ExternalBotConfiguration.knownCommands), atLeast: 0),
                .standard("[send_message, react, send_typing, send_hypernote]"), example: "[send_message, react]",
                effect: .restartsWorker, "The daemon's commands that it may use."),
            SchemaKey(
                "groups", .either([.choice(["all"]), .list(of: .text(.chatID), atLeast: 0)]), .standard("all"),
                example: "[\(exampleChatID)]", effect: .restartsWorker, "The chats that its commands may touch."),
        ])

    static let exampleChatID = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
}

extension ExternalBotConfiguration {
    /// The daemon's commands that can be allowed to a program, sorted.
    static let knownCommands = ExternalBotProgram.knownCommands.sorted()
}
