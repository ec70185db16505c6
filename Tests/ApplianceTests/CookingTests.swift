import LiveTesting
import Nostr
import Testing

@testable import Appliance

@Suite struct CookingSessionTests {
    private static let online = CookingSession.Reach(byCloud: true, byLocalNetwork: false)
    private static let local = CookingSession.Reach(byCloud: false, byLocalNetwork: true)
    private static let offline = CookingSession.Reach(byCloud: false, byLocalNetwork: false)

    private static func session() throws -> CookingSession {
        try CookingSession(applianceID: "a1", recipe: Samples.recipe, servings: 2)
    }

    /// A session that the appliance has accepted.
    private static func running() throws -> CookingSession {
        var session = try self.session()
        _ = try session.start(commandID: "c1", reach: self.online, now: 100)
        _ = session.receive(CommandReceipt(id: "c1", state: .accepted, sessionID: "s1"))
        return session
    }

    @Test func refusesStartWhenOffline() throws {
        var session = try Self.session()
        let before = session
        let refusal1 = code { _ = try session.start(commandID: "c1", reach: Self.offline, now: 100) }
        #expect(refusal1 == .offline)
        let later = session.advance(to: 200, reach: Self.online)
        #expect(session == before && later.isEmpty)
    }

    @Test func startsByDirectWiFi() throws {
        var session = try Self.session()
        let effects = try session.start(commandID: "c1", reach: Self.local, now: 100)
        let command = CommandRequest(id: "c1", kind: .start, recipeID: "dal", servings: 2, expiresAt: 110)
        #expect(effects == [.send(command, .local)])
    }

    @Test func repeatsStartUntilExpiry() throws {
        var session = try Self.session()
        let first = try session.start(commandID: "c1", reach: Self.online, now: 100)
        let early = session.advance(to: 101, reach: Self.online)
        let second = session.advance(to: 102, reach: Self.online)
        let unreachable = session.advance(to: 104, reach: Self.offline)
        let expired = session.advance(to: 110, reach: Self.online)
        let never = session.advance(to: 1_000, reach: Self.online)
        #expect(early.isEmpty && second == first && unreachable.isEmpty)
        #expect(expired == [.report(.expired), .readStatus] && never.isEmpty)
        // The outcome becomes known later.
        let effects = session.receive(Samples.status(revision: 1))
        #expect(effects.first == .report(.started(sessionID: "s1")))
    }

    @Test func restartRepeatsTheSameCommand() throws {
        var session = try Self.session()
        let first = try session.start(commandID: "c1", reach: Self.online, now: 100)
        // The stored form contains everything.
        let stored = try JSONCoding.roundTrip(session)
        #expect(stored == session)
        var restored = stored
        let again = restored.advance(to: 105, reach: Self.online)
        #expect(again == first)
        var late = stored
        let expired = late.advance(to: 3_000, reach: Self.online)
        #expect(expired == [.report(.expired), .readStatus])
    }

    @Test func ignoresSessionsOfOtherStarts() throws {
        var session = try Self.session()
        _ = try session.start(commandID: "c1", reach: Self.online, now: 100)
        let other = session.receive(
            Samples.status(revision: 9, phase: .finished, step: 2, remaining: 0, session: "s0", command: "c0"))
        let early = session.receiveNoSession()
        #expect(other.isEmpty && early.isEmpty && session.isActive)
        _ = session.advance(to: 110, reach: Self.online)
        let effects = session.receiveNoSession()
        #expect(effects == [.report(.refused(reason: "not_started"))] && !session.isActive)
    }

