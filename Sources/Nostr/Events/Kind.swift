/// Type number of an event, 0 to 65535 (NIP-01).
public struct Kind: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral,
    CustomStringConvertible
{
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt16) { rawValue = value }

    public var description: String { String(rawValue) }

    public static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
}

extension Kind {
    public static let metadata: Kind = 0
    public static let textNote: Kind = 1
    public static let followList: Kind = 3
    public static let deletion: Kind = 5
    public static let reaction: Kind = 7
    public static let chatMessage: Kind = 9
    public static let callSignal: Kind = 10
    public static let seal: Kind = 13
    public static let keyPackage: Kind = 443
    public static let welcome: Kind = 444
    public static let groupEvent: Kind = 445
    public static let pushNotification: Kind = 446
    public static let pushTokenRequest: Kind = 447
    public static let pushTokenList: Kind = 448
    public static let pushTokenRemoval: Kind = 449
    public static let giftWrap: Kind = 1059
    /// A message with components (docs/protocol/marmot.md §8.4).
    public static let hypernote: Kind = 9467
    public static let hypernoteResponse: Kind = 9468
    public static let relayList: Kind = 10002
    public static let inboxRelays: Kind = 10050
    public static let keyPackageRelays: Kind = 10051
    public static let relayMonitor: Kind = 10166
    public static let typing: Kind = 20067
    public static let clientAuthentication: Kind = 22242
    public static let remoteSigning: Kind = 24133
    public static let blossomAuthorization: Kind = 24242
    /// Application-specific data (NIP-78).
    public static let applicationData: Kind = 30078
    public static let relayDiscovery: Kind = 30166
    public static let addressableKeyPackage: Kind = 30443
}

/// Storage classes of kinds (NIP-01, "Kinds"). Exactly one of the four applies to every kind.
extension Kind {
    /// Whether only the latest event per author and kind counts.
    public var isReplaceable: Bool { (10_000..<20_000).contains(rawValue) || rawValue == 0 || rawValue == 3 }

    /// Whether relays forward events of this kind without storing them.
    public var isEphemeral: Bool { (20_000..<30_000).contains(rawValue) }

    /// Whether only the latest event per author, kind and `d` tag counts.
    public var isAddressable: Bool { (30_000..<40_000).contains(rawValue) }

    /// Whether relays store every event of this kind. Includes the kinds that NIP-01 leaves open.
    public var isRegular: Bool { !isReplaceable && !isEphemeral && !isAddressable }
}
