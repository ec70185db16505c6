import BotTesting
import Testing

/// Calls between accounts, limited to signals (docs/protocol/marmot.md §9.1).
@Suite struct CallTests {
    private static let session = CallSession(
        moqURL: "https://moq.example", broadcastBase: "pika/calls", tracks: [.audio])

    private static func phase(_ member: LabMember) async throws -> AppState.ActiveCall.Phase? {
        try await member.state().activeCall?.phase
    }

    private struct Pair {
        let lab: GroupLab
        let alice: LabMember
        let bob: LabMember
        let callID: String
    }

    /// Alice has called Bob, who has accepted.
    private static func talking(seed: UInt64) async throws -> Pair {
        let lab = try GroupLab(seed: seed)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        let callID = try #require(bob.calls.first?.signal.callID)
        try await bob.perform(.acceptCall(chatID: chat, callID: callID))
        for member in [alice, bob] { #expect(try await Self.phase(member) == .active) }
        return Pair(lab: lab, alice: alice, bob: bob, callID: callID)
    }

    @Test func calleeRejectsInvite() async throws {
        let lab = try GroupLab(seed: 70)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        let call = try #require(bob.calls.first)
        #expect(call.sender == alice.publicKey)
        guard case .invite(let session) = call.signal.body else {
            Issue.record("unexpected signal: \(call.signal.type)")
            return
        }
        #expect(session.relayAuth.hasPrefix("capv1_") && session.relayAuth.count == 70)
        #expect(session.broadcastBase == "pika/calls/\(call.signal.callID)")
        #expect(try await Self.phase(bob) == .ringing)
        #expect(try await Self.phase(alice) == .offering)
        #expect(await alice.core.callSession(callID: call.signal.callID) == session)
        #expect(await alice.core.callSession(callID: "other") == nil)
        try await bob.perform(.rejectCall(chatID: chat, callID: call.signal.callID, reason: "declined"))
        #expect(try await Self.phase(alice) == .ended(reason: "declined"))
        #expect(try await Self.phase(bob) == .ended(reason: "declined"))
        #expect(alice.calls.map(\.signal.body) == [.reject(reason: "declined")])
        #expect(alice.calls.map(\.signal.callID) == [call.signal.callID])
        // A signal is not a readable message.
        #expect(bob.heard().isEmpty)
        #expect(try await bob.messages(in: chat).isEmpty)
        // No snapshot holds the token.
        for member in [alice, bob] {
            #expect(!member.snapshots.joined().contains { "\($0)".contains("capv1_") })
        }
    }

    @Test func callerEndsCallBeforeAnswer() async throws {
        let lab = try GroupLab(seed: 71)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        let callID = try #require(bob.calls.first?.signal.callID)
        try await alice.perform(.endCall(chatID: chat, callID: callID, reason: "user_hangup"))
        #expect(try await Self.phase(bob) == .ended(reason: "user_hangup"))
        #expect(bob.calls.map(\.signal.type) == ["call.invite", "call.end"])
        // An ended call accepts no actions.
        for action in [
            AppAction.acceptCall(chatID: chat, callID: callID),
            .rejectCall(chatID: chat, callID: callID, reason: "late"),
            .endCall(chatID: chat, callID: callID, reason: "late"), .toggleMute,
        ] {
            guard case .failed(let error)? = try await bob.attempt(action) else {
                Issue.record("\(action) did not fail")
                continue
            }
            #expect(error.code == .unknownCall)
        }
    }

    @Test func inviteExpiresAfterThirtySeconds() async throws {
        let lab = try GroupLab(seed: 72)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        bob.crash()
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        try await lab.advance(by: .seconds(31))
        try await bob.restart()
        #expect(bob.calls.isEmpty)
        #expect(try await bob.state().activeCall == nil)
        #expect(try await Self.phase(alice) == .ended(reason: "timeout"))
    }

    @Test func unansweredCallTimesOut() async throws {
        let lab = try GroupLab(seed: 73)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        try await lab.advance(by: .milliseconds(29_900))
        #expect(try await Self.phase(alice) == .offering)
        #expect(try await Self.phase(bob) == .ringing)
        try await lab.advance(by: .milliseconds(100))
        for member in [alice, bob] {
            #expect(try await Self.phase(member) == .ended(reason: "timeout"))
            #expect(
                try await member.state().callTimeline.map(\.event) == [
                    .invited(byUs: member === alice), .ended(reason: "timeout", seconds: nil),
                ])
        }
    }

    /// Both call at the same time: each refuses the other's call, so both end (docs/protocol/marmot.md §9.3).
    @Test func glareEndsBothCalls() async throws {
        let lab = try GroupLab(seed: 74)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        alice.begin(.startCall(chatID: chat, session: Self.session))
        bob.begin(.startCall(chatID: chat, session: Self.session))
        try await lab.settle()
        for member in [alice, bob] {
            #expect(try await Self.phase(member) == .ended(reason: "busy"))
            #expect(member.calls.map(\.signal.body) == [.reject(reason: "busy")])
        }
        // Another attempt is possible.
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        #expect(try await Self.phase(bob) == .ringing)
    }

    @Test func refusesSecondCallAsBusy() async throws {
        let pair = try await Self.talking(seed: 75)
        let carol = try await pair.lab.member("carol")
        let chat = try await carol.create("two", inviting: [pair.bob])
        try await carol.perform(.startCall(chatID: chat, session: Self.session))
        #expect(try await Self.phase(carol) == .ended(reason: "busy"))
        #expect(try await Self.phase(pair.bob) == .active)
        #expect(try await pair.bob.state().activeCall?.callID == pair.callID)
        // Nor can Bob start another one.
        guard case .failed(let error)? = try await pair.bob.attempt(.startCall(chatID: chat, session: Self.session))
        else {
            Issue.record("expected the second call to be refused")
            return
        }
        #expect(error.code == .busy)
    }

