package import Nostr

/// The operator's console (`observe: { console: … }`); absent by default.
package struct ConsoleConfiguration: Hashable, Sendable {
    /// Files in PEM format.
    package struct Certificate: Hashable, Sendable {
        /// The path of the certificate and those that sign it.
        package var certificate: String
        /// The path of its private key.
        package var key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    package var listen: ListenAddress
    /// The host names under which the console is reachable, besides addresses and `localhost`.
    package var hosts: [String] = []
    package var tls: Certificate?
    /// The host name under which a reverse proxy with TLS serves the console.
    package var behindProxy: String?
    /// Whether the console shows the text of messages.
    package var contents = false
    /// The public keys that may log in and act, and those that may log in and look.
    package var operators: Set<PublicKey> = []
    package var viewers: Set<PublicKey> = []
    /// The folder of load reports; nil for none.
    package var reports: String?

    package init(listen: ListenAddress = Self.standardAddress) {
        self.listen = listen
    }

    /// The address of a console that is started for a running program.
    package static let standardAddress = ListenAddress(host: "127.0.0.1", port: 9465)
}

extension ListenAddress {
    /// Whether only programs on this machine can reach the address.
    package var isLoopback: Bool {
        let name = host.lowercased()
        guard name != "localhost", name != "::1" else { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
