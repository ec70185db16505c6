import Nostr
import Testing

@testable import BotRuntime
@testable import PikaCore

struct HealthExaminationTests {
    private let relay: RelayURL
    private let stranger: RelayURL
    private let now: UnixTime = 1_800_000_000

    init() throws {
        relay = try RelayURL("wss://relay.example:4848/with/token")
        stranger = try RelayURL("wss://stranger.example")
    }

    /// The vitals of a healthy account.
    private func vitals(_ change: (inout CoreVitals) -> Void = { _ in }) -> CoreVitals {
        var state = AppState()
        state.hasPublishedKeyPackage = true
        state.relays = [
            .init(url: relay, connection: .connected, isCaughtUp: true),
            // Named by an inviter.
            .init(url: stranger, connection: .disconnected, isCaughtUp: false),
        ]
        var vitals = CoreVitals(
            takenAt: now, state: state, inboxDepth: 0, oldestInboxAt: nil, outboxDepth: 0, oldestOutboxAt: nil,
            deadLetters: 0, groupCount: 1, announcesKeyPackage: true, keyPackageEndsAt: now + 30 * 86_400)
        change(&vitals)
        return vitals
    }

    private func failing(
        canary: CanaryResults.Entry? = nil, _ change: (inout CoreVitals) -> Void = { _ in }
    ) -> [String: String] {
        let entry = canary ?? CanaryResults.Entry(outcome: .returned(milliseconds: 12), at: now.milliseconds - 1000)
        let examination = HealthExamination(
            relays: ConfiguredRelays([relay]), canary: (interval: 60_000, budget: 10_000))
        let checks = examination.checks(vitals(change), { _ in entry }, now: now.milliseconds)
        #expect(Set(checks.map(\.check)) == ["store", "relay", "canary", "inbox", "outbox", "key_package"])
        #expect(checks.allSatisfy { $0.relay == nil || $0.relay == "relay.example:4848" })
        return Dictionary(uniqueKeysWithValues: checks.filter { !$0.ok }.map { ($0.check, $0.message) })
    }

    @Test func healthyAccountIgnoresForeignRelays() {
        #expect(failing() == [:])
    }

    @Test func relayMustBeConnectedAndCaughtUp() {
        #expect(
            failing { $0.state.relays[0].isCaughtUp = false }
                == ["relay": "connected, still catching up"])
        #expect(
            failing { $0.state.relays[0].connection = .retrying(attempt: 3, reason: "refused by wss://x") }
                == ["relay": "not connected after 3 attempts"])
        #expect(failing { $0.state.relays.removeAll() } == ["relay": "not connected"])
    }

    @Test func reportsHangingHandlers() {
        func check(_ hanging: [String: Int], areServed: Bool = true) -> String? {
            let check = HealthExamination.bots(areServed: areServed, hanging: hanging)
            #expect(check.check == "bots")
            return check.ok ? nil : check.message
        }
        #expect(check([:]) == nil)
        #expect(check(["helper": 0]) == nil)
        #expect(check(["scribe": 1, "helper": 16]) == "handlers running past their timeout: helper: 16, scribe: 1")
        #expect(check([:], areServed: false) == "the dispatcher does not answer")
    }

    @Test func checksNewRelaysAfterReload() throws {
        let relays = ConfiguredRelays([relay])
        let examination = HealthExamination(relays: relays, canary: nil)
        func looked() -> [String?] {
            examination.checks(vitals(), { _ in nil }, now: now.milliseconds).filter { $0.check == "relay" }
                .map(\.relay)
        }
        #expect(looked() == ["relay.example:4848"])
        relays.set([try RelayURL("wss://other.example"), try RelayURL("wss://third.example")])
        #expect(looked() == ["other.example", "third.example"])
    }

    @Test func newestCanaryMustBeRecent() {
        #expect(
            failing(canary: .init(outcome: .failed(.silent, detail: "x"), at: now.milliseconds))
                == ["canary": "did not come back: silent"])
        #expect(
            failing(canary: .init(outcome: .returned(milliseconds: 1), at: now.milliseconds - 80_000)) == [:])
        #expect(
            failing(canary: .init(outcome: .returned(milliseconds: 1), at: now.milliseconds - 80_001))
                == ["canary": "no canary has been sent recently"])
        let examination = HealthExamination(
            relays: ConfiguredRelays([relay]), canary: (interval: 60_000, budget: 10_000))
        #expect(
            examination.checks(vitals(), { _ in nil }, now: now.milliseconds).filter { !$0.ok }.map(\.message)
                == ["no canary has come back yet"])
        let without = HealthExamination(relays: ConfiguredRelays([relay]), canary: nil)
        #expect(!without.checks(vitals(), { _ in nil }, now: now.milliseconds).contains { $0.check == "canary" })
    }

    @Test func limitsWaitingTimes() {
        #expect(failing { $0.oldestInboxAt = now - 120 } == [:])
        #expect(
            failing { $0.oldestInboxAt = now - 121 }
                == ["inbox": "the oldest event has been waiting for the bots for 121 s; the limit is 120 s"])
        #expect(
            failing { $0.oldestOutboxAt = now - 500 }
                == ["outbox": "the oldest event has been waiting for a relay for 500 s; the limit is 120 s"])
    }

    @Test func keyPackageMustBePublishedAndValid() {
        #expect(
            failing { $0.keyPackageEndsAt = nil }
                == ["key_package": "no key package is announced, so the account cannot be invited"])
        #expect(
            failing { $0.state.hasPublishedKeyPackage = false }
                == ["key_package": "no relay has acknowledged the key package since the start"])
        #expect(failing { $0.keyPackageEndsAt = now + 7 * 86_400 } == [:])
        #expect(
            failing { $0.keyPackageEndsAt = now + 7 * 86_400 - 1 }
                == ["key_package": "expires in 167 h and was not replaced"])
    }
}
