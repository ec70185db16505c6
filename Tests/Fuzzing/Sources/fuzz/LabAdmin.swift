import Nostr
import PikaCore

@testable import MLS
@testable import Marmot

/// An honest admin of the group of a ``CoreLab``, outside the core.
enum LabAdmin {
    case first(MarmotGroup)
    /// In the second generation it keeps all its states, the newest last, and commits on any of them.
    case second([ComponentGroup])

    /// The most states that are kept.
    private static let maximumStates = 32

    /// The MLSMessage of a plaintext, in the newest state.
    mutating func protect(_ data: [UInt8], using rng: inout RepeatableGenerator) -> [UInt8]? {
        switch self {
        case .first(var group):
            defer { self = .first(group) }
            return try? group.mls.protect(data, using: &rng)
        case .second(var states):
            defer { self = .second(states) }
            return try? states[states.count - 1].mls.protect(data, using: &rng)
        }
    }

    /// An encoded MLSMessage in the outer encryption of the newest state.
    func wrap(_ message: [UInt8], at now: UnixTime, using rng: inout RepeatableGenerator) -> Event? {
        switch self {
        case .first(let group): try? group.sealOuter(message, at: now, using: &rng)
        case .second(let states):
            states.last.flatMap { state in
                try? GroupEnvelope.seal(
                    message, as: .handshake(now: now), key: state.outerKey, nostrGroupID: state.nostrGroupID,
                    using: &rng)
            }
        }
    }

    /// Whether the admin is in the state with this epoch authenticator.
    func has(_ authenticator: Secret) -> Bool {
        switch self {
        case .first(let group): group.mls.epochAuthenticator == authenticator
        case .second(let states): states.contains { $0.mls.epochAuthenticator == authenticator }
        }
    }

    /// Sends an inner event in the state with this epoch authenticator.
    mutating func seal(
        _ rumor: UnsignedEvent, in authenticator: Secret, now: UnixTime, using rng: inout RepeatableGenerator
    ) -> Event? {
        switch self {
        case .first(var group):
            defer { self = .first(group) }
            return try? group.seal(rumor, now: now, using: &rng)
        case .second(var states):
            guard let position = states.firstIndex(where: { $0.mls.epochAuthenticator == authenticator }) else {
                return nil
            }
            defer { self = .second(states) }
            return try? states[position].seal(rumor, using: &rng).event
        }
    }

    /// Commits in the second generation. The newest states come first: `choice / 12` is the number of states to go back.
    mutating func commit(
        _ choice: UInt8, _ second: ComponentWorld, now: UnixTime, using rng: inout RepeatableGenerator
    ) -> (event: Event, welcomes: [DueWelcome])? {
        guard case .second(var states) = self else { return nil }
        let base = states[states.count - 1 - Int(choice) / 12 % states.count]
        guard let change = try? Self.change(choice % 12, of: base, second, now: now),
            let staged = try? base.staging(change, now: now, using: &rng)
        else { return nil }
        if states.count == Self.maximumStates { states.removeFirst() }
        states.append(staged.next)
        self = .second(states)
        return (staged.event, staged.welcomes)
    }

    private static func change(
        _ choice: UInt8, of base: ComponentGroup, _ second: ComponentWorld, now: UnixTime
    ) throws -> ComponentChange {
        let people = second.people
        switch choice {
        case 0, 1: return .selfUpdate(choice == 0 ? nil : people[0].device)
        case 2: return .profile(try GroupProfileState(name: base.name + "+"))
        case 3: return .remove([people[3].keys.publicKey])
        case 4: return .remove([people[2].keys.publicKey])
        case 5: return .add([try ComponentInvitee(examining: second.newcomer.event, now: now)])
        case 6:
            return .routing(
                try NostrRouting(nostrGroupID: base.nostrGroupID.next, relays: [second.relay.string]))
        case 7: return .retention(seconds: 3600)
        case 8: return .admins(try AdminPolicy([people[0].keys.publicKey, people[2].keys.publicKey]))
        case 9: return .commitDepartures
        case 10: return .disband
        default: return .avatar(try AvatarURL(url: "https://a.example/p"))
        }
    }
}

extension Bytes32 {
    /// A different value, derived from this one.
    var next: Bytes32 {
        var bytes = self.bytes
        bytes[0] &+= 1
        return Bytes32(bytes) ?? self
    }
}
