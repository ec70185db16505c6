import BotTesting
import Testing

@Suite struct CallTests {
    private static let session = CallSession(
        moqURL: "https://moq.example", broadcastBase: "pika/calls", tracks: [.audio])

    @Test func anInviteIsSeenAndRejected() async throws {
        let lab = try GroupLab(seed: 70)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        let call = try #require(bob.calls.first)
        #expect(call.sender == alice.publicKey)
        guard case .invite(let session) = call.signal.body else {
            Issue.record("\(call.signal.type)")
            return
        }
        #expect(session.relayAuth.hasPrefix("capv1_") && session.relayAuth.count == 70)
        #expect(session.broadcastBase == "pika/calls/\(call.signal.callID)")
        #expect(try await bob.state().activeCall?.phase == .ringing)
        #expect(try await alice.state().activeCall?.phase == .offering)
        try await bob.perform(.rejectCall(chatID: chat, callID: call.signal.callID, reason: "busy"))
        #expect(try await alice.state().activeCall?.phase == .ended(reason: "busy"))
        #expect(try await bob.state().activeCall?.phase == .ended(reason: "busy"))
        #expect(alice.calls.map(\.signal.body) == [.reject(reason: "busy")])
        #expect(alice.calls.map(\.signal.callID) == [call.signal.callID])
        // A signal is no message to read.
        #expect(bob.heard().isEmpty)
        #expect(try await bob.messages(in: chat).isEmpty)
    }

    @Test func whoCalledMayEndIt() async throws {
        let lab = try GroupLab(seed: 71)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        try await alice.perform(.startCall(chatID: chat, session: Self.session))
        let callID = try #require(bob.calls.first?.signal.callID)
        try await alice.perform(.endCall(chatID: chat, callID: callID, reason: "user_hangup"))
        #expect(try await bob.state().activeCall?.phase == .ended(reason: "user_hangup"))
        #expect(bob.calls.map(\.signal.type) == ["call.invite", "call.end"])
    }

    @Test func anInviteOfHalfAMinuteAgoIsStale() async throws {
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
    }
}
