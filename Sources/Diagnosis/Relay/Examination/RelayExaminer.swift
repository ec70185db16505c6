import NIOCore
import Nostr

/// The steps with which every examination of a relay begins: reaching its address, the WebSocket upgrade, and the
/// information document.
struct RelayExaminer: Sendable {
    let relay: RelayURL
    let budget: ProbeBudget
    /// PEM files of certificate authorities that are trusted besides the system's.
    var trustRootFiles: [String] = []
    /// Whether connections to this address, 4 or 16 bytes in network order, are allowed.
    var permits: @Sendable (_ address: [UInt8]) -> Bool = { _ in true }

    /// Resolves the name, connects and, for `wss://`, checks TLS; returns an address for which all of it succeeded.
    func reach(into phases: inout RelayPhases) async -> SocketAddress? {
        let record = await reach()
        phases.record(record)
        return record.address
    }

    /// Opens a WebSocket.
    func connect(
        to address: SocketAddress, with connections: RelayConnections, into phases: inout RelayPhases
    ) async -> RelayWire? {
        let began = ContinuousClock.now
        do throws(NetworkError) {
            let wire = try await connections.open(address, within: budget.limit)
            phases.recordUpgrade(nil, since: began)
            return wire
        } catch {
            phases.recordUpgrade(error, since: began)
            return nil
        }
    }

    /// Reads the information document (NIP-11).
    func readInformation(with http: HTTPProbe, into phases: inout RelayPhases) async {
        phases.record(await InformationRecord.read(relay, http))
    }

    /// Reads it from one address, and follows no redirects.
    func readInformation(at address: SocketAddress, into phases: inout RelayPhases) async {
        do throws(NetworkError) {
            let http = try HTTPProbe(
                host: relay.host, at: address.ipAddress ?? relay.host, trustRootFiles: trustRootFiles,
                limit: max(.milliseconds(1), budget.limit))
            await readInformation(with: http, into: &phases)
            try? await http.shutdown()
        } catch { phases.record(InformationRecord(answer: .failure(error), duration: .zero)) }
    }

    // MARK: Reaching the address

    private func reach() async -> ReachRecord {
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
        record.tls = .used(
            await ReachRecord.Handshake.perform(
                with: relay.host, at: address, trustRootFiles: trustRootFiles, within: budget.limit))
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
}