    @Test func commitBeforeAcceptFailsCall() async throws {
        let lab = try GroupLab(seed: 76)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        try await alice.rename(to: "best friends")
        let callID = try #require(bob.calls.first?.signal.callID)
        guard case .failed(let error)? = try await bob.attempt(.acceptCall(chatID: chat, callID: callID)) else {
            Issue.record("expected the call to be refused")
            return
        }
        #expect(error.code == .notAllowed)
        for member in [alice, bob] { #expect(try await Self.phase(member) == .ended(reason: "auth_failed")) }
        // The next call belongs to the new epoch.
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        let next = try #require(bob.calls.last?.signal.callID)
        try await bob.perform(.acceptCall(chatID: chat, callID: next))
        for member in [alice, bob] { #expect(try await Self.phase(member) == .active) }
        // A commit during a call does not affect it.
        try await bob.say("still here")
        try await alice.rename(to: "friends for ever")
        for member in [alice, bob] { #expect(try await Self.phase(member) == .active) }
    }

    @Test func groupCallRingsOnlyNamedMember() async throws {
        let lab = try GroupLab(seed: 77)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let carol = try await lab.member("carol")
        let chat = try await alice.create("friends", inviting: [bob, carol])
        guard case .failed(let error)? = try await alice.attempt(.startCall(chatID: chat, session: Self.session)) else {
            Issue.record("expected a group call without a peer to be refused")
            return
        }
        #expect(error.code == .notAllowed)
        let stranger = try await lab.member("stranger")
        guard
            case .failed? = try await alice.attempt(
                .startCall(chatID: chat, session: Self.session, peer: stranger.publicKey))
        else {
            Issue.record("expected a call to a stranger to be refused")
            return
        }
        try await alice.perform(.startCall(chatID: chat, session: Self.session, peer: bob.publicKey))
        #expect(try await Self.phase(bob) == .ringing)
        #expect(try await carol.state().activeCall == nil)
        #expect(carol.calls.isEmpty)
        let callID = try #require(bob.calls.first?.signal.callID)
        try await bob.perform(.acceptCall(chatID: chat, callID: callID))
        for member in [alice, bob] { #expect(try await Self.phase(member) == .active) }
        // Removal from the group ends the member's call.
        try await alice.remove([bob])
        for member in [alice, bob] { #expect(try await Self.phase(member) == .ended(reason: "runtime_error")) }
    }

    @Test func policiesRefuseCalls() async throws {
        let lab = try GroupLab(seed: 78)
        let alice = try await lab.member("alice")
        let person = try await lab.member("person", calls: .app)
        let daemon = try await lab.member("daemon", calls: .daemon)
        let group = try await alice.create("friends", inviting: [person])
        try await alice.perform(.startCall(chatID: group, session: Self.session))
        #expect(try await Self.phase(alice) == .ended(reason: "unsupported_group"))
        #expect(try await person.state().activeCall == nil)
        #expect(person.calls.isEmpty)
        guard case .done(let direct?) = try await alice.perform(.createChat(peer: person.publicKey)) else { return }
        try await alice.perform(.startVideoCall(chatID: direct, session: Self.session))
        #expect(try await Self.phase(person) == .ringing)
        #expect(try await person.state().activeCall?.tracks == [.audio, .video])
        try await alice.perform(
            .endCall(
                chatID: direct, callID: try #require(try await alice.state().activeCall?.callID), reason: "enough"))
        let other = try await alice.create("machines", inviting: [daemon])
        try await alice.perform(.startVideoCall(chatID: other, session: Self.session))
        #expect(try await Self.phase(alice) == .ended(reason: "unsupported_video"))
        var data = Self.session
        data.tracks = [.data]
        try await alice.perform(.startCall(chatID: other, session: data))
        #expect(try await Self.phase(daemon) == .ringing)
    }

    @Test func restartEndsCall() async throws {
        let lab = try GroupLab(seed: 79)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        bob.crash()
        try await bob.restart()
        #expect(try await Self.phase(alice) == .ended(reason: "runtime_error"))
        #expect(try await bob.state().activeCall == nil)
        #expect(
            try await bob.state().callTimeline.map(\.event) == [
                .invited(byUs: false), .ended(reason: "runtime_error", seconds: nil),
            ])
        // Reported once.
        let count = alice.calls.count
        bob.crash()
        try await bob.restart()
        #expect(alice.calls.count == count)
        #expect(try await bob.state().callTimeline.count == 2)
    }

    @Test func restartedCallerEndsActiveCall() async throws {
        let pair = try await Self.talking(seed: 80)
        pair.alice.crash()
        try await pair.lab.advance(by: .seconds(300))
        #expect(try await Self.phase(pair.bob) == .active)
        try await pair.alice.restart()
        #expect(try await Self.phase(pair.bob) == .ended(reason: "runtime_error"))
    }

    @Test func neverSendsInviteQueuedOffline() async throws {
        let lab = try GroupLab(seed: 81)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        lab.network.takeDown(lab.relay)
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        try await lab.advance(by: .seconds(3))
        #expect(try await Self.phase(alice) == .ended(reason: "publish_failed"))
        lab.network.bringUp(lab.relay)
        try await lab.advance(by: .seconds(60))
        #expect(bob.calls.isEmpty)
        #expect(try await alice.state().outbox.pending == 0)
    }
}
