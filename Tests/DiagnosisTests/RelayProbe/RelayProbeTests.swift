import BotKit
import EmbeddedRelay
import LiveTesting
import Nostr
import ProbeReports
import Testing

@testable import Diagnosis

/// Checks that each probe reports exactly the relay's defect.
@Suite(.live)
struct RelayProbeTests {
    private func probe(_ address: String, writes: Bool = true, stepTimeout: Duration = .seconds(20)) async throws
        -> RelayProbeReport
    {
        var probe = RelayProbe(try RelayURL(address))
        probe.writes = writes
        probe.timeout = .seconds(120)
        probe.stepTimeout = stepTimeout
        return await probe.run()
    }

    private func faults(_ report: RelayProbeReport) -> Set<RelayFault> { Set(report.faults.map(\.code)) }

    private func summary(_ report: RelayProbeReport) -> String {
        report.verdict + "\n" + report.phases.map { "\($0.name) \($0.outcome) \($0.text)" }.joined(separator: "\n")
    }

    @Test func goodRelayPassesEveryPhase() async throws {
        try await withEmbeddedRelay { _, address in
            let report = try await probe(address)
            #expect(report.faults == [], "\(summary(report))")
            #expect(report.isGood && report.isReachable)
            #expect(report.isReadBack == true)
            #expect(report.verdict == "Good for encrypted groups.")
            #expect(report.phases.map(\.name) == RelayPhase.allCases)
            let skipped = report.phases.filter { $0.outcome != .passed }.map(\.name)
            // The embedded relay sends no date, and ws:// uses no TLS.
            #expect(Set(skipped).subtracting([.clock]) == [.tls, .certificate], "\(summary(report))")
        }
    }

    @Test func deletesItsEvents() async throws {
        let relay = SmallRelay(.none)
        let report = try await relay.serve { try await probe("ws://127.0.0.1:\($0)") }
        #expect(report.faults == [], "\(summary(report))")
        #expect(relay.remaining.events == [])
        #expect(relay.remaining.deletions == 1)
    }

