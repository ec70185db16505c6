package import MLS

/// Id of a chat: the MLS group id of its group in lower-case hexadecimal digits, which never changes.
///
/// Actions and settings also accept the group's `nostrGroupID` in its place, if no other group claims it.
public struct ChatID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The text, as in settings, stored values, JSON and metadata.
    public let rawValue: String

    /// Creates an id from a text that is not validated. Actions refuse an id that names no chat.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Parses a user's reference, an MLS group id or a `nostrGroupID`, in either case; nil for any other text.
    ///
    /// MLS group ids may be shorter than the accepted minimum, but the prefixes in logs must not be accepted as ids.
    public init?(reference text: String) {
        let count = text.utf8.count
        guard (16...510).contains(count), count.isMultiple(of: 2), text.allSatisfy({ $0.isASCII && $0.isHexDigit })
        else { return nil }
        self.rawValue = text.lowercased()
    }

    /// Creates the id of a group's chat.
    package init(_ groupID: GroupID) {
        self.rawValue = groupID.hex
    }

    /// The group; nil if the text has other than hexadecimal digits.
    package var groupID: GroupID? { GroupID(hex: self.rawValue) }

    /// The same as ``rawValue``.
    public var description: String { self.rawValue }

    /// Orders ids by their text.
    public static func < (left: ChatID, right: ChatID) -> Bool { left.rawValue < right.rawValue }
}

extension ChatID: ExpressibleByStringLiteral {
    /// Creates an id from a literal that is not validated.
    public init(stringLiteral text: String) {
        self.init(rawValue: text)
    }
}