    @Test func reportsEachStepOnce() throws {
        var session = try Self.running()
        let statuses = [
            Samples.status(revision: 1), Samples.status(revision: 2, remaining: 150),
            Samples.status(revision: 2, remaining: 150), Samples.status(revision: 4, step: 1, remaining: 100),
            Samples.status(revision: 3, step: 0, remaining: 140), Samples.status(revision: 5, step: 2, remaining: 50),
            Samples.status(revision: 6, phase: .finished, step: 2, remaining: 0),
        ]
        let effects = statuses.flatMap { session.receive($0) }
        let steps = effects.compactMap { effect in
            if case .report(.step(let index, _)) = effect { index } else { nil }
        }
        let percents = effects.compactMap { effect in
            if case .report(.progress(let status)) = effect { status.percent } else { nil }
        }
        #expect(steps == [0, 1, 2] && percents == [0, 16, 44, 72, 100])
        var record = Samples.record("s1")
        (record.startedAt, record.endedAt) = (1_000, 1_100)
        #expect(effects.last == .report(.ended(record)) && !session.isActive)
    }

    @Test func reportsAlertsAndTimersOnce() throws {
        var session = try Self.running()
        let alert = LiveEvent.Alert(id: "x", severity: .danger, code: "hot", text: "Hot", sessionID: "s1")
        let event = LiveEvent(sequence: 1, at: 0, applianceID: "a1", body: .alert(alert))
        let timer = LiveEvent(sequence: 2, at: 0, applianceID: "a1", body: .timerFired(sessionID: "s1", label: "dal"))
        let other = LiveEvent(sequence: 3, at: 0, applianceID: "a2", body: .alert(alert))
        let effects = [event, event, timer, timer, other].flatMap { session.receive($0) }
        #expect(effects == [.report(.alert(alert)), .report(.timer(label: "dal"))])
    }

    @Test func refusalEndsTheSession() throws {
        var session = try Self.session()
        _ = try session.start(commandID: "c1", reach: Self.online, now: 100)
        let stranger = session.receive(CommandReceipt(id: "c9", state: .accepted, sessionID: "s9"))
        let effects = session.receive(CommandReceipt(id: "c1", state: .refused, reason: "busy"))
        let later = session.advance(to: 104, reach: Self.online)
        #expect(stranger.isEmpty && effects == [.report(.refused(reason: "busy"))] && later.isEmpty)
        #expect(!session.isActive)
    }

    @Test func commandsNeedARunningSession() throws {
        var session = try Self.session()
        let refusal2 = code { _ = try session.command(.pause, commandID: "c2", reach: Self.online, now: 100) }
        #expect(refusal2 == .wrongState)
        _ = try session.start(commandID: "c1", reach: Self.online, now: 100)
        let refusal3 = code { _ = try session.command(.pause, commandID: "c2", reach: Self.online, now: 100) }
        #expect(refusal3 == .busy)
        _ = session.receive(CommandReceipt(id: "c1", state: .accepted, sessionID: "s1"))
        let refusal4 = code { _ = try session.command(.pause, commandID: "c2", reach: Self.offline, now: 100) }
        #expect(refusal4 == .offline)
        let effects = try session.command(.pause, commandID: "c2", reach: Self.local, now: 100)
        let command = CommandRequest(id: "c2", kind: .pause, sessionID: "s1", expiresAt: 110)
        #expect(effects == [.send(command, .local)])
    }

    /// Whatever happens, one command id starts, and nothing is sent from its expiry on.
    @Test func randomRunsSendNoStartAfterExpiry() throws {
        var random = SplitMix64(seed: 2)
        for _ in 0..<300 {
            var session = try Self.session()
            var now: UnixTime = 1_000
            var sent: [(command: CommandRequest, time: UnixTime)] = []
            var effects = try session.start(commandID: "c1", reach: Self.online, now: now)
            for _ in 0..<40 {
                for case .send(let command, _) in effects { sent.append((command, now)) }
                now += Int64.random(in: 0...4, using: &random)
                let reach = [Self.online, Self.local, Self.offline][Int.random(in: 0..<3, using: &random)]
                switch Int.random(in: 0..<6, using: &random) {
                case 0: effects = session.receive(CommandReceipt(id: "c1", state: .accepted, sessionID: "s1"))
                case 1: effects = session.receive(Samples.status(revision: Int(now.seconds)))
                case 2: effects = session.receiveNoSession()
                case 3: effects = session.abandonCommands()
                default: effects = session.advance(to: now, reach: reach)
                }
            }
            #expect(sent.allSatisfy { $0.command.id == "c1" && $0.time < $0.command.expiresAt })
        }
    }
}