    @Test(
        arguments: [
            (.forgets, [.silentDrop]), (.drops(.groupEvent), [.silentDrop]), (.drops(.giftWrap), [.silentDrop]),
            (.drops(.inboxRelays), [.silentDrop]), (.drops(.relayList), [.silentDrop]),
            (.drops(.addressableKeyPackage), [.silentDrop]),
            (.mergesSlots, [.slotsMerged]), (.refuses(.groupEvent), [.kindRefused]),
            (.refuses(.keyPackage), [.kindRefused]), (.refuses(.relayList), [.kindRefused]),
            (.refusesEverything, [.writeRefused]),
            (.ignoresLimit, [.limitIgnored]), (.ignoresSince, [.sinceIgnored]),
            (.returnsAtMost(2), [.fewEvents]), (.allows(subscriptions: 3), [.fewSubscriptions]),
            (.clock(-7_200), [.clockOff]), (.refusesBackdated, [.datedRefused]), (.refusesLarge(40_000), [.sizeLimit]),
            (.refusesLarge(8_000), [.sizeLimit]), (.omitsInformation, [.informationMissing]),
            (.refusesDuplicates, [.duplicateRefused]), (.keepsDeleted, [.deletionIgnored]),
            (.keepsExpired, [.expirationIgnored]), (.limitsRate(after: 15), [.rateLimited]),
            (.limitsRate(after: 3), [.rateLimited]), (.requiresLogin(admits: true), [.authRequired]),
            (.requiresLogin(admits: false), [.loginRefused]), (.sendsGarbage, [.garbage]), (.forges, [.garbage]),
            (.sendsUnasked, [.unasked]), (.disconnectsOnWrite, [.connectionLost]),
            (.refusesDespiteLogin, [.authRequired, .readRefused, .writeRefused]),
            // CLOSED or the loss of the connection explains why events are missing.
            (.failsQuery(.groupEvent, .closes), [.readRefused]),
            (.failsQuery(.groupEvent, .disconnects), [.connectionLost]),
            (.failsQuery(.keyPackage, .closes), [.readRefused]),
            (.failsQuery(.keyPackage, .disconnects), [.connectionLost]),
            (.failsQuery(.giftWrap, .closes), []), (.closesTimes, [.readRefused]), (.closesLimits, [.readRefused]),
        ] as [(RelayDefect, Set<RelayFault>)])
    func reportsExactlyTheDefect(defect: RelayDefect, expected: Set<RelayFault>) async throws {
        let report = try await SmallRelay(defect).serve { try await probe("ws://127.0.0.1:\($0)") }
        #expect(faults(report) == expected, "\(summary(report))")
        #expect(report.phases.map(\.name) == RelayPhase.allCases)
        let failed = report.phases.filter { $0.outcome == .failed }.map(\.name)
        let blamed = Set(report.faults.filter { $0.weight != .note }.map(\.phase))
        #expect(Set(failed) == blamed, "\(summary(report))")
        for fault in report.faults { #expect(report.verdict.contains(fault.text)) }
    }

    /// Defects that make the probe wait for a missing message.
    @Test(
        arguments: [
            (.neverResponds, [.silent]), (.omitsLiveDelivery, [.noLiveDelivery]), (.noEndOfStored, [.noEndOfStored]),
            (.requiresLoginWithoutChallenge, [.loginRefused]), (.trickles, [.informationMissing]),
            (.failsQuery(.groupEvent, .isSilent), [.tooSlow]), (.failsQuery(.inboxRelays, .isSilent), []),
        ] as [(RelayDefect, Set<RelayFault>)])
    func reportsMissingMessages(defect: RelayDefect, expected: Set<RelayFault>) async throws {
        let report = try await SmallRelay(defect).serve {
            try await probe("ws://127.0.0.1:\($0)", stepTimeout: .seconds(2))
        }
        #expect(faults(report) == expected, "\(summary(report))")
        #expect(report.isReachable == (defect != .neverResponds))
    }

    @Test func unansweredPhasesDoNotPass() async throws {
        async let closing = SmallRelay(.closesUnknown).serve { try await probe("ws://127.0.0.1:\($0)") }
        async let silence = SmallRelay(.failsQuery(.inboxRelays, .isSilent)).serve {
            try await probe("ws://127.0.0.1:\($0)", stepTimeout: .seconds(2))
        }
        async let reading = SmallRelay(.closesLimits).serve { try await probe("ws://127.0.0.1:\($0)", writes: false) }
        let (report, silent, read) = try await (closing, silence, reading)
        #expect(report.faults == [], "\(summary(report))")
        for phase in [RelayPhase.expiration, .deletion] {
            #expect(report.phase(phase)?.outcome == .unreached)
            #expect(report.phase(phase)?.text == "refuses the query: blocked: not this")
        }
        #expect(silent.phase(.silentDrop)?.outcome == .unreached, "\(summary(silent))")
        #expect(read.faults == [], "\(summary(read))")
        #expect([.limit, .since].allSatisfy { read.phase($0)?.outcome == .unreached }, "\(summary(read))")
    }

    @Test(arguments: [
        #"{"limitation":{"auth_required":true}}"#, #"{"limitation":{"min_pow_difficulty":20}}"#,
        #"{"limitation":{"payment_required":true}}"#, #"{"limitation":{"max_message_length":1024}}"#,
    ])
    func reportsFalseRelayInformation(document: String) async throws {
        let report = try await SmallRelay(.claims(document)).serve { try await probe("ws://127.0.0.1:\($0)") }
        #expect(faults(report) == [.informationFalse], "\(summary(report))")
        #expect(report.phase(.information)?.outcome == .failed)
        #expect(report.isGood)
    }

    @Test func leavesFloodingRelay() async throws {
        let report = try await SmallRelay(.floods).serve {
            try await probe("ws://127.0.0.1:\($0)", stepTimeout: .seconds(2))
        }
        #expect(faults(report).contains(.unasked), "\(summary(report))")
    }

    @Test func readOnlyProbeWritesNothing() async throws {
        let relay = SmallRelay(.forgets)
        let report = try await relay.serve { try await probe("ws://127.0.0.1:\($0)", writes: false) }
        #expect(report.faults == [], "\(summary(report))")
        #expect(report.isReadBack == nil)
        #expect(relay.remaining.deletions == 0)
        #expect(report.phase(.write)?.outcome == .skipped)
        #expect(report.phase(.write)?.text == "writing is disabled")
        #expect(report.phase(.limit)?.outcome == .passed)
    }

    @Test func reportsUnreachableServers() async throws {
        // A port that was free a moment ago.
        let address = try await withEmbeddedRelay { _, address in address }
        let report = try await probe(address)
        #expect(faults(report) == [.unreachable])
        #expect(!report.isReachable)
        #expect(report.verdict.hasPrefix("Unreachable: accepts no connections at port "))
        #expect(faults(try await probe("wss://relay.invalid")) == [.nameUnknown])
        try await withPlainServer { port in
            let report = try await probe("ws://127.0.0.1:\(port)")
            #expect(faults(report) == [.notWebSocket])
        }
    }

    @Test func honoursForbiddenAddresses() async throws {
        let relay = SmallRelay(.none)
        let report = try await relay.serve { port in
            var probe = RelayProbe(try RelayURL("ws://127.0.0.1:\(port)"))
            probe.permits = { $0 != [127, 0, 0, 1] }
            return await probe.run()
        }
        #expect(faults(report) == [.notAllowed])
        #expect(report.phase(.tcp)?.outcome == .unreached)
    }

    @Test(arguments: 1...4) func cancelledProbeClosesConnections(visit: Int) async throws {
        let relay = SmallRelay(.none)
        try await relay.serve { port in
            let address = try RelayURL("ws://127.0.0.1:\(port)")
            let report = await withTaskGroup(of: RelayProbeReport.self) { group in
                group.addTask { await RelayProbe(address).run() }
                var visits = relay.visits.makeAsyncIterator()
                for _ in 0..<visit { await visits.next() }
                group.cancelAll()
                return await group.next()
            }
            #expect(report?.phases.map(\.name) == RelayPhase.allCases)
        }
    }

    @Test func honoursTheTimeout() async throws {
        let began = ContinuousClock.now
        let report = try await SmallRelay(.neverResponds).serve { port in
            var probe = RelayProbe(try RelayURL("ws://127.0.0.1:\(port)"))
            probe.timeout = .seconds(2)
            return await probe.run()
        }
        #expect(!report.isGood)
        #expect(ContinuousClock.now - began < .seconds(60))
    }
}
