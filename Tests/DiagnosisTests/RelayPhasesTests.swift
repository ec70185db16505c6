import NIOCore
import Nostr
import ProbeReports
import Testing

@testable import Diagnosis

struct RelayPhasesTests {
    private let ended = RelayPhases.Ending(writes: true, isSpent: false, timeout: .seconds(20))

    private func phases() throws -> RelayPhases {
        RelayPhases(try RelayURL("wss://relay.example"), began: .now)  // not live: an origin of durations
    }

    private func reach(_ connection: ReachRecord.Connection?, _ tls: ReachRecord.TLS? = nil) throws -> ReachRecord {
        var record = ReachRecord(host: "relay.example", port: 443)
        record.lookup = .found([try SocketAddress(ipAddress: "192.0.2.1", port: 443)])
        (record.connection, record.tls) = (connection, tls)
        return record
    }

    private func open(failures: [String] = []) throws -> ReachRecord.Connection {
        .init(
            end: .open(try SocketAddress(ipAddress: "192.0.2.1", port: 443)), failures: failures,
            duration: .milliseconds(9), lastDuration: .milliseconds(4))
    }

    @Test func failureIsFinal() throws {
        var phases = try phases()
        phases.skip(.size, "first")
        phases.pass(.size, after: .zero, "second")
        #expect(phases.report.phase(.size)?.text == "second")
        phases.fail(.sizeLimit, .size, .error, after: .zero, "third", "advice")
        phases.pass(.size, after: .zero, "fourth")
        #expect(phases.report.phases.map(\.text) == ["third"])
        #expect(!phases.hasPassed(.size) && phases.hasFault(.sizeLimit))
    }

    @Test func reportsEachFaultOnce() throws {
        var phases = try phases()
        for text in ["first", "second"] { phases.fail(.readRefused, .subscribe, .error, after: .zero, text, "advice") }
        for text in ["slow", "slower"] { phases.noteRateLimit(.warning, text) }
        #expect(phases.report.faults.map(\.code) == [.readRefused, .rateLimited])
        #expect(phases.report.faults.map(\.text).first == "first")
    }

    @Test func everyPhaseGetsAnOutcome() throws {
        var phases = try phases()
        phases.fail(.nameUnknown, .dns, .error, after: .zero, "is unknown", "check it")
        let report = phases.complete(ended)
        #expect(report.phases.map(\.name) == RelayPhase.allCases)
        #expect(report.phases.dropFirst().allSatisfy { $0.outcome == .unreached && $0.text == "no connection" })
    }

    @Test func spentTimeFailsAnEssentialPhase() throws {
        var phases = try phases()
        phases.recordUpgrade(nil, since: .now)
        phases.pass(.subscribe, after: .zero, "sends EOSE")
        var spent = ended
        spent.isSpent = true
        let report = phases.complete(spent)
        #expect(report.faults.map(\.code) == [.tooSlow])
        #expect(report.faults.map(\.phase) == [.write])
    }

    @Test func stepsWithoutConnectionAreNotReached() throws {
        var phases = try phases()
        let failed = ReachRecord.Connection(
            end: .failed, failures: ["192.0.2.1: timed out"], duration: .seconds(1), lastDuration: .zero)
        phases.record(try reach(failed))
        #expect(phases.report.phase(.dns)?.text == "192.0.2.1")
        #expect(phases.report.faults.map(\.text) == ["accepts no connections at port 443: 192.0.2.1: timed out"])
        #expect(phases.isDead && phases.report.address == nil && phases.report.phase(.tls) == nil)
    }

    @Test func namesAddressesThatFailed() throws {
        var phases = try phases()
        phases.record(try reach(try open(failures: ["2001:db8::1: timed out"]), .unused))
        #expect(
            phases.report.phase(.tcp)?.text == "192.0.2.1 port 443; no connection to 2001:db8::1: timed out")
        #expect(phases.report.phase(.tls)?.outcome == .skipped)
        #expect(phases.report.address == [192, 0, 2, 1])
    }

    @Test func invalidCertificateEndsExamination() throws {
        let expired = TLSReach.Certificate(begin: 0, end: 86_400, names: "relay.example")  // not live: a value
        let record = try reach(
            try open(),
            .used(
                .init(
                    failure: NetworkError("the TLS handshake failed"), accepted: nil, shown: expired,
                    handshakeTime: .zero, duration: .zero)))
        var phases = try phases()
        phases.record(record)
        #expect(record.address == nil)
        #expect(phases.report.faults.map(\.code) == [.tlsFailed])
        #expect(phases.report.certificateEnd == 86_400)
        #expect(phases.report.address == nil)
    }

    @Test func absurdClockIsReported() throws {
        var phases = try phases()
        let answer = InformationRecord.Answer(status: 404, information: nil, text: "", clockOffset: -1e300)
        phases.record(InformationRecord(answer: .success(answer), duration: .zero))
        #expect(phases.report.faults.map(\.code) == [.clockOff, .informationMissing])
        #expect(phases.report.phase(.information)?.text == "no NIP-11 document: invalid response (status 404)")
    }

    @Test func unansweredDocumentTellsNoTime() throws {
        var phases = try phases()
        phases.record(InformationRecord(answer: .failure(NetworkError("timed out")), duration: .zero))
        #expect(phases.report.phase(.clock) == nil)
        #expect(phases.report.faults.map(\.weight) == [.note])
    }

    // MARK: Findings

    private func findings(_ phases: RelayPhases, canLogIn: Bool = true) -> [Finding] {
        var findings = FindingList("relay")
        phases.judge(canLogIn: canLogIn, into: &findings)
        return findings.all
    }

    @Test func findingsFollowTheSteps() throws {
        var phases = try phases()
        phases.record(try reach(try open(failures: ["2001:db8::1: timed out"]), .unused))
        let answer = InformationRecord.Answer(
            status: 200, information: try RelayInformation(json: Array("{}".utf8)), text: "{}", clockOffset: nil)
        phases.record(InformationRecord(answer: .success(answer), duration: .zero))
        var exchange = RelayRecord()
        (exchange.wasChallenged, exchange.echo, exchange.groupEvent) = (true, .kept, .returned(.milliseconds(3)))
        exchange.giftWrap = .refused("blocked: no")
        phases.record(exchange)
        #expect(
            findings(phases, canLogIn: false).map { "\($0.level) \($0.check)" } == [
                "ok name", "ok tcp", "warning tcp", "ok information", "ok limits", "ok websocket", "warning login",
                "warning echo", "ok group messages", "error invitations",
            ])
        #expect(findings(phases).first?.text == "relay.example resolves to 192.0.2.1")
        #expect(findings(phases).dropFirst().first?.text == "connected to 192.0.2.1 port 443 in 4 ms")
        #expect(phases.report.wantsLogin)
    }

    @Test func reportAndFindingsAgreeOnFailures() throws {
        var unknown = try phases()
        var record = ReachRecord(host: "relay.example", port: 443)
        record.lookup = .failed(NetworkError("no such name"))
        unknown.record(record)
        #expect(unknown.report.faults.map(\.code) == [.nameUnknown])
        #expect(findings(unknown).map(\.text) == ["relay.example does not resolve: no such name"])
        var page = try phases()
        page.record(try reach(try open(), .unused))
        page.recordUpgrade(NetworkError("the server does not accept WebSocket upgrades"), since: .now)
        #expect(page.report.faults.map(\.code) == [.notWebSocket])
        #expect(findings(page).map { "\($0.level) \($0.check)" } == ["ok name", "ok tcp", "error websocket"])
    }
}
