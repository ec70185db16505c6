import BotDispatch
import ProcessSupport

extension ConfigurationSchema {
    static let includedBot = SchemaMapping(
        "includedBot", "A built-in bot",
        [
            SchemaKey(
                "use", .text(.includedBot), .refused, example: "echo", effect: .restartsWorker,
                "Name of the bot; for an unknown name, `pikabot check` lists the built-in bots."),
            name("`use`, with `#2` appended if repeated", example: "helper"),
        ] + policy + [
            SchemaKey(
                "with", .settings, .standard("{}"), example: "{ greeting: hello }", effect: .live,
                "Settings of the bot, as documented on its page.")
        ])

    static let externalBot = SchemaMapping(
        "externalBot", "An external bot",
        [
            SchemaKey(
                "command", .list(of: .text(.word), atLeast: 1), .refused, example: "[python3, bots/scribe.py]",
                effect: .restartsWorker,
                "The program and its arguments; it speaks the daemon's JSON lines on standard input and "
                    + "output. Relative paths of programs and scripts are resolved against `directory`; a program "
                    + "name without a slash is searched in `PATH`."),
            name("file name of the script or program, without extension", example: "scribbler"),
        ] + policy + [
            SchemaKey("allow", .mapping(allow), .meaning("its defaults"), "What the program may do."),
            SchemaKey(
                "directory", .text(.path), .standard("."), example: "bots", effect: .restartsWorker,
                "Its working directory."),
            SchemaKey(
                "environment", .table(of: .variable, .either([.text(.word), .mapping(secret)])), .standard("{}"),
                example: "{ MODE: quiet, TOKEN: { file: secrets/token } }", effect: .restartsWorker,
                "Its complete environment besides `PATH`, `HOME` and `LANG`; secrets are given as references."),
            SchemaKey(
                "restart", .choice(RestartKind.allCases.map(\.rawValue)), .standard("permanent"), example: "transient",
                effect: .restartsWorker,
                "When the program is restarted; values as for an account. How often and how fast: "
                    + "`supervisor.restart`."),
        ])

    private static func name(_ standard: String, example: String) -> SchemaKey {
        SchemaKey(
            "name", .text(.botName), .meaning(standard), example: example, effect: .restartsWorker,
            "Name of the bot in logs, metrics and storage; unique in the account. A renamed bot is a new "
                + "bot without stored data.")
    }

    private static let policy = [
        SchemaKey("groups", .mapping(groups), .meaning("its defaults"), "In which chats the bot is active."),
        SchemaKey(
            "triggers", .either([.choice(["members", "admins", "nobody"]), .mapping(triggers)]), .standard("members"),
            example: "admins", effect: .live,
            "Who may trigger the bot, judged by membership and roles at the time of the message; "
                + "independent of `invites` and `operators`."),
        SchemaKey("limits", .mapping(limits), .meaning("its defaults"), "Rate limits and the loop breaker."),
        SchemaKey(
            "timeout", .text(.duration), .standard("30s"), example: "10s", effect: .live,
            "Deadline of one handler call, at most an hour."),
    ]

    static let groups = SchemaMapping(
        "groups", "Groups",
        [
            SchemaKey(
                "default", .choice(GroupPolicy.Scope.allCases.map(\.rawValue)), .standard("all"), example: "mention",
                effect: .live,
                "Which messages of a group the bot receives: `all`, those that mention the account "
                    + "(`mention`) or `none`. In direct chats it receives all."),
            SchemaKey(
                "chats", .table(of: .chatID, .choice(GroupPolicy.Scope.allCases.map(\.rawValue))), .standard("{}"),
                example: "{ \(exampleChatID): all }", effect: .live, "Exceptions for single chats."),
        ])

    static let triggers = SchemaMapping(
        "triggers", "Triggers",
        [
            SchemaKey(
                "allow", .list(of: .text(.publicKey), atLeast: 1), .refused, example: "[\(examplePublicKey)]",
                hint: "[npub1…]",
                effect: .live,
                "Public keys that may trigger the bot while they are members.")
        ])

    static let limits = SchemaMapping(
        "limits", "Limits",
        [
            SchemaKey(
                "perSender", .text(.rate), .standard("unlimited"), example: "6/min", effect: .live,
                "Maximum rate of events handled from one sender."),
            SchemaKey(
                "perGroup", .text(.rate), .standard("unlimited"), example: "30/min", effect: .live,
                "Maximum rate of events handled in one group."),
            SchemaKey(
                "botPair", .integer(0...1_000_000), .standard("3"), example: "2", effect: .live,
                "Messages that two bots may exchange in a row before the loop breaker stops them."),
        ])

    static let allow = SchemaMapping(
        "allow", "Permissions of an external bot",
        [
            SchemaKey(
                "commands", .list(of: .choice(ExternalBotConfiguration.knownCommands), atLeast: 0),
                .standard("[send_message, react, send_typing, send_hypernote]"), example: "[send_message, react]",
                effect: .restartsWorker, "The daemon commands that the program may use."),
            SchemaKey(
                "groups", .either([.choice(["all"]), .list(of: .text(.chatID), atLeast: 0)]), .standard("all"),
                example: "[\(exampleChatID)]", effect: .restartsWorker,
                "The chats that its commands may address. Limits commands; which events the bot receives: "
                    + "`groups`."),
        ])

    static let exampleChatID = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
}

extension ExternalBotConfiguration {
    /// The daemon's commands that can be allowed to a program, sorted.
    static let knownCommands = ProgramCommands.known.sorted()
}
