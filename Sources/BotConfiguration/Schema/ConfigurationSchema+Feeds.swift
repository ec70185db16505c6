/// The feeds of an account. The kind of a feed is the key that it has besides its name.
extension ConfigurationSchema {
    /// The keys of the kinds.
    static let feedKinds = ["webhook", "websocket", "poll", "sse", "directory", "program"]

    static let feeds = [
        feed("webhookFeed", "A webhook feed", "webhook", webhook, "Items are requests to `POST /feeds/NAME`."),
        feed("webSocketFeed", "A WebSocket feed", "websocket", webSocket, "Items are the messages of a WebSocket."),
        feed("pollFeed", "A polled feed", "poll", poll, "Items are the versions of a document."),
        feed("sseFeed", "A feed of server-sent events", "sse", eventStream, "Items are server-sent events."),
        feed("directoryFeed", "A feed of files", "directory", directory, "Items are files of a directory."),
        feed(
            "programFeed", "A feed of a program's lines", "program", program, "Items are lines of a program's output."),
    ]

    private static func feed(
        _ name: String, _ title: String, _ kind: String, _ settings: SchemaMapping, _ summary: String
    ) -> SchemaMapping {
        SchemaMapping(
            name, title,
            [
                SchemaKey(
                    "name", .text(.botName), .refused, example: "orders", effect: .restartsWorker,
                    "Name of the feed, which handlers (`OnFeed`) refer to; unique in the account. A renamed feed is a "
                        + "new one, which has received nothing."),
                SchemaKey(kind, .mapping(settings), .refused, effect: .restartsWorker, summary),
                SchemaKey(
                    "maximumBytes", .integer(1...FeedConfiguration.mostBytes),
                    .standard("\(FeedConfiguration.standardMaximumBytes)"), example: "65536", effect: .restartsWorker,
                    "Maximum number of bytes of an item; longer ones are refused or dropped, and counted."),
            ])
    }

    static let webhook = SchemaMapping(
        "webhook", "Webhook",
        [
            SchemaKey(
                "authentication", .mapping(webhookAuthentication), .refused, effect: .restartsWorker,
                "Proof that a request comes from the source."),
            SchemaKey(
                "tolerance", .text(.duration), .standard("5m"), example: "1m", effect: .restartsWorker,
                "Maximum difference between the timestamp of a signature and this machine's clock, at most an hour."),
            SchemaKey(
                "rate", .text(.rate), .standard("60/min"), example: "10/s", effect: .restartsWorker,
                "Maximum rate of genuine requests; further ones get status 429."),
        ])

    static let webhookAuthentication = SchemaMapping(
        "webhookAuthentication", "Authentication of a webhook", rule: .exactlyOne,
        [
            SchemaKey(
                "hmac", .list(of: .mapping(secret), atLeast: 1), .meaning("another key is set"),
                example: "[{ file: secrets/orders.secret }]", effect: .restartsWorker,
                "References to secrets of at least 16 bytes, with which requests are signed (HMAC-SHA256, headers "
                    + "`webhook-id`, `webhook-timestamp` and `webhook-signature`); several while a sender changes its "
                    + "secret."),
            SchemaKey(
                "bearer", .mapping(secret), .meaning("another key is set"),
                example: "{ file: secrets/orders.token }", effect: .restartsWorker,
                "Reference to a token of at least 16 bytes, in the header `Authorization: Bearer TOKEN`. Without "
                    + "protection against replays of requests without `webhook-id`."),
        ])

    static let webSocket = SchemaMapping(
        "webSocket", "WebSocket",
        [
            SchemaKey(
                "url", .text(.relay), .refused, example: "wss://events.example/stream", effect: .restartsWorker,
                "Address of the server; private addresses are allowed."),
            headers,
            SchemaKey(
                "send", .list(of: .text(.word), atLeast: 0), .standard("[]"), example: "['{\"subscribe\":\"all\"}']",
                effect: .restartsWorker, "Messages to send after each connection, such as subscriptions."),
            idField("items get a new id at each arrival"),
        ])

    static let poll = SchemaMapping(
        "poll", "Polling",
        [
            address("https://status.example/state.json"),
            headers,
            SchemaKey(
                "every", .text(.duration), .standard("1m"), example: "5m", effect: .restartsWorker,
                "Interval of the requests, from a second to a day. They are conditional (`ETag`, `Last-Modified`)."),
        ])

    static let eventStream = SchemaMapping(
        "eventStream", "Server-sent events",
        [address("https://events.example/stream"), headers, idField("the event's `id:`, or a new id at each arrival")])

    static let directory = SchemaMapping(
        "directory", "Directory",
        [
            SchemaKey(
                "path", .text(.path), .refused, example: "inbox", effect: .restartsWorker,
                "The directory. Hidden files and those that end in `.tmp` or `.part` are ignored."),
            SchemaKey(
                "every", .text(.duration), .standard("2s"), example: "10s", effect: .restartsWorker,
                "Interval of the scans, from a second to a day. A file is read when it is unchanged since the scan "
                    + "before."),
            SchemaKey(
                "then", .choice(FeedConfiguration.Directory.Disposal.allCases.map(\.rawValue)), .standard("move"),
                example: "delete", effect: .restartsWorker,
                "What happens to a stored file: `move` into the subdirectory `done`, or `delete`. Files above "
                    + "`maximumBytes` are moved into `failed`."),
        ])

    static let program = SchemaMapping(
        "program", "Program",
        [
            SchemaKey(
                "command", .list(of: .text(.word), atLeast: 1), .refused, example: "[journalctl, --follow]",
                effect: .restartsWorker,
                "The program and its arguments. It is started again when it exits. Its standard error is discarded."),
            SchemaKey(
                "directory", .text(.path), .standard("."), example: "bots", effect: .restartsWorker,
                "Its working directory; a relative program path with a slash starts there."),
            SchemaKey(
                "environment", .table(of: .variable, .either([.text(.word), .mapping(secret)])), .standard("{}"),
                example: "{ MODE: quiet, TOKEN: { file: secrets/token } }", effect: .restartsWorker,
                "Its complete environment besides `PATH`, `HOME` and `LANG`; secrets are given as references."),
            idField("lines get a new id at each arrival"),
        ])

    private static func address(_ example: String) -> SchemaKey {
        SchemaKey(
            "url", .text(.server), .refused, example: example, effect: .restartsWorker,
            "Address of the server; private addresses are allowed. Redirects are not followed.")
    }

    private static let headers = SchemaKey(
        "headers", .table(of: .headerName, .either([.text(.word), .mapping(secret)])), .standard("{}"),
        example: "{ Authorization: { file: secrets/authorization } }", effect: .restartsWorker,
        "Headers of the requests; secrets are given as references.")

    private static func idField(_ standard: String) -> SchemaKey {
        SchemaKey(
            "idField", .text(.word), .meaning(standard), example: "id", effect: .restartsWorker,
            "Member of JSON items with their id, a string or an integer. An id that was received recently is not "
                + "delivered again.")
    }
}