@Suite struct EmergencyStopTests {
    @Test func repeatsOnAllRoutesUntilAcknowledged() throws {
        var stop = try EmergencyStop(applianceID: "a1", id: "e1", now: 100)
        let first = stop.attempt(at: 100)
        let early = stop.attempt(at: 100)
        let second = stop.attempt(at: 101)
        #expect(first == [.cloud, .local] && early.isEmpty && second == first)
        for time in 102..<160 {
            let routes = stop.attempt(at: UnixTime(Int64(time)))
            #expect(routes.count == 2)
        }
        let restored = try JSONCoding.roundTrip(stop)
        #expect(restored == stop)
        let other = stop.receive(EmergencyStopReceipt(id: "e2", acknowledgedAt: 1))
        let acknowledged = stop.receive(
            LiveEvent(
                sequence: 1, at: 0,
                body: .emergencyStopAcknowledged(EmergencyStopReceipt(id: "e1", acknowledgedAt: 161))))
        let again = stop.receive(EmergencyStopReceipt(id: "e1", acknowledgedAt: 162))
        let after = stop.attempt(at: 500)
        #expect(!other && acknowledged && !again && after.isEmpty && stop.nextAttempt == nil)
    }

    @Test func clockSetBackDoesNotDelay() throws {
        var stop = try EmergencyStop(applianceID: "a1", id: "e1", now: 10_000)
        let first = stop.attempt(at: 10_000)
        let second = stop.attempt(at: 50)
        #expect(first.count == 2 && second.count == 2)
    }

    @Test func asksForHandsAfterPatience() throws {
        let stop = try EmergencyStop(applianceID: "a1", id: "e1", now: 100)
        #expect(!stop.isOverdue(at: 104) && stop.isOverdue(at: 105))
    }
}

@Suite struct RequestQueueTests {
    private func command(_ id: String, expiresAt: UnixTime = 100) -> CommandRequest {
        CommandRequest(id: id, kind: .pause, sessionID: "s", expiresAt: expiresAt)
    }

    @Test func stopsPassEverything() throws {
        var queue = RequestQueue(maximumCommands: 2, maximumBackground: 2)
        try queue.appendBackground(key: "history")
        try queue.append(self.command("c1"), to: "a1", by: .cloud)
        try queue.append(self.command("c2"), to: "a2", by: .cloud)
        let refusal5 = code { try queue.append(self.command("c3"), to: "a2", by: .cloud) }
        #expect(refusal5 == .full)
        let dropped = queue.appendEmergencyStop(of: "a1")
        _ = queue.appendEmergencyStop(of: "a1")
        var entries: [RequestQueue.Entry] = []
        while let entry = queue.popFirst(now: 10) { entries.append(entry) }
        #expect(dropped.map { $0.id } == ["c1"])
        #expect(
            entries == [
                .emergencyStop(applianceID: "a1"), .command(self.command("c2"), applianceID: "a2", .cloud),
                .background(key: "history"),
            ])
    }

    @Test func neverReturnsExpiredCommands() throws {
        var queue = RequestQueue()
        try queue.append(self.command("old", expiresAt: 50), to: "a1", by: .cloud)
        try queue.append(self.command("new", expiresAt: 60), to: "a1", by: .cloud)
        let next = queue.popFirst(now: 50)
        let expired = queue.removeExpired(now: 50)
        #expect(next == .command(self.command("new", expiresAt: 60), applianceID: "a1", .cloud))
        #expect(expired.map { $0.id } == ["old"] && queue.count == 0)
    }
}
