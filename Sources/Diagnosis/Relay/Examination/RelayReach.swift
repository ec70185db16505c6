import NIOCore
import Nostr

/// Examines the way to a relay: name resolution, TCP and, for `wss://`, TLS.
struct RelayReach: Sendable {
    let relay: RelayURL
    let budget: ProbeBudget
    /// PEM files of certificate authorities that are trusted besides the system's.
    var trustRootFiles: [String] = []
    /// Whether connections to this address, 4 or 16 bytes in network order, are allowed.
    var permits: @Sendable (_ address: [UInt8]) -> Bool = { _ in true }

    func examine() async -> ReachRecord {
        var record = ReachRecord(host: relay.host, port: relay.port)
        let began = ContinuousClock.now
        record.lookup = await lookup()
        record.lookupTime = .now - began
        guard case .found(let addresses)? = record.lookup else { return record }
        record.connection = await connect(addresses)
        guard case .open(let address)? = record.connection?.end else { return record }
        guard relay.isSecure else {
            record.tls = .unused
            return record
        }
        record.tls = await handshake(address)
        return record
    }

    private func lookup() async -> ReachRecord.Lookup {
        do {
            let found = try await NameLookup.addresses(of: relay.host, port: relay.port, within: budget.limit)
            let allowed = found.filter { permits($0.networkBytes) }
            return allowed.isEmpty ? .forbidden : .found(allowed)
        } catch { return .failed(NetworkError(error)) }
    }

    private func connect(_ addresses: [SocketAddress]) async -> ReachRecord.Connection {
        let began = ContinuousClock.now
        var failures: [String] = []
        for address in addresses where !budget.isSpent {
            let tried = ContinuousClock.now
            do {
                try await TCPReach.connect(to: address, within: budget.limit)
                return .init(
                    end: .open(address), failures: failures, duration: .now - began, lastDuration: .now - tried)
            } catch { failures.append("\(address.ipAddress ?? relay.host): \(error)") }
        }
        return .init(end: .failed, failures: failures, duration: .now - began, lastDuration: .zero)
    }

    private func handshake(_ address: SocketAddress) async -> ReachRecord.TLS {
        let began = ContinuousClock.now
        var failure: NetworkError?
        var accepted: TLSReach.Certificate?
        do {
            accepted = try await TLSReach.handshake(
                with: relay.host, at: address, trustRootFiles: trustRootFiles, within: budget.limit)
        } catch { failure = error }
        let trusted = ContinuousClock.now - began
        // Without verification, to learn the whole chain's expiry, or why the certificate is invalid.
        let shown = try? await TLSReach.handshake(
            with: relay.host, at: address, isVerified: false, within: budget.limit)
        return .used(
            .init(
                failure: failure, accepted: accepted, shown: shown, handshakeTime: trusted, duration: .now - began))
    }
}

/// Results of the steps from name resolution to TLS; nil for a step that was not reached.
struct ReachRecord: Sendable {
    enum Lookup: Sendable {
        case found([SocketAddress])
        /// All addresses are private, and the examination may not contact these.
        case forbidden
        case failed(NetworkError)
    }

    /// Attempts to connect to the addresses in turn.
    struct Connection: Sendable {
        enum End: Sendable {
            case open(SocketAddress)
            case failed
        }

        var end: End
        /// One line for each address that failed.
        var failures: [String]
        /// Time of all attempts.
        var duration: Duration
        /// Time of the successful attempt.
        var lastDuration: Duration
    }

    enum TLS: Sendable {
        /// The address begins with `ws://`.
        case unused
        case used(Handshake)
    }

    struct Handshake: Sendable {
        /// Why the verified handshake failed; nil if it succeeded.
        var failure: NetworkError?
        /// The certificate of the verified handshake.
        var accepted: TLSReach.Certificate?
        /// The certificate of a second handshake, without verification; nil if that failed.
        var shown: TLSReach.Certificate?
        /// Time of the verified handshake.
        var handshakeTime: Duration
        /// Time of both.
        var duration: Duration
    }

    let host: String
    let port: Int
    var lookup: Lookup?
    var lookupTime = Duration.zero
    var connection: Connection?
    var tls: TLS?

    /// The address that accepts connections and, where used, TLS.
    var address: SocketAddress? {
        guard case .open(let address)? = connection?.end else { return nil }
        if case .used(let handshake)? = tls, handshake.failure != nil { return nil }
        return address
    }
}

extension SocketAddress {
    /// 4 or 16 bytes in network order; empty for other address families.
    var networkBytes: [UInt8] {
        // Offset of the address in `sockaddr_in` and `sockaddr_in6`.
        let place =
            switch self {
            case .v4: 4..<8
            case .v6: 8..<24
            case .unixDomainSocket: 0..<0
            }
        return withSockAddr { pointer, size in
            place.upperBound <= size ? Array(UnsafeRawBufferPointer(start: pointer, count: size)[place]) : []
        }
    }
}
