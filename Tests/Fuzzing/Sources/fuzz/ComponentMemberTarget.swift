import Nostr
import PikaCore
import TLSCodec

@testable import MLS
@testable import Marmot

extension Target {
    /// Hostile members of the second generation, with all keys: changes of any content under valid signatures and tags.
    static func componentMember(_ second: ComponentWorld) throws -> Target {
        let entries = try AppDataDictionary(in: second.groups[0].mls.extensions)?.entries ?? []
        let updates = entries.flatMap { entry in
            [AppDataUpdate(entry.component, .update(entry.data)), AppDataUpdate(entry.component, .remove)]
        }
        let proposals = ComponentWorld.proposals + [.add(second.newcomer.bundle.keyPackage)]
        return Target(
            "member-v2",
            [
                // An admin changes a component.
                Reader(updates.map { $0.tlsEncoded() }) { bytes in
                    var request = CommitRequest()
                    request.appDataUpdates = [try AppDataUpdate(tlsEncoded: bytes)]
                    try second.commit(request)
                },
                // A member proposes anything; others keep it or not, and commit the departures among it.
                Reader(proposals.map { $0.tlsEncoded() }) { bytes in
                    var rng = RepeatableGenerator(seed: 28)
                    var mls = second.groups[3].mls
                    let proposed = try mls.propose(try Proposal(tlsEncoded: bytes), using: &rng).message
                    let message = try GroupMessage(proposed, of: second.groups[3].groupID)
                    var (admin, member) = (second.groups[1], second.groups[2])
                    _ = try admin.admit(message)
                    _ = try member.admit(message)
                    let staged = try admin.staging(.commitDepartures, now: second.now, using: &rng)
                    let commit = try GroupMessage(staged.message, of: admin.groupID)
                    let next = try? member.judging(commit, now: nil).next
                    precondition(
                        next?.mls.epochAuthenticator == staged.next.mls.epochAuthenticator,
                        "members refuse a departure that its author may commit")
                },
                // The plaintext of a message.
                Reader([AppPayload(second.rumor).encoded]) { bytes in
                    var rng = RepeatableGenerator(seed: 29)
                    var mls = second.groups[0].mls
                    let message = try GroupMessage(
                        mls.protect(bytes, using: &rng), of: second.groups[0].groupID)
                    var member = second.groups[2]
                    let received = try member.receive(message)
                    precondition(received.sender == second.people[0].keys.publicKey, "MLS authenticates the sender")
                    _ = try AppContent(received.payload.get().event)
                },
            ])
    }
}

extension ComponentWorld {
    /// Commits as an admin that keeps no rule of Marmot. A member that accepts the commit must be able to operate, in a
    /// group that still has an admin.
    fileprivate func commit(_ request: CommitRequest) throws {
        var rng = RepeatableGenerator(seed: 30)
        var mls = self.groups[0].mls
        let pending = try mls.commit(request, using: &rng)
        let message = try GroupMessage(pending.message, of: self.groups[0].groupID)
        guard var next = try self.groups[2].judging(message, now: nil).next else { return }
        precondition(next.mls.epochAuthenticator == pending.next.epochAuthenticator, "members must get the same state")
        precondition(next.admins.contains { next.members.contains($0) }, "an admin must remain")
        let rumor = UnsignedEvent(
            pubkey: self.people[2].keys.publicKey, createdAt: self.now, kind: .chatMessage, content: "on")
        if next.lifecycle != .disbanded { _ = try next.seal(rumor, using: &rng) }
        _ = try? next.staging(.selfUpdate(nil), now: self.now, using: &rng)
    }
}
