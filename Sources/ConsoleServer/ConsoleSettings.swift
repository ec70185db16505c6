import ConsolePages
package import Nostr

/// The configuration of a console.
package struct ConsoleSettings: Sendable, Hashable {
    /// Files in PEM format.
    package struct Certificate: Sendable, Hashable {
        package var certificate: String
        package var key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    package var host: String
    /// 0 selects any free port.
    package var port: Int
    /// Host names under which the console is reachable, besides addresses and `localhost`.
    package var hosts: [String] = []
    package var tls: Certificate?
    /// The host name under which a reverse proxy with TLS serves the console.
    package var behindProxy: String?
    /// Whether the address is one of the loopback interface.
    package var isLoopback: Bool
    package var operators: Set<PublicKey> = []
    package var viewers: Set<PublicKey> = []
    /// The folder of load reports; nil for none.
    package var reports: String?

    package init(host: String, port: Int, isLoopback: Bool) {
        self.host = host
        self.port = port
        self.isLoopback = isLoopback
    }

    /// Whether browsers reach the console by HTTPS.
    var isSecure: Bool { tls != nil || behindProxy != nil }

    /// Whether nobody on the way to a browser can read the connection.
    var isProtected: Bool { isLoopback || isSecure }

    /// Whether keys may log in.
    var offersKeys: Bool { !operators.isEmpty || !viewers.isEmpty }

    /// The role of a key; nil for a stranger.
    func role(of key: PublicKey) -> ConsoleRole? {
        operators.contains(key) ? .operate : viewers.contains(key) ? .view : nil
    }
}
