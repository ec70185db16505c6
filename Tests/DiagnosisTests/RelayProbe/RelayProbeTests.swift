import BotKit
import EmbeddedRelay
import LiveTesting
import Nostr
import Testing

@testable import Diagnosis

/// Each probe names exactly the fault that the relay was given.
@Suite(.live)
struct RelayProbeTests {
    private func probe(_ address: String, writes: Bool = true, patience: Duration = .seconds(20)) async throws
        -> RelayProbeReport
    {
        var probe = RelayProbe(try RelayURL(address))
        probe.writes = writes
        probe.timeout = .seconds(120)
        probe.patience = patience
        return await probe.run()
    }

    private func faults(_ report: RelayProbeReport) -> Set<RelayFault> { Set(report.faults.map(\.code)) }

    private func told(_ report: RelayProbeReport) -> String {
        report.verdict + "\n" + report.phases.map { "\($0.name) \($0.outcome) \($0.text)" }.joined(separator: "\n")
    }

    @Test func aGoodRelayPassesEveryPhase() async throws {
        try await withEmbeddedRelay { _, address in
            let report = try await probe(address)
            #expect(report.faults == [], "\(told(report))")
            #expect(report.isGood && report.isReachable)
            #expect(report.isReadBack == true)
            #expect(report.verdict == "Good for encrypted groups.")
            #expect(report.phases.map(\.name) == RelayPhase.allCases)
            let skipped = report.phases.filter { $0.outcome != .passed }.map(\.name)
            // It does not tell the time, and ws:// has no TLS.
            #expect(Set(skipped).subtracting([.clock]) == [.tls, .certificate], "\(told(report))")
        }
    }

    @Test func whatAProbeWroteIsDeletedAgain() async throws {
        let relay = SmallRelay(.none)
        let report = try await relay.serve { try await probe("ws://127.0.0.1:\($0)") }
        #expect(report.faults == [], "\(told(report))")
        #expect(relay.rest.events == [])
        #expect(relay.rest.deletions == 1)
    }

