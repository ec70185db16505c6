import LiveTesting
import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

/// Damaged input is refused without a trap, and changes nothing.
struct HostileGroupInputTests {
    @Test func damagedMessagesChangeNothing() throws {
        var lab = try ComponentLab(3)
        let departure = try lab.groups[2].leave(now: lab.now, using: &lab.rng)
        let sealed = try lab.say("hello", from: 1)
        let inputs = [
            try lab.open(sealed.event, at: 0).bytes, try lab.stage(.selfUpdate(nil), by: 1).message,
            try lab.open(departure.event, at: 0).bytes,
        ]
        var group = lab.groups[0]
        let before = group.part
        var mutator = Mutator(seed: 11)
        var decoded = 0
        for _ in 0..<400 {
            for input in inputs {
                guard let message = try? GroupMessage(mutator.damage(input), of: group.groupID) else { continue }
                decoded += 1
                switch message.content {
                case .application: _ = try? group.receive(message)
                case .proposal: _ = try? group.admit(message)
                case .commit: _ = try? group.judging(message, now: lab.now)
                }
            }
        }
        #expect(decoded > 0)
        #expect(group.part.header == before.header && group.part.records == before.records)
    }

    @Test func damagedEventsNeverTrap() throws {
        var lab = try ComponentLab(2)
        let event = try lab.say("hello", from: 1).event
        var mutator = Mutator(seed: 12)
        for _ in 0..<400 {
            let damaged = mutator.damage(event)
            guard let message = (try? ComponentGroup.open(damaged, over: lab.groups)) ?? nil else { continue }
            _ = try? lab.groups[0].receive(message)
        }
    }

    @Test func damagedContextsNeverTrap() throws {
        let lab = try ComponentLab(2)
        var mutator = Mutator(seed: 13)
        for _ in 0..<1000 {
            var extensions = lab.groups[0].mls.extensions
            let position = Int.random(in: 0..<extensions.count, using: &mutator.rng)
            extensions[position].data = mutator.damage(extensions[position].data)
            _ = try? ComponentState(extensions)
        }
    }

    @Test func damagedWelcomesNeverTrap() throws {
        var lab = try ComponentLab(2)
        let newcomer = try lab.newcomer()
        let welcome = try #require(try lab.stage(.add([newcomer.invitee]), by: 0).welcomes.first)
        var mutator = Mutator(seed: 14)
        for _ in 0..<200 {
            let rumor = UnsignedEvent(
                pubkey: welcome.rumor.pubkey, createdAt: welcome.rumor.createdAt, kind: welcome.rumor.kind,
                tags: welcome.rumor.tags, content: mutator.damage(base64: welcome.rumor.content))
            guard let invitation = try? WelcomeInvitation(rumor) else { continue }
            _ = try? ComponentGroup.join(
                invitation, with: newcomer.bundle, account: newcomer.keys.publicKey, known: KnownGroups())
        }
    }
}
