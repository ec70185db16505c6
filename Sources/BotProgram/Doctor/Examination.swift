import BotConfiguration
import Diagnosis
import Foundation
import Logging
import Nostr

/// Checks everything that a configuration refers to.
struct Examination: Sendable {
    let configuration: Configuration
    let environment: [String: String]
    /// The deadline of each step with a relay or server.
    let limit: Duration
    let logger: Logger
    var rollbacks = RollbackFindings(status: nil)

    /// Returns the findings in reading order: the file, this machine, then remote systems.
    func run() async throws -> [Finding] {
        let http = HTTPProbe(limit: limit)
        let findings = await findings(http)
        try await http.shutdown()
        return findings
    }

    private func findings(_ http: HTTPProbe) async -> [Finding] {
        let keys = configuration.accounts.map { AccountKeyFindings($0, environment: environment) }
        var all = [summary] + local(keys)
        if let listen = configuration.observe.listen, listen.port > 0 {
            all += await ListenFindings.run(host: listen.host, port: listen.port, http: http)
        }
        let signers = await signerResults(keys)
        for key in keys { all += signers[key.account.name]?.findings ?? [] }
        let owners = keys.compactMap { key in
            (key.keys?.publicKey ?? signers[key.account.name]?.account).map { (key, $0) }
        }
        let relays = await relayResults(keys, owners.map(\.1), http)
        var offsets = relays.compactMap(\.result.clockOffset)
        all += relays.flatMap(\.result.findings)
        all += published(owners, relays)
        for server in configuration.media.servers {
            let (findings, offset) = await MediaServerDiagnosis.run(server, http: http)
            all += findings
            if let offset { offsets.append(offset) }
        }
        return all + ClockFindings.judge(offsets)
    }

    private var summary: Finding {
        let bots = configuration.accounts.reduce(0) { $0 + $1.bots.count }
        return Finding(
            .ok, subject: "configuration", check: "file",
            [(configuration.accounts.count, "account"), (bots, "bot"), (configuration.relays.count, "relay")]
                .map(DoctorReport.number).joined(separator: ", "))
    }

    private func local(_ keys: [AccountKeyFindings]) -> [Finding] {
        keys.flatMap { key in
            let account = key.account
            let state = StateFindings(directory: stateDirectory(of: account)).run(subject: key.subject)
            let programs = ProgramFindings(account, environment: environment).run(subject: key.subject)
            let storms = rollbacks.run(account: account.name, subject: key.subject)
            let halted = HaltedGroupFindings(status: rollbacks.status).run(account: account.name, subject: key.subject)
            return [key.findings, state, programs, storms, halted].flatMap(\.self)
        }
    }

    private func stateDirectory(of account: AccountConfiguration) -> String {
        "\(configuration.stateDirectory)/\(account.name)"
    }

    // MARK: Remote signers

    /// Returns the findings by account name.
    private func signerResults(
        _ keys: [AccountKeyFindings]
    ) async -> [String: (findings: [Finding], account: PublicKey?)] {
        await withTaskGroup(of: (String, (findings: [Finding], account: PublicKey?)).self) { group in
            for key in keys where key.signer != nil {
                let directory = stateDirectory(of: key.account)
                group.addTask {
                    (
                        key.account.name,
                        await SignerFindings.run(key, directory: directory, limit: limit, logger: logger)
                    )
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    // MARK: Relays

    private func relayResults(
        _ keys: [AccountKeyFindings], _ authors: [PublicKey], _ http: HTTPProbe
    ) async -> [(relay: RelayURL, result: RelayDiagnosis.Result)] {
        // Includes the relays of remote signers: without them the account's key is unavailable.
        let wanted = configuration.relays + keys.flatMap { $0.signer?.relays ?? [] }
        var seen: Set<RelayURL> = []
        let relays = wanted.filter { seen.insert($0).inserted }
        let account = keys.lazy.compactMap(\.keys).first
        return await relays.concurrentMap { [limit] relay in
            let diagnosis = RelayDiagnosis(relay, account: account, authors: authors, limit: limit)
            return (relay, await diagnosis.run(http: http))
        }
    }

    private func published(
        _ owners: [(AccountKeyFindings, PublicKey)], _ relays: [(relay: RelayURL, result: RelayDiagnosis.Result)]
    ) -> [Finding] {
        let answered = relays.filter { configuration.relays.contains($0.relay) }
            .compactMap { relay in relay.result.stored.map { (relay.relay, $0) } }
        let stored = Dictionary(answered) { first, _ in first }
        return owners.flatMap { key, own -> [Finding] in
            var findings = FindingList(key.subject)
            AccountPresence.judge(
                own, stored: stored, relays: configuration.relays,
                hasRun: FileManager.default.fileExists(atPath: stateDirectory(of: key.account) + "/state.sqlite"),
                now: .systemTime, into: &findings)
            return findings.all
        }
    }
}
