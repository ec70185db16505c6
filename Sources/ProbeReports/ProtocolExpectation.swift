package import BotKit
package import Nostr

/// The protocol generations in which an account must be invitable. The raw values are those of the option and the
/// setting `protocol`.
package enum ProtocolExpectation: String, Sendable, Hashable, CaseIterable {
    /// At least one generation.
    case any
    /// The first or the second generation.
    case v1, v2
    /// All generations.
    case both

    /// Whether the account must be invitable in this generation.
    package func requires(_ generation: GroupGeneration) -> Bool {
        switch self {
        case .any: false
        case .v1: generation == .v1
        case .v2: generation == .v2
        case .both: true
        }
    }

    /// Whether the expectation is met.
    ///
    /// - Parameter isInvitable: whether the account can be invited in a generation.
    package func isMet(_ isInvitable: (GroupGeneration) -> Bool) -> Bool {
        switch self {
        case .any: GroupGeneration.allCases.contains(where: isInvitable)
        case .v1: isInvitable(.v1)
        case .v2: isInvitable(.v2)
        case .both: GroupGeneration.allCases.allSatisfy(isInvitable)
        }
    }
}

extension GroupGeneration {
    /// The kind of the list that names the relays with an account's key packages of this generation.
    package var keyPackageList: Kind {
        switch self {
        case .v1: .keyPackageRelays
        case .v2: .relayList
        }
    }

    /// Whether inviters of this generation need an account's list of this kind.
    package func uses(_ list: Kind) -> Bool { list == .inboxRelays || list == self.keyPackageList }
}
