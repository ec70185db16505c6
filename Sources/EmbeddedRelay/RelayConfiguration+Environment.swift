import Errors
import Nostr

extension RelayConfiguration {
    /// Reads the environment variables of the development relay: `PORT` (0 for any free port, default 3334), `DATA_DIR`
    /// (default `./data`, `:memory:` for none), `MEDIA_DIR` (default `./media`, `:memory:` for a temporary folder),
    /// `HOST` (default 127.0.0.1), `SERVICE_URL`, `RELAY_NAME`, `RELAY_DESCRIPTION`, `RELAY_PUBKEY`,
    /// `PIKA_RELAY_LOG_EVENTS` (1 to enable) and `PIKA_RELAY_CALLS` (1 to enable).
    ///
    /// Empty values and an invalid `RELAY_PUBKEY` count as missing.
    package init(environment: [String: String]) throws(RelayError) {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        self.init()
        host = value("HOST") ?? host
        let port = value("PORT") ?? "3334"
        guard let number = UInt16(port) else {
            throw RelayError(.invalidConfiguration, "PORT must be a number from 0 to 65535")
        }
        self.port = Int(number)
        let folder = value("DATA_DIR") ?? "./data"
        storage = folder == ":memory:" ? .memory : .file(folder + "/relay.sqlite")
        let media = value("MEDIA_DIR") ?? "./media"
        mediaDirectory = media == ":memory:" ? nil : media
        name = value("RELAY_NAME") ?? name
        summary = value("RELAY_DESCRIPTION") ?? summary
        operatorKey = value("RELAY_PUBKEY").flatMap { try? PublicKey(hex: $0) }
        logsEvents = value("PIKA_RELAY_LOG_EVENTS") == "1"
        servesCalls = value("PIKA_RELAY_CALLS") == "1"
        if let address = value("SERVICE_URL") {
            serviceURL = try Self.serviceURL(address)
        }
    }
    /// Returns the address without a trailing slash; file names are appended to it.
    private static func serviceURL(_ address: String) throws(RelayError) -> String {
        for (scheme, webSocket) in [("http://", "ws://"), ("https://", "wss://")] where address.hasPrefix(scheme) {
            guard (try? RelayURL(webSocket + address.dropFirst(scheme.count))) != nil,
                !address.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
            else { break }
            return String(address.prefix(address.utf8.last == UInt8(ascii: "/") ? address.count - 1 : address.count))
        }
        throw RelayError(.invalidConfiguration, "SERVICE_URL must be an http:// or https:// URL")
    }
}
