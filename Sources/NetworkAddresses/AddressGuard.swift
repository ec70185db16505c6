package import Nostr
import Synchronization

/// Decides, at the moment of connecting, which network addresses a program may connect to (SSRF protection).
///
/// Other parties choose group relays, relay lists, media addresses and redirects, and a name can resolve to another
/// address each time. So every connection to an endpoint that the configuration does not name goes through
/// ``allowedAddresses(of:port:)``, and only to the addresses that it returns.
package final class AddressGuard: Sendable {
    private struct Endpoint: Hashable {
        let host: String
        let port: Int

        init(_ host: String, _ port: Int) {
            self.host = host.lowercased()
            self.port = port
        }
    }

    private struct State {
        var allowsPrivate: Bool
        var relays: Set<Endpoint> = []
        var servers: Set<Endpoint> = []
        var callRelay: Endpoint?
        /// Named by bots' settings; kept when the configuration is reloaded.
        var others: Set<Endpoint> = []
    }

    /// Allowed addresses of an endpoint.
    package enum AllowedAddresses: Hashable, Sendable {
        /// Any address that the system's resolver returns.
        case anywhere
        /// Only these addresses, the best first.
        case only([HostAddress])
    }

    /// Trusts every endpoint; for tools whose operator names all of them.
    package static let unrestricted = AddressGuard(trustsAll: true, allowsPrivate: true, addresses: HostAddresses.of)

    private let trustsAll: Bool
    private let state: Mutex<State>
    private let addresses: @Sendable (_ host: String) async -> [HostAddress]

    private init(
        trustsAll: Bool, allowsPrivate: Bool, addresses: @escaping @Sendable (_ host: String) async -> [HostAddress]
    ) {
        self.trustsAll = trustsAll
        self.addresses = addresses
        state = Mutex(State(allowsPrivate: allowsPrivate))
    }

    /// - Parameter allowsPrivate: Whether endpoints that the configuration does not name may have private addresses.
    package convenience init(allowsPrivate: Bool) {
        self.init(allowsPrivate: allowsPrivate, addresses: HostAddresses.of)
    }

    package convenience init(
        allowsPrivate: Bool, addresses: @escaping @Sendable (_ host: String) async -> [HostAddress]
    ) {
        self.init(trustsAll: false, allowsPrivate: allowsPrivate, addresses: addresses)
    }

    // MARK: Configured endpoints

    package func setAllowsPrivate(_ allowsPrivate: Bool) { state.withLock { $0.allowsPrivate = allowsPrivate } }

    /// Replaces the relays that the configuration names.
    package func setConfiguredRelays(_ relays: [RelayURL]) {
        state.withLock { $0.relays = Set(relays.map { Endpoint($0.host, $0.port) }) }
    }

    /// Adds relays that bots' settings name.
    package func addNamedRelays(_ relays: [RelayURL]) {
        state.withLock { $0.others.formUnion(relays.map { Endpoint($0.host, $0.port) }) }
    }

    /// Replaces the media servers that the configuration names.
    package func setConfiguredServers(_ servers: [(host: String, port: Int)]) {
        state.withLock { $0.servers = Set(servers.map { Endpoint($0.host, $0.port) }) }
    }

    /// Replaces the call relay that the configuration names.
    package func setConfiguredCallRelay(_ relay: RelayURL?) {
        state.withLock { $0.callRelay = relay.map { Endpoint($0.host, $0.port) } }
    }

    /// Returns whether the configuration names the relay. Only such a relay may be logged in to, which discloses the
    /// account, before the account uses it.
    package func names(_ relay: RelayURL) -> Bool {
        let endpoint = Endpoint(relay.host, relay.port)
        return trustsAll || state.withLock { $0.relays.contains(endpoint) || $0.others.contains(endpoint) }
    }

    // MARK: Decisions

    /// Resolves an endpoint and checks its addresses.
    package func allowedAddresses(of host: String, port: Int) async throws(AddressRefusal) -> AllowedAddresses {
        let endpoint = Endpoint(host, port)
        let isTrusted =
            trustsAll
            || state.withLock { state in
                state.allowsPrivate || state.relays.contains(endpoint) || state.servers.contains(endpoint)
                    || state.others.contains(endpoint) || state.callRelay == endpoint
            }
        return isTrusted ? .anywhere : .only(try await Self.checkedAddresses(host, addresses: addresses))
    }

    /// Returns the addresses of a host, all of them public. A name that also resolves to a private address is refused,
    /// because a public service has none.
    ///
    /// - Parameter reachesPrivate: Whether private addresses are allowed.
    package static func checkedAddresses(
        _ host: String, reachesPrivate: Bool = false, addresses: @Sendable (_ host: String) async -> [HostAddress]
    ) async throws(AddressRefusal) -> [HostAddress] {
        let found = await addresses(host)
        guard !found.isEmpty else { throw .unknownHost }
        guard reachesPrivate || found.allSatisfy({ $0.scope == .global }) else { throw .privateAddress }
        return found
    }
}

/// The reason why a connection to an endpoint is refused.
package enum AddressRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownHost
    case privateAddress

    package var description: String {
        switch self {
        case .unknownHost: "unknown host name"
        case .privateAddress:
            "its address is private; name it in the configuration, or allow private addresses (relays: private: allow)"
        }
    }
}
