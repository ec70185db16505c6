import NIOCore

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
        /// The reason why the verified handshake failed; nil if it succeeded.
        var failure: NetworkError?
        /// The certificate of the verified handshake.
        var accepted: TLSReach.Certificate?
        /// The certificate of a second handshake, without verification; nil if that failed.
        var shown: TLSReach.Certificate?
        /// Time of the verified handshake.
        var handshakeTime: Duration
        /// Time of both.
        var duration: Duration

        /// Performs both handshakes, each within the limit.
        static func perform(
            with host: String, at address: SocketAddress, trustRootFiles: [String] = [],
            within limit: @autoclosure () -> Duration
        ) async -> Handshake {
            let began = ContinuousClock.now
            var failure: NetworkError?
            var accepted: TLSReach.Certificate?
            do {
                accepted = try await TLSReach.handshake(
                    with: host, at: address, trustRootFiles: trustRootFiles, within: limit())
            } catch { failure = error }
            let handshakeTime = ContinuousClock.now - began
            // Without verification, to learn the whole chain's expiry, or why the certificate is invalid.
            let shown = try? await TLSReach.handshake(with: host, at: address, isVerified: false, within: limit())
            return Handshake(
                failure: failure, accepted: accepted, shown: shown, handshakeTime: handshakeTime,
                duration: .now - began)
        }
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
