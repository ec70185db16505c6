import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct CallReducerTests {
    private static let session = CallSession(
        moqURL: "https://moq.example/anon", broadcastBase: "pika/calls", tracks: [.audio])

    @Test func anInviteRingsAndCarriesATokenThatTheOtherSideDerivesToo() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .startCall(chatID: world[0].chatID, session: Self.session), "call")
        world.settle()
        #expect(world[1].model.state.activeCall?.phase == .ringing)
        guard case .call(let call)? = world[1].delivered.last?.content, case .invite(let session) = call.signal.body,
            let group = world[1].group
        else { throw AppCoreError(.unknownChat, "no call came") }
        #expect(session.broadcastBase == "pika/calls/\(call.signal.callID)")
        // Computed here from wire §8.1, step by step.
        func part(_ text: String) -> [UInt8] { self.part(Array(text.utf8)) }
        let keys = [world[0].key.hex, world[1].key.hex].sorted()
        let id = call.signal.callID
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

    @Test func aStaleInviteDoesNotRing() throws {
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

    @Test func aRejectEndsTheCallOnBothSides() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .startCall(chatID: world[0].chatID, session: Self.session), "call")
        world.settle()
        let callID = try #require(world[1].model.state.activeCall?.callID)
        world.act(1, .rejectCall(chatID: world[1].chatID, callID: callID, reason: "declined"), "reject")
        world.settle()
        #expect(world[0].model.state.activeCall?.phase == .ended(reason: "declined"))
        #expect(world[1].model.state.activeCall?.phase == .ended(reason: "declined"))
    }
}
