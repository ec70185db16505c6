import Nostr
import PikaCore
import TLSCodec

@testable import ConvergenceNode
@testable import MLS
@testable import Marmot

extension Target {
    /// Input from non-members in the second generation: account proofs, key packages, Welcomes, envelopes.
    static func strangers(_ second: ComponentWorld) throws -> Target {
        let (newcomer, now) = (second.newcomer, second.now)
        let leaf = newcomer.bundle.keyPackage.leafNode
        let envelopes = try second.messages.map { try second.wrap($0).json() } + [second.genuine.json()]
        return Target(
            "strangers-v2",
            [
                Reader([newcomer.device.proof.encoded]) { bytes in
                    let proof = try AccountProof(data: bytes)
                    precondition(proof.encoded == bytes, "an account proof must be canonical")
                    let proven = ProvenLeaf(
                        identity: proof.signer.bytes, signatureKey: leaf.signatureKey,
                        cipherSuite: AccountProof.cipherSuite, components: [AccountProof.id], proof: bytes)
                    precondition(
                        (try? proven.verify()) == nil || proof == newcomer.device.proof,
                        "only the account can prove its key")
                },
                Reader([newcomer.event.json()]) { json in
                    _ = try ComponentInvitee(examining: try Event(json: json), now: now)
                },
                // Signed again, as its owner can.
                Reader([newcomer.bundle.keyPackage.encoded]) { bytes in
                    var rng = RepeatableGenerator(seed: 23)
                    let package = try newcomer.bundle.resigning(try KeyPackage(tlsEncoded: bytes))
                    let event = try DeviceKey.announcement(of: package, slot: ComponentWorld.slot)
                        .draft(by: newcomer.keys.publicKey, now: now).signed(by: newcomer.keys, using: &rng)
                    let invitee = try ComponentInvitee(examining: event, now: now)
                    // An accepted package can be added to a group, or the addition is refused at once.
                    let staged = try second.groups[0].staging(.add([invitee]), now: now, using: &rng)
                    let message = try GroupMessage(staged.message, of: second.groups[0].groupID)
                    let next = try? second.groups[2].judging(message, now: nil).next
                    precondition(
                        next?.mls.epochAuthenticator == staged.next.mls.epochAuthenticator,
                        "members refuse an add that its author allows")
                },
                Reader([second.welcome.rumorJSON()]) { json in
                    let invitation = try WelcomeInvitation(try UnsignedEvent.parseRumor(json).event)
                    _ = try ComponentGroup.join(
                        invitation, with: newcomer.bundle, account: newcomer.keys.publicKey, known: KnownGroups())
                },
                Reader(envelopes) { json in
                    let event = try Event(json: json)
                    _ = try GroupEnvelope(event)
                    guard let message = try ComponentGroup.open(event, over: [second.groups[2]]) else { return }
                    let again = try? GroupMessage(message.bytes, of: second.groups[2].groupID)
                    precondition(again == message, "an opened message must be read alike again")
                },
                Reader(second.messages) { bytes in
                    _ = try ComponentGroup.open(try second.wrap(bytes), over: [second.groups[2]])
                },
                Reader([newcomer.device.stored.copyBytes()]) { bytes in
                    let key = try DeviceKey(stored: Secret(bytes))
                    precondition(key.stored == Secret(bytes), "a device's key must round-trip")
                },
                Reader(Self.updates(second)) { json in
                    let event = try UnsignedEvent.parseRumor(json).event
                    for record in try PushGossip(event).records {
                        _ = try? record.verify(in: second.groups[0].groupID, now: second.now.milliseconds)
                    }
                },
            ])
    }

    /// Push tokens of a member, in every kind of gossip.
    private static func updates(_ second: ComponentWorld) -> [[UInt8]] {
        let person = second.people[0]
        var rng = RepeatableGenerator(seed: 24)
        let fingerprint = "sha256:" + String(repeating: "ab", count: 12)
        let token = try? PushToken(bytes: [UInt8](repeating: 2, count: PushToken.count))
        func signed(_ token: PushToken?) -> [SignedPushRecord] {
            guard
                let record = try? PushRecord(
                    member: person.keys.publicKey, leaf: second.groups[0].mls.ownLeafIndex, platform: .fcm,
                    fingerprint: fingerprint, server: second.people[1].keys.publicKey,
                    relayHint: second.relay.string, token: token, ownerTime: second.now.milliseconds)
            else { return [] }
            let id = record.template(in: second.groups[0].groupID).id
            return [SignedPushRecord(record, signature: person.keys.sign(id, using: &rng))]
        }
        let gossip: [PushGossip] = [.update(signed(token)), .list(signed(token)), .removal(signed(nil))]
        return gossip.compactMap { try? $0.event(by: person.keys.publicKey, now: second.now).rumorJSON() }
    }

    /// Lines of an orchestrator for `pikabot convergence-node`.
    static func nodeRequest() -> Target {
        let commands = [
            #"{"type":"initialize","participant":"a","root":"/tmp/x","relay_urls":["wss://a.example"]}"#,
            #"{"type":"configure_peers","accounts_by_participant":{"b":"00"}}"#,
            #"{"type":"select_group","group":"g","group_id_hex":"00"}"#,
            #"{"type":"create_group","action_id":"1","group":"g","name":"n","member_accounts":["00"],"initial_admin_accounts":[]}"#,
            #"{"type":"update_group_profile","action_id":"1","name":null,"description":"d"}"#,
            #"{"type":"send_application","action_id":"1","payload":"\u0000é"}"#,
            #"{"type":"catch_up","action_id":"1","full_history":true}"#,
            #"{"type":"barrier","action_id":"1","barrier":"b"}"#, #"{"type":"shutdown"}"#,
        ]
        let lines = commands.map {
            Array(#"{"request_id":"r","protocol":"marmot-convergence-node-v1","command":\#($0)}"#.utf8)
        }
        return Target(
            "node-request",
            [
                Reader(lines) { bytes in
                    let line = String(decoding: bytes, as: UTF8.self)
                    let request = try NodeRequest(line)
                    precondition((try? NodeRequest(line)) == request, "a request must be read alike again")
                    let answer = NodeResponse(request: request.id, participant: nil, body: .failed(.notInitialized))
                    precondition(!answer.line.utf8.contains(0x0a), "a response must be one line")
                }
            ])
    }
}
