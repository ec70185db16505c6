extension ConfigurationSchema {
    static let console = SchemaMapping(
        "console", "Console",
        [
            SchemaKey(
                "listen", .text(.address), .refused, example: "127.0.0.1:9465", effect: .restartsSupervisor,
                "Address on which the [console](console.md) is served. Other than loopback addresses need `tls` or "
                    + "`behindProxy`."),
            SchemaKey(
                "hosts", .list(of: .text(.hostName), atLeast: 0), .standard("[]"), example: "[console.example]",
                effect: .restartsSupervisor,
                "Host names under which `listen` is reachable, besides IP addresses, `localhost`, its own host and "
                    + "`behindProxy`. Requests for other names are refused."),
            SchemaKey(
                "tls", .mapping(consoleTLS), .meaning("no TLS"), "Certificate with which the console itself speaks TLS."
            ),
            SchemaKey(
                "behindProxy", .text(.hostName), .meaning("no proxy"), example: "console.example",
                effect: .restartsSupervisor,
                "Host name under which a reverse proxy serves the console with TLS. The proxy must reach `listen` over "
                    + "a network that nobody else can read."),
            SchemaKey(
                "contents", .boolean, .standard("false"), example: "true", effect: .restartsWorker,
                "Whether the page of a chat shows the text of its messages. Without it, the text never leaves the "
                    + "worker."),
            SchemaKey(
                "operators", .list(of: .text(.publicKey), atLeast: 0), .standard("[]"),
                example: "[\(examplePublicKey)]", effect: .restartsSupervisor,
                "Public keys that may log in by a browser extension (NIP-07) and act; independent of the accounts' "
                    + "`operators`."),
            SchemaKey(
                "viewers", .list(of: .text(.publicKey), atLeast: 0), .standard("[]"),
                example: "[\(examplePublicKey)]", effect: .restartsSupervisor,
                "Public keys that may log in in the same way and see every page, but not act."),
            SchemaKey(
                "reports", .text(.path), .meaning("no reports"), example: "./load", effect: .restartsSupervisor,
                "Directory of load reports (`*.json`), of which the console shows the newest."),
        ])

    static let consoleTLS = SchemaMapping(
        "consoleTLS", "Console TLS",
        [
            SchemaKey(
                "certificate", .text(.path), .refused, example: "console.pem", effect: .restartsSupervisor,
                "Path of the certificate and those that sign it, in PEM format."),
            SchemaKey(
                "key", .text(.path), .refused, example: "console.key", effect: .restartsSupervisor,
                "Path of its private key, in PEM format; the file must have mode 0600, unless it is a systemd "
                    + "credential."),
        ])
}
