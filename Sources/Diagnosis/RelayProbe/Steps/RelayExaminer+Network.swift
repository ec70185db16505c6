import BotKit
import Foundation
import NIOCore
import Nostr

/// Checks from name resolution to an open WebSocket.
extension RelayExaminer {
    private static let checkAddress =
        "check the address; if it is right, the relay is down, or this machine has no route to it"

    /// Returns an address that accepts connections and, where used, TLS.
    func reach() async -> SocketAddress? {
        guard let found = await resolve(), let address = await connect(found) else { return nil }
        guard relay.isSecure else {
            skip(.tls, "ws:// uses no TLS")
            skip(.certificate, "ws:// uses no TLS")
            return address
        }
        return await checkTLS(address) ? address : nil
    }

    private func resolve() async -> [SocketAddress]? {
        let began = ContinuousClock.now
        do {
            let found = try await NameLookup.addresses(of: relay.host, port: relay.port, within: budget.limit)
            let allowed = found.filter { probe.permits($0.networkBytes) }
            guard !allowed.isEmpty else {
                fail(
                    .notAllowed, .dns, .error, since: began,
                    "has only private addresses, which this probe may not contact",
                    "to allow it, add exactly this relay to the targets")
                return nil
            }
            pass(.dns, since: began, allowed.compactMap(\.ipAddress).joined(separator: ", "))
            return allowed
        } catch {
            fail(
                .nameUnknown, .dns, .error, since: began,
                "has a host name that does not resolve: \(NetworkError(error))",
                "check the spelling and this machine's DNS settings")
            return nil
        }
    }

    private func connect(_ addresses: [SocketAddress]) async -> SocketAddress? {
        let began = ContinuousClock.now
        var failures: [String] = []
        for address in addresses where !budget.isSpent {
            do {
                try await TCPReach.connect(to: address, within: budget.limit)
                let others = failures.isEmpty ? "" : "; no connection to \(failures.joined(separator: "; "))"
                pass(.tcp, since: began, "\(address.ipAddress ?? relay.host) port \(relay.port)\(others)")
                return address
            } catch { failures.append("\(address.ipAddress ?? relay.host): \(error)") }
        }
        fail(
            .unreachable, .tcp, .error, since: began,
            "accepts no connections at port \(relay.port): \(failures.joined(separator: "; "))", Self.checkAddress)
        return nil
    }

    func upgrade(_ address: SocketAddress) async -> RelayWire? {
        let began = ContinuousClock.now
        self.address = address
        report.address = address.networkBytes
        do {
            let wire = try await open(address)
            pass(.upgrade, since: began, "speaks WebSocket")
            return wire
        } catch {
            fail(
                .notWebSocket, .upgrade, .error, since: began, "fails the WebSocket upgrade: \(error)",
                "check the address and its path: no relay responds there")
            return nil
        }
    }
}

// MARK: TLS

extension RelayExaminer {
    /// Certificates are usually renewed automatically a month before they expire.
    static let renewal: Int64 = 14 * 86_400

    private func checkTLS(_ address: SocketAddress) async -> Bool {
        let began = ContinuousClock.now
        var failure: NetworkError?
        do {
            _ = try await TLSReach.handshake(
                with: relay.host, at: address, trustRootFiles: probe.trustRootFiles, within: budget.limit)
            pass(.tls, since: began, "certificate valid for \(relay.host)")
        } catch { failure = error }
        let shown = try? await TLSReach.handshake(
            with: relay.host, at: address, isVerified: false, within: budget.limit)
        report.certificateEnd = shown?.chainEnd
        guard let failure else {
            judgeEnd(shown, began)
            return true
        }
        let now = ThrowawayEvent.now
        let (text, advice) =
            switch shown {
            case nil:
                (
                    "fails the TLS handshake: \(failure)",
                    "check the port: the server does not use TLS, or only unsupported versions"
                )
            case let shown? where shown.chainEnd <= now:
                (
                    "has a certificate that expired \((now - shown.chainEnd) / 86_400) days ago",
                    "tell its operator; check this machine's clock"
                )
            case let shown? where shown.begin > now:
                ("has a certificate that is not valid yet", "check this machine's clock")
            case let shown?:
                (
                    "has a certificate that is not valid for \(relay.host) (its names: \(shown.names)), or not signed"
                        + " by a trusted authority",
                    "check the host name; if the authority is your own, add its PEM file to the trusted ones"
                )
            }
        fail(.tlsFailed, .tls, .error, since: began, text, advice)
        return false
    }

    private func judgeEnd(_ shown: TLSReach.Certificate?, _ began: ContinuousClock.Instant) {
        guard let shown else { return skip(.certificate, "no certificate in a second handshake") }
        let days = max(0, shown.chainEnd - ThrowawayEvent.now) / 86_400
        guard shown.chainEnd < ThrowawayEvent.now + Self.renewal else {
            return pass(.certificate, since: began, "expires in \(days) days")
        }
        fail(
            .certificateEnds, .certificate, .warning, since: began, "has a certificate that expires in \(days) days",
            "tell its operator: connections will fail once it has expired")
    }
}

extension SocketAddress {
    /// 4 or 16 bytes in network order; empty for other address families.
    fileprivate var networkBytes: [UInt8] {
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
