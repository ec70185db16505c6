extension RelayConfiguration {
    /// The contract of the development relay: `PORT` (0 for any free one, default 3334), `DATA_DIR` (default
    /// `./data`, `:memory:` for none), `MEDIA_DIR` (default `./media`, `:memory:` for a temporary folder), and `HOST`
    /// (default 127.0.0.1).
    ///
    /// An empty value counts as missing.
    public init(environment: [String: String]) throws(RelayError) {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        self.init()
        host = value("HOST") ?? host
        let port = value("PORT") ?? "3334"
        guard let number = UInt16(port) else {
            throw RelayError(.invalidConfiguration, "PORT is not a number from 0 to 65535")
        }
        self.port = Int(number)
        let folder = value("DATA_DIR") ?? "./data"
        storage = folder == ":memory:" ? .memory : .file(folder + "/relay.sqlite")
        let media = value("MEDIA_DIR") ?? "./media"
        mediaDirectory = media == ":memory:" ? nil : media
    }
}
