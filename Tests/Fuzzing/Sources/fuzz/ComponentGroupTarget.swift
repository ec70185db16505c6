import PikaCore

@testable import MLS
@testable import Marmot
@testable import Nostr

extension Target {
    /// Groups of the second generation: a member's messages, GroupContexts, Welcomes and stored forms.
    static func componentGroup(_ world: World) throws -> Target {
        var rng = RepeatableGenerator(seed: 2)
        let now = world.now
        func invite(
            _ rng: inout RepeatableGenerator
        ) throws -> (keys: KeyPair, bundle: KeyPackageBundle, invitee: ComponentInvitee) {
            let keys = KeyPair.generate(using: &rng)
            let device = try DeviceKey.generate(for: keys, now: now, using: &rng)
            let bundle = try device.keyPackage(now: now, using: &rng)
            let event = try DeviceKey.announcement(of: bundle.keyPackage, slot: "2")
                .draft(by: keys.publicKey, now: now).signed(by: keys, using: &rng)
            return (keys, bundle, try ComponentInvitee(examining: event, now: now))
        }
        let keys = KeyPair.generate(using: &rng)
        let founder = try DeviceKey.generate(for: keys, now: now, using: &rng)
        let member = try invite(&rng)
        let plan = GroupPlan(
            profile: try GroupProfileState(name: "Fuzz"), admins: try AdminPolicy([keys.publicKey]),
            routing: try NostrRouting(nostrGroupID: keys.publicKey.bytes32, relays: [world.relay.string]),
            features: .bare)
        let (group, welcomes) = try ComponentGroup.found(
            plan, by: founder, inviting: [member.invitee], now: now, using: &rng)
        guard let rumor = welcomes.first?.rumor, let welcome = Base64.decode(rumor.content) else {
            throw MarmotError(.notFound, "expected a Welcome for the invitee")
        }
        let receiver = try ComponentGroup.join(
            WelcomeInvitation(rumor), with: member.bundle, account: member.keys.publicKey, known: KnownGroups()
        ).group
        var author = group
        let message = try author.mls.protect(
            AppPayload(UnsignedEvent(pubkey: keys.publicKey, createdAt: now, kind: .chatMessage, content: "genuine"))
                .encoded, using: &rng)
        var proposer = group
        let proposal = try proposer.mls.propose(
            .appDataUpdate(AppDataUpdate(0x8001, .update([0, 0]))), using: &rng
        ).message
        let commits = [
            try group.staging(.selfUpdate(nil), now: now, using: &rng).message,
            try group.staging(.retention(seconds: 60), now: now, using: &rng).message,
            try group.staging(.disband, now: now, using: &rng).message,
        ]
        let part = receiver.part
        return Target(
            "component-group",
            [
                Reader([message, proposal] + commits) { bytes in
                    let message = try GroupMessage(bytes, of: receiver.groupID)
                    var group = receiver
                    switch message.content {
                    case .application: _ = try group.receive(message)
                    case .proposal: _ = try group.admit(message)
                    case .commit: _ = try group.judging(message, now: now)
                    }
                },
                Reader(receiver.mls.extensions.map(\.data)) { bytes in
                    for position in receiver.mls.extensions.indices {
                        var extensions = receiver.mls.extensions
                        extensions[position].data = bytes
                        _ = try? ComponentState(extensions)
                    }
                },
                Reader([welcome]) { bytes in
                    let damaged = UnsignedEvent(
                        pubkey: rumor.pubkey, createdAt: rumor.createdAt, kind: rumor.kind, tags: rumor.tags,
                        content: Base64.encode(bytes))
                    _ = try ComponentGroup.join(
                        WelcomeInvitation(damaged), with: member.bundle, account: member.keys.publicKey,
                        known: KnownGroups())
                },
                Reader([part.header.copyBytes()]) { bytes in
                    _ = try ComponentGroup(
                        StoredGroupPart(header: Secret(bytes), records: part.records), account: member.keys.publicKey)
                },
            ])
    }
}