    @Test(
        arguments: [
            (.forgets, [.silentDrop]), (.drops(.groupEvent), [.silentDrop]), (.drops(.giftWrap), [.silentDrop]),
            (.drops(.inboxRelays), [.silentDrop]), (.refuses(.groupEvent), [.kindRefused]),
            (.refuses(.keyPackage), [.kindRefused]), (.refusesEverything, [.writeRefused]),
            (.ignoresLimit, [.limitIgnored]), (.ignoresSince, [.sinceIgnored]),
            (.gives(most: 2), [.fewEvents]), (.bears(subscriptions: 3), [.fewSubscriptions]),
            (.clock(-7_200), [.clockOff]), (.refusesBackdated, [.datedRefused]), (.refusesLarge(40_000), [.sizeLimit]),
            (.refusesLarge(8_000), [.sizeLimit]), (.saysNothingOfItself, [.informationMissing]),
            (.refusesDuplicates, [.duplicateRefused]), (.keepsDeleted, [.deletionIgnored]),
            (.keepsExpired, [.expirationIgnored]), (.hurriesNobody(after: 15), [.rateLimited]),
            (.hurriesNobody(after: 3), [.rateLimited]), (.wantsLogin(opens: true), [.authRequired]),
            (.wantsLogin(opens: false), [.loginRefused]), (.talksGarbage, [.garbage]), (.forges, [.garbage]),
            (.sendsUnasked, [.unasked]), (.hangsUpOnWriting, [.connectionLost]),
            (.wantsLoginForNothing, [.authRequired, .readRefused, .writeRefused]),
            // How an answer ended says what is not in it.
            (.asked(.groupEvent, .closes), [.readRefused]), (.asked(.groupEvent, .hangsUp), [.connectionLost]),
            (.asked(.keyPackage, .closes), [.readRefused]), (.asked(.keyPackage, .hangsUp), [.connectionLost]),
            (.asked(.giftWrap, .closes), []), (.closesTimes, [.readRefused]), (.closesLimits, [.readRefused]),
        ] as [(Lie, Set<RelayFault>)])
    func everyLieIsNamedAndNothingElse(lie: Lie, expected: Set<RelayFault>) async throws {
        let report = try await SmallRelay(lie).serve { try await probe("ws://127.0.0.1:\($0)") }
        #expect(faults(report) == expected, "\(told(report))")
        #expect(report.phases.map(\.name) == RelayPhase.allCases)
        let failed = report.phases.filter { $0.outcome == .failed }.map(\.name)
        let blamed = Set(report.faults.filter { $0.weight != .note }.map(\.phase))
        #expect(Set(failed) == blamed, "\(told(report))")
        for fault in report.faults { #expect(report.verdict.contains(fault.text)) }
    }

    /// Those in which something has to be waited for that never comes.
    @Test(
        arguments: [
            (.saysNothing, [.silent]), (.passesNothingOn, [.noLiveDelivery]), (.noEndOfStored, [.noEndOfStored]),
            (.wantsLoginWithoutChallenge, [.loginRefused]), (.trickles, [.informationMissing]),
            (.asked(.groupEvent, .isSilent), [.tooSlow]), (.asked(.inboxRelays, .isSilent), []),
        ] as [(Lie, Set<RelayFault>)])
    func whatNeverComesIsNamed(lie: Lie, expected: Set<RelayFault>) async throws {
        let report = try await SmallRelay(lie).serve { try await probe("ws://127.0.0.1:\($0)", patience: .seconds(2)) }
        #expect(faults(report) == expected, "\(told(report))")
        #expect(report.isReachable == (lie != .saysNothing))
    }

    @Test func whatIsNotAnsweredDidNotPass() async throws {
        async let closing = SmallRelay(.closesUnknown).serve { try await probe("ws://127.0.0.1:\($0)") }
        async let silence = SmallRelay(.asked(.inboxRelays, .isSilent)).serve {
            try await probe("ws://127.0.0.1:\($0)", patience: .seconds(2))
        }
        async let reading = SmallRelay(.closesLimits).serve { try await probe("ws://127.0.0.1:\($0)", writes: false) }
        let (report, silent, read) = try await (closing, silence, reading)
        #expect(report.faults == [], "\(told(report))")
        for phase in [RelayPhase.expiration, .deletion] {
            #expect(report.phase(phase)?.outcome == .unreached)
            #expect(report.phase(phase)?.text == "refuses the question: blocked: not this")
        }
        #expect(silent.phase(.silentDrop)?.outcome == .unreached, "\(told(silent))")
        #expect(read.faults == [], "\(told(read))")
        #expect([.limit, .since].allSatisfy { read.phase($0)?.outcome == .unreached }, "\(told(read))")
    }

    @Test(arguments: [
        #"{"limitation":{"auth_required":true}}"#, #"{"limitation":{"min_pow_difficulty":20}}"#,
        #"{"limitation":{"payment_required":true}}"#, #"{"limitation":{"max_message_length":1024}}"#,
    ])
    func aRelayThatIsNotAsItSaysIsNamed(document: String) async throws {
        let report = try await SmallRelay(.saysOfItself(document)).serve { try await probe("ws://127.0.0.1:\($0)") }
        #expect(faults(report) == [.informationFalse], "\(told(report))")
        #expect(report.phase(.information)?.outcome == .failed)
        #expect(report.isGood)
    }

    @Test func aRelayThatSendsWithoutEndIsLeft() async throws {
        let report = try await SmallRelay(.sendsWithoutEnd).serve {
            try await probe("ws://127.0.0.1:\($0)", patience: .seconds(2))
        }
        #expect(faults(report).contains(.unasked), "\(told(report))")
    }

    @Test func withoutWritingNothingIsWritten() async throws {
        let relay = SmallRelay(.forgets)
        let report = try await relay.serve { try await probe("ws://127.0.0.1:\($0)", writes: false) }
        #expect(report.faults == [], "\(told(report))")
        #expect(report.isReadBack == nil)
        #expect(relay.rest.deletions == 0)
        #expect(report.phase(.write)?.outcome == .skipped)
        #expect(report.phase(.write)?.text == "nothing is written")
        #expect(report.phase(.limit)?.outcome == .passed)
    }

    @Test func nobodyThere() async throws {
        // A port that was free a moment ago.
        let address = try await withEmbeddedRelay { _, address in address }
        let gone = try await probe(address)
        #expect(faults(gone) == [.unreachable])
        #expect(!gone.isReachable)
        #expect(gone.verdict.hasPrefix("Unreachable: does not answer at port "))
        #expect(faults(try await probe("wss://relay.invalid")) == [.nameUnknown])
        try await withPlainServer { port in
            let report = try await probe("ws://127.0.0.1:\(port)")
            #expect(faults(report) == [.notWebSocket])
        }
    }

    @Test func anAddressThatIsNotPermittedIsNotConnectedTo() async throws {
        let relay = SmallRelay(.none)
        let report = try await relay.serve { port in
            var probe = RelayProbe(try RelayURL("ws://127.0.0.1:\(port)"))
            probe.permits = { $0 != [127, 0, 0, 1] }
            return await probe.run()
        }
        #expect(faults(report) == [.notAllowed])
        #expect(report.phase(.tcp)?.outcome == .unreached)
    }

    @Test(arguments: 1...4) func aProbeThatIsGivenUpEndsAndClosesItsConnections(visit: Int) async throws {
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

    @Test func theWholeTakesNoLongerThanItMay() async throws {
        let began = ContinuousClock.now
        let report = try await SmallRelay(.saysNothing).serve { port in
            var probe = RelayProbe(try RelayURL("ws://127.0.0.1:\(port)"))
            probe.timeout = .seconds(2)
            return await probe.run()
        }
        #expect(!report.isGood)
        #expect(ContinuousClock.now - began < .seconds(60))
    }
}
