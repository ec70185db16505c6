import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Random changes of a group by members that restart at any moment, before or after their changes are stored.
@Suite struct ConvergingRunTests {
    private static let members = 0...3

    @Test(arguments: 1...4) func membersAgreeAcrossRestarts(seed: UInt64) throws {
        var lab = try ConvergingLab(4, admins: 2, seed: seed)
        var choices = SplitMix64(seed: seed &+ 100)
        for round in 0..<5 {
            var events: [Event] = []
            for step in 0..<8 {
                let member = Int.random(in: Self.members, using: &choices)
                switch Int.random(in: 0...5, using: &choices) {
                case 0, 1:
                    events.append(try lab.say("\(round).\(step)", by: member))
                    lab.store(member)
                case 2:
                    if let event = try self.commit(&lab, "\(round).\(step)", by: member, &choices) {
                        events.append(event)
                    }
                case 3:
                    if let event = events.randomElement(using: &choices) { try lab.deliver(event, to: member) }
                    if Bool.random(using: &choices) { lab.store(member) }
                case 4: lab.advance(Int64.random(in: 100...900, using: &choices))
                default: try lab.restart(member)
                }
            }
            try self.settle(&lab, events, &choices)
        }
    }

    /// Makes a commit that relays get, whether or not its author learns that; nil if none may be made now.
    private func commit(
        _ lab: inout ConvergingLab, _ name: String, by member: Int, _ choices: inout SplitMix64
    ) throws -> Event? {
        guard lab[member].group.convergence.mayCommit else { return nil }
        let change: ComponentChange = member < 2 ? .profile(try GroupProfileState(name: name)) : .selfUpdate(nil)
        let event = try lab.stage(change, by: member)
        lab.store(member)
        if Bool.random(using: &choices) { try lab.restart(member) }
        switch Int.random(in: 0...2, using: &choices) {
        case 0: lab.confirm(member)
        case 1: try lab.deliver(event, to: member)
        default: lab.abandon(member)
        }
        lab.store(member)
        return event
    }

    /// Delivers all events to all members until no state changes, and expects agreement.
    private func settle(_ lab: inout ConvergingLab, _ events: [Event], _ choices: inout SplitMix64) throws {
        for _ in 0..<8 {
            for event in events { for member in Self.members { try lab.deliver(event, to: member) } }
            for member in Self.members { lab.store(member) }
            try lab.restart(Int.random(in: Self.members, using: &choices))
            lab.advance(1500)
        }
        let tips = Set(lab.members.map { $0.group.convergence.tipPoint })
        let states = Set(lab.members.map { $0.group.convergence.status })
        #expect(tips.count == 1 && states == [.settled])
        for member in Self.members { try lab.expectStored(member) }
    }
}
