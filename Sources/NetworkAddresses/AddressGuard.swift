public import Nostr
import Synchronization

/// Decides to which network addresses a program connects, at the moment of connecting.
///
/// Group relays, relay lists, media addresses and redirections are chosen by others, and a name can lead to another
/// address each time it is looked up. So every connection to an endpoint that the configuration does not name goes
/// through ``places(of:port:)``, and to the addresses that it returns and no others.
public final class AddressGuard: Sendable {
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
        /// Named by settings of bots; they stay when the configuration is reloaded.
        var others: Set<Endpoint> = []
    }

    /// Where an endpoint may be asked.
    package enum Places: Hashable, Sendable {
        /// Wherever the system's resolver finds it.
        case anywhere
        /// Only at these addresses, the best first.
        case only([HostAddress])
    }

    /// Trusts every endpoint: for tools whose operator names all of them.
    public static let unrestricted = AddressGuard(trustsAll: true, allowsPrivate: true, addresses: HostAddresses.of)

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

    /// - Parameter allowsPrivate: Whether endpoints that others name may be at private addresses.
    public convenience init(allowsPrivate: Bool) {
        self.init(allowsPrivate: allowsPrivate, addresses: HostAddresses.of)
    }

    package convenience init(
        allowsPrivate: Bool, addresses: @escaping @Sendable (_ host: String) async -> [HostAddress]
    ) {
        self.init(trustsAll: false, allowsPrivate: allowsPrivate, addresses: addresses)
    }

    // MARK: What the configuration says

    public func setAllowsPrivate(_ allowsPrivate: Bool) { state.withLock { $0.allowsPrivate = allowsPrivate } }

    /// Replaces the relays that the configuration names.
    public func nameRelays(_ relays: [RelayURL]) {
        state.withLock { $0.relays = Set(relays.map { Endpoint($0.host, $0.port) }) }
    }

    /// Adds relays that the settings of bots name.
    package func nameAlso(_ relays: [RelayURL]) {
        state.withLock { $0.others.formUnion(relays.map { Endpoint($0.host, $0.port) }) }
    }

    /// Replaces the media servers that the configuration names.
    package func nameServers(_ servers: [(host: String, port: Int)]) {
        state.withLock { $0.servers = Set(servers.map { Endpoint($0.host, $0.port) }) }
    }

    /// Whether the configuration names the relay: only then may a login tell it whose connection it is before the
    /// account uses it.
    package func names(_ relay: RelayURL) -> Bool {
        let endpoint = Endpoint(relay.host, relay.port)
        return trustsAll || state.withLock { $0.relays.contains(endpoint) || $0.others.contains(endpoint) }
    }

    // MARK: Judging

    /// Looks an endpoint up and judges its addresses.
    package func places(of host: String, port: Int) async throws(AddressRefusal) -> Places {
        let endpoint = Endpoint(host, port)
        let isTrusted =
            trustsAll
            || state.withLock { state in
                state.allowsPrivate || state.relays.contains(endpoint) || state.servers.contains(endpoint)
                    || state.others.contains(endpoint)
            }
        return isTrusted ? .anywhere : .only(try await Self.judged(host, addresses: addresses))
    }

    /// The addresses of a host, all of them public. A name that leads to a private address as well is refused: it is
    /// not one of a public service.
    ///
    /// - Parameter reachesPrivate: Whether private addresses are allowed.
    package static func judged(
        _ host: String, reachesPrivate: Bool = false, addresses: @Sendable (_ host: String) async -> [HostAddress]
    ) async throws(AddressRefusal) -> [HostAddress] {
        let found = await addresses(host)
        guard !found.isEmpty else { throw .unknownHost }
        guard reachesPrivate || found.allSatisfy({ $0.scope == .everywhere }) else { throw .privateAddress }
        return found
    }
}

/// Why an endpoint is not connected to.
package enum AddressRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownHost
    case privateAddress

    package var description: String {
        switch self {
        case .unknownHost: "the host name is not known"
        case .privateAddress:
            "it is at a private address, which the configuration neither names nor allows (relays: private: allow)"
        }
    }
}
