import Foundation
import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct CallReducerTests {
    private static let session = CallSession(
        moqURL: "https://moq.example/anon", broadcastBase: "pika/calls", tracks: [.audio])

    /// Returns a world in which the first account has called the second, whose state is ringing.
    private static func ringing(_ count: Int = 2) throws -> (world: ReducerWorld, callID: String) {
        var world = try ReducerWorld.group(count)
        world.act(0, .startCall(chatID: world[0].chatID, session: self.session, peer: world[1].key), "call")
        world.settle()
        #expect(world[1].model.state.activeCall?.phase == .ringing)
        return (world, try #require(world[0].model.state.activeCall?.callID))
    }

    /// Seals arbitrary content as a call signal, as a member with modified software could.
    private static func forge(
        _ world: inout ReducerWorld, from sender: Int, _ content: String, createdAt: UnixTime? = nil
    ) throws -> Event {
        let groupID = try #require(world[sender].group?.groupID)
        let rumor = UnsignedEvent(
            pubkey: world[sender].key, createdAt: createdAt ?? world.time, kind: .callSignal, tags: [],
            content: content)
        let now = world.time
        var random = world.random
        let event = try world.accounts[sender].model.groups[first: groupID]?.seal(rumor, now: now, using: &random)
        world.random = random
        return try #require(event)
    }

    private static func signal(_ callID: String, _ body: CallSignal.Body) -> String {
        CallSignal(callID: callID, timestampMilliseconds: 1, body: body).content
    }

    // MARK: Invites

    @Test func inviteRingsWithDerivableToken() throws {
        let (world, id) = try Self.ringing()
        guard case .call(let call)? = world[1].delivered.last?.content, case .invite(let session) = call.signal.body,
            let group = world[1].group
        else { throw AppCoreError(.unknownChat, "no call was delivered") }
        #expect(call.signal.callID == id)
        #expect(session.broadcastBase == "pika/calls/\(id)")
        // Computed here from docs/protocol/marmot.md §9.2, step by step.
        func part(_ text: String) -> [UInt8] { self.part(Array(text.utf8)) }
        let keys = [world[0].key.hex, world[1].key.hex].sorted()
        let seed = "pika-call-media-v1|\(id)|\(session.moqURL)|\(session.broadcastBase)|\(keys[0])|\(keys[1])"
        let hash = SHA256Derivation.digest(part("pika.call.relay.auth.seed.v1") + part(seed) + part(id))
        var info = Array("mip04-v2".utf8) + [0] + hash + [0] + Array("application/pika-call-auth".utf8) + [0]
        info += Array("call/\(id)/relay-auth".utf8) + [0] + Array("key".utf8)
        let key = SHA256Derivation.expand(EncryptedMedia.secret(group), info: info, length: 32).copyBytes()
        let token = SHA256Derivation.digest(
            part("pika.call.relay.auth.token.v1") + self.part(key) + part(id) + part(session.moqURL)
                + part(session.broadcastBase))
        #expect(session.relayAuth == "capv1_" + Hex.encode(token))
    }

    private func part(_ bytes: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    @Test func startsCallInOneTransaction() throws {
        var world = try ReducerWorld.group(2)
        let before = world[0].model.state
        let step = world.act(0, .startCall(chatID: world[0].chatID, session: Self.session), "call")
        #expect(step.queued == [.callSignal])
        let memos = step.changes.compactMap { if case .putMemo(let name, .some) = $0 { name.kind } else { nil } }
        #expect(memos.contains(.liveCall) && memos.contains(.callTimeline))
        let id = try #require(world[0].model.state.activeCall?.callID)
        #expect(step.effects.contains(.wake(.call(id: id), atMilliseconds: world.now + 30_000)))
        #expect(step.effects.contains { if case .publish = $0 { true } else { false } })
        #expect(world[0].outcomes["call"] == .done(chatID: nil))
        var expected = before
        expected.activeCall = .init(
            callID: id, chatID: world[0].chatID, peer: world[1].key, isOutgoing: true, phase: .offering,
            isVideo: false, isMuted: false, isCameraOn: false, startedAt: ReducerWorld.start, connectedAt: nil,
            tracks: [.audio], statistics: CallStatistics())
        expected.callTimeline = [
            .init(
                callID: id, chatID: world[0].chatID, peer: world[1].key, at: ReducerWorld.start,
                event: .invited(byUs: true))
        ]
        expected.outbox.pending = 1
        #expect(world[0].model.state == expected)
        // A version 4 UUID of the RFC 9562 variant.
        let digits = Array(id)
        #expect(digits.count == 36 && digits[14] == "4" && "89ab".contains(digits[19]))
    }

    @Test func explicitCallIDKeepsGivenSession() throws {
        var world = try ReducerWorld.group(2)
        var session = Self.session
        session.broadcastBase = "pika/pty/x"
        session.relayAuth = "capv1_" + String(repeating: "0", count: 64)
        world.act(0, .startCall(chatID: world[0].chatID, session: session, callID: "x"), "call")
        #expect(world[0].model.calls.live?.id == "x")
        #expect(world[0].model.calls.live?.session == session)
        // The token does not belong to the epoch, so the peer rejects the call.
        world.settle()
        #expect(world[0].model.state.activeCall?.phase == .ended(reason: "auth_failed"))
        #expect(world[1].model.state.activeCall == nil)
        // Empty fields come from the call policy, which has no address here.
        let empty = CallSession(moqURL: "", broadcastBase: "", tracks: [])
        world.act(0, .startCall(chatID: world[0].chatID, session: empty), "none")
        #expect(world[0].outcomes["none"]?.failure == .badAddress)
    }

    @Test func staleInviteDoesNotRing() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .startCall(chatID: world[0].chatID, session: Self.session), "call")
        let event = try #require(world[0].publishing.last?.event)
        world.now += 31_000
        let inbox = world[1].durable.state.inbox.count
        world.receive(1, event)
        #expect(world[1].model.state.activeCall == nil)
        #expect(world[1].durable.state.inbox.count == inbox)
        #expect(world[1].notes.contains { if case .refused("stale_call", _) = $0 { true } else { false } })
    }

    @Test func toleratesExtremeInviteTimes() throws {
        var world = try ReducerWorld.group(2)
        let invite = Self.signal("x", .invite(Self.session))
        world.receive(1, try Self.forge(&world, from: 0, invite, createdAt: .distantPast))
        world.receive(1, try Self.forge(&world, from: 0, invite, createdAt: 0))
        #expect(world[1].model.calls.state == .idle)
        world.receive(1, try Self.forge(&world, from: 0, invite, createdAt: .distantFuture))
        #expect(world[1].model.calls.live == nil)
    }

    @Test func refusesReusedCallID() throws {
        var world = try ReducerWorld.group(2)
        let chat = world[0].chatID
        world.act(0, .startCall(chatID: chat, session: Self.session, callID: "x"), "call")
        world.settle()
        world.act(0, .endCall(chatID: chat, callID: "x", reason: "user_hangup"), "end")
        world.settle()
        #expect(world[1].model.calls.live == nil)
        world.act(0, .startCall(chatID: chat, session: Self.session, callID: "x"), "again")
        #expect(world[0].outcomes["again"]?.failure == .notAllowed)
        for id in ["", String(repeating: "x", count: 65)] {
            world.act(0, .startCall(chatID: chat, session: Self.session, callID: id), "length")
            #expect(world[0].outcomes["length"]?.failure == .notAllowed)
        }
        // A peer that reuses an id is refused, too.
        let group = try #require(world[0].group)
        var session = Self.session
        session.relayAuth = CallAuthorization.token(
            session, callID: "x", between: world[0].model.account.publicKey, and: world[1].model.account.publicKey,
            in: .first(group))
        world.receive(
            1, try Self.forge(&world, from: 0, Self.signal("x", .invite(session)), createdAt: world.time))
        #expect(world[1].model.calls.live == nil)
        #expect(world[1].notes.contains { if case .refused("repeated_call", _) = $0 { true } else { false } })
    }

    @Test(arguments: ["call_id", "moq_url", "broadcast_base", "relay_auth", "name", "codec"])
    func refusesOverlongSignalFields(field: String) throws {
        let signal = CallSignal(callID: "x", timestampMilliseconds: 1, body: .invite(Self.session)).content
        #expect(CallSignal(content: signal) != nil)
        let value = try #require(signal.range(of: "\"\(field)\":\""))
        let long = signal.replacingCharacters(
            in: value, with: "\"\(field)\":\"" + String(repeating: "y", count: 3_000))
        #expect(CallSignal(content: long) == nil)
    }

    @Test func ignoresMalformedSignals() throws {
        var (world, id) = try Self.ringing()
        let track = #"{"name":"a","codec":"opus","sample_rate":1,"channels":1,"frame_ms":1}"#
        let many = Array(repeating: track, count: 17).joined(separator: ",")
        let session = #"{"moq_url":"https://m","broadcast_base":"b","relay_auth":"","tracks":[\#(many)]}"#
        let end = #""call_id":"\#(id)","ts_ms":1,"body":{"reason":"x"}}"#
        for content in [
            "", "[]", #"{"v":2,"ns":"pika.call","type":"call.end","# + end,
            #"{"v":1,"ns":"other","type":"call.end","# + end, #"{"v":1,"ns":"pika.call","type":"call.ring","# + end,
            #"{"v":1,"ns":"pika.call","type":"call.end","call_id":"\#(id)","body":{"reason":"x"}}"#,
            #"{"v":1,"ns":"pika.call","type":"call.end","call_id":"\#(id)","ts_ms":1,"body":{}}"#,
            #"{"v":1,"ns":"pika.call","type":"call.invite","call_id":"\#(id)","ts_ms":1,"body":\#(session)}"#,
        ] {
            world.receive(1, try Self.forge(&world, from: 0, content))
            #expect(world[1].model.state.activeCall?.phase == .ringing, "\(content)")
        }
        #expect(world[1].model.delivery.queue.signals.isEmpty, "malformed signals must not be answered")
    }

    // MARK: Senders

    @Test func ignoresSignalsOfUninvolvedMembers() throws {
        var (world, id) = try Self.ringing(3)
        #expect(world[2].model.state.activeCall == nil)
        let session = try #require(world[0].model.calls.live?.session)
        for body in [CallSignal.Body.end(reason: "mine"), .reject(reason: "mine"), .accept(session)] {
            let event = try Self.forge(&world, from: 2, Self.signal(id, body))
            for reader in [0, 1] { world.receive(reader, event) }
            #expect(world[0].model.state.activeCall?.phase == .offering)
            #expect(world[1].model.state.activeCall?.phase == .ringing)
        }
        #expect(!world[0].delivered.contains { if case .call = $0.content { true } else { false } })
        world.receive(0, try Self.forge(&world, from: 1, Self.signal("other", .end(reason: "which?"))))
        #expect(world[0].model.state.activeCall?.phase == .offering)
        world.receive(0, try Self.forge(&world, from: 1, Self.signal(id, .end(reason: "because"))))
        #expect(world[0].model.state.activeCall?.phase == .ended(reason: "because"))
    }

    @Test func truncatesReasons() throws {
        var (world, id) = try Self.ringing()
        let reason = "no\u{0}\u{1B}[31m" + String(repeating: "e", count: 5000)
        world.receive(0, try Self.forge(&world, from: 1, Self.signal(id, .reject(reason: reason))))
        guard case .ended(let shown)? = world[0].model.state.activeCall?.phase else {
            Issue.record("expected the call to have ended")
            return
        }
        #expect(shown == "no[31m" + String(repeating: "e", count: 94))
    }

    @Test func acceptRequiresInviteToken() throws {
        for change in 0..<3 {
            var (world, id) = try Self.ringing()
            var session = try #require(world[0].model.calls.live?.session)
            if change == 0 { session.relayAuth = "capv1_" + String(repeating: "0", count: 64) }
            if change == 1 { session.relayAuth = "" }
            // Other fields are ignored: media uses the address of the invite.
            if change == 2 { session.moqURL = "https://elsewhere.example" }
            world.receive(0, try Self.forge(&world, from: 1, Self.signal(id, .accept(session))))
            let isAccepted = change == 2
            let phase = world[0].model.state.activeCall?.phase
            #expect(phase == (isAccepted ? .connecting : .ended(reason: "auth_failed")))
            let plans = world[0].due.compactMap {
                if case .startCallMedia(let plan) = $0 { plan.session.moqURL } else { nil }
            }
            #expect(plans == (isAccepted ? ["https://moq.example/anon"] : []))
        }
    }

    @Test func refusesAcceptOfEarlierEpoch() throws {
        var (world, id) = try Self.ringing()
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "later"), "rename")
        world.settle(offline: [1])
        world.act(1, .acceptCall(chatID: world[1].chatID, callID: id), "accept")
        #expect(world[1].outcomes["accept"] == .done(chatID: nil))
        #expect(world[1].model.state.activeCall?.phase == .connecting)
        world.settle()
        #expect(world[0].model.state.activeCall?.phase == .ended(reason: "auth_failed"))
    }

    @Test func bothSidesDeriveSameMediaPlan() throws {
        var (world, id) = try Self.ringing()
        world.act(1, .toggleMute, "mute")
        world.act(1, .acceptCall(chatID: world[1].chatID, callID: id), "accept")
        let accepted = world[1].due
        world.settle()
        func plan(_ effects: [AppEffect]) -> CallMediaPlan? {
            effects.lazy.compactMap { if case .startCallMedia(let plan) = $0 { plan } else { nil } }.first
        }
        let callee = try #require(plan(accepted))
        #expect(callee.isMuted)
        // The caller's plan was executed already, so it is derived again from the call.
        let call = try #require(world[0].model.calls.live)
        let caller = CallMediaPlan(call, in: .first(try #require(world[0].group)), account: world[0].key)
        #expect(caller.account == callee.peer && caller.peer == callee.account)
        #expect(caller.secret == callee.secret && caller.epoch == callee.epoch)
        #expect(caller.session.broadcastBase == callee.session.broadcastBase && caller.callID == callee.callID)
        // Connected, measured, ended.
        for index in [0, 1] { world.reduce(index, .callMedia(.connected(callID: id))) }
        #expect(world[0].model.state.activeCall?.phase == .active)
        var statistics = CallStatistics()
        statistics.sent = 7
        world.reduce(0, .callMedia(.statistics(callID: "other", CallStatistics())))
        world.reduce(0, .callMedia(.statistics(callID: id, statistics)))
        #expect(world[0].model.state.activeCall?.statistics == statistics)
        let step = world.act(0, .endCall(chatID: world[0].chatID, callID: id, reason: "user_hangup"))
        #expect(step.effects.contains(.stopCallMedia(callID: id)))
        #expect(
            step.changes.contains { if case .putMemo(let name, nil) = $0 { name.kind == .liveCall } else { false } })
        world.reduce(0, .callMedia(.failed(callID: id, reason: "late news")))
        #expect(world[0].model.state.toast == nil)
    }

    // MARK: Delivery

    @Test func triesSignalFourTimes() throws {
        var world = try ReducerWorld.group(2)
        let began = world.now
        world.act(0, .startCall(chatID: world[0].chatID, session: Self.session), "call")
        for delay: Int64 in [250, 500, 1000] {
            let row = try #require(world[0].publishing.last?.row)
            world.accounts[0].due = []
            world.answer(0, row, .unreachable("away"))
            #expect(world[0].due.contains(.wake(.outbox, atMilliseconds: world.now + delay)))
            world.now += delay
            world.reduce(0, .timer(.outbox))
        }
        #expect(world.now == began + 1750)
        let row = try #require(world[0].publishing.last?.row)
        world.answer(0, row, .unreachable("away"))
        #expect(world[0].model.state.activeCall?.phase == .ended(reason: "publish_failed"))
        #expect(world[0].model.state.toast != nil)
        #expect(world[0].model.delivery.queue.count == 0)
        #expect(!world[0].durable.state.outbox.contains { $0.purpose == .callSignal })
    }

    @Test func retriesSignalOnlyAfterAuthRequired() throws {
        for (answer, isRepeated) in [
            ("auth-required: who?", true), ("rate-limited: wait", false), ("blocked: no", false),
        ] {
            var world = try ReducerWorld.group(2)
            world.act(0, .startCall(chatID: world[0].chatID, session: Self.session), "call")
            world.answer(0, try #require(world[0].publishing.last?.row), .refused(answer))
            let phase = world[0].model.state.activeCall?.phase
            #expect(phase == (isRepeated ? .offering : .ended(reason: "publish_failed")), "\(answer)")
        }
    }

    @Test func dropsSignalAfterThirtySeconds() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .startCall(chatID: world[0].chatID, session: Self.session), "call")
        let invite = try #require(world[0].publishing.last)
        world.accounts[0].due = []
        world.answer(0, invite.row, .unreachable("away"))
        world.now += 31_000
        let step = world.reduce(0, .timer(.outbox))
        #expect(world[0].publishing.isEmpty, "a call unknown to the peer must send nothing")
        #expect(world[0].model.state.activeCall?.phase == .ended(reason: "publish_failed"))
        #expect(step.effects.contains { if case .report(_, _, .failed) = $0 { true } else { false } })
        // It is not published after a restart either.
        try world.restart(0)
        world.settle()
        #expect(!world.relayed.contains { $0.id == invite.event.id })
    }

    @Test func oneRelaySettlesSignal() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .startCall(chatID: world[0].chatID, session: Self.session), "call")
        world.accept(0, try #require(world[0].publishing.last?.row))
        #expect(world[0].model.delivery.queue.count == 0 && world[0].model.calls.hasPendingSignals == false)
        #expect(!world[0].durable.state.outbox.contains { $0.purpose == .callSignal })
    }

    // MARK: Persistence

    @Test func timelineIsDurableAndBounded() throws {
        var world = try ReducerWorld.group(2)
        for number in 0..<60 {
            world.now += 1000
            let chat = world[0].chatID
            world.act(0, .startCall(chatID: chat, session: Self.session, callID: "call-\(number)"), "call")
            world.settle()
            world.act(0, .endCall(chatID: chat, callID: "call-\(number)", reason: "user_hangup"), "end")
            world.settle()
        }
        let timeline = world[0].model.state.callTimeline
        #expect(timeline.count == 100)
        #expect(timeline.last?.event == .ended(reason: "user_hangup", seconds: nil))
        #expect(timeline.last?.callID == "call-59" && timeline.first?.callID == "call-10")
        try world.restart(0)
        #expect(world[0].model.state.callTimeline == timeline)
        for kind in [MemoName.Kind.callTimeline, .liveCall] {
            var stored = world[0].durable.state
            stored.memos[MemoName(kind, [])] = Secret(Array("{}".utf8))
            #expect(
                #expect(throws: AppCoreError.self) {
                    try CoreModel(account: world[0].keys, configuration: world[0].configuration, stored: stored)
                }?.code == .corruptState)
        }
    }

    @Test func storedCallRecordsRoundTrip() {
        var random = SplitMix64(seed: 3)
        let key = KeyPair.generate(using: &random).publicKey
        for isAnswered in [true, false] {
            let record = LiveCallRecord(
                callID: "x", groupID: [1, 2], peer: key, startedAt: 5, isAnswered: isAnswered)
            #expect(LiveCallRecord(memo: record.memo) == record)
        }
        let events: [AppState.CallTimelineEntry.Event] = [
            .invited(byUs: true), .invited(byUs: false), .connected, .ended(reason: "x", seconds: 5),
            .ended(reason: "", seconds: nil),
        ]
        let entries = events.map {
            AppState.CallTimelineEntry(callID: "x", chatID: "c", peer: key, at: 9, event: $0)
        }
        #expect(CallTimeline.entries(memo: CallTimeline.memo(entries)) == entries)
    }

    @Test func restartEndsCallAndNotifiesWaitingPeer() throws {
        for (pause, isAnswered, isNotified) in [(5, false, true), (31, false, false), (3600, true, true)] {
            var (world, id) = try Self.ringing()
            if isAnswered {
                world.act(1, .acceptCall(chatID: world[1].chatID, callID: id), "accept")
                world.settle()
            }
            world.now += Int64(pause) * 1000
            try world.restart(1)
            let signals = world[1].publishing.compactMap { world[1].model.delivery.queue.row($0.row)?.purpose }
            #expect(signals.filter { $0 == .callSignal }.count == (isNotified ? 1 : 0))
            #expect(world[1].model.state.activeCall == nil)
            #expect(world[1].model.state.callTimeline.last?.event == .ended(reason: "runtime_error", seconds: nil))
            #expect(world[1].durable.state.memos[MemoName(.liveCall, [])] == nil)
            world.settle()
            if isNotified { #expect(world[0].model.state.activeCall?.phase == .ended(reason: "runtime_error")) }
        }
    }
}
