/// Completeness, order and uniqueness of deliveries, and agreement of groups: counts and their ratios.
public struct LoadCorrectness: Codable, Equatable, Sendable {
    /// Expected deliveries: one for each message and receiver.
    public var expected = 0
    /// Deliveries no longer expected, because the member was removed meanwhile.
    public var excused = 0
    /// Messages decrypted by a member for the first time.
    public var delivered = 0
    /// First deliveries that came after every earlier message of their sender.
    public var inOrder = 0
    /// Messages delivered to a member again.
    public var duplicates = 0
    /// Members whose view of their group was compared with the others'.
    public var compared = 0
    /// Compared members that disagree.
    public var diverged = 0
    /// Commits that lost a race.
    public var conflicts = 0

    public init() {}

    /// Delivered per expected; nil when nothing was expected.
    public var deliveryRatio: Double? { Self.ratio(delivered, of: expected) }
    /// In order per delivered; nil when nothing was delivered.
    public var orderRatio: Double? { Self.ratio(inOrder, of: delivered) }
    /// Duplicates per first delivery; nil when nothing was delivered.
    public var duplicateRatio: Double? { Self.ratio(duplicates, of: delivered) }
    /// Diverged per compared; nil when no member was compared.
    public var divergenceRatio: Double? { Self.ratio(diverged, of: compared) }

    static func ratio(_ part: Int, of whole: Int) -> Double? { whole > 0 ? Double(part) / Double(whole) : nil }
}
