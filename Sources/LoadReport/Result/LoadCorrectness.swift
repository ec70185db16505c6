/// Completeness, order and uniqueness of deliveries, and agreement of groups: counts and their ratios.
package struct LoadCorrectness: Codable, Equatable, Sendable {
    /// Expected deliveries: one for each message and receiver.
    package var expected = 0
    /// Deliveries no longer expected, because the member was removed meanwhile, or the message was withdrawn for good.
    package var excused = 0
    /// Messages decrypted by a member for the first time.
    package var delivered = 0
    /// First deliveries that came after every earlier message of their sender.
    package var inOrder = 0
    /// Messages delivered to a member again.
    package var duplicates = 0
    /// Members whose view of their group was compared with the others'.
    package var compared = 0
    /// Compared members that disagree.
    package var diverged = 0
    /// Commits that lost a race.
    package var conflicts = 0

    package init() {}

    /// Delivered per expected; nil when nothing was expected.
    package var deliveryRatio: Double? { Self.ratio(delivered, of: expected) }
    /// In order per delivered; nil when nothing was delivered.
    package var orderRatio: Double? { Self.ratio(inOrder, of: delivered) }
    /// Duplicates per first delivery; nil when nothing was delivered.
    package var duplicateRatio: Double? { Self.ratio(duplicates, of: delivered) }
    /// Diverged per compared; nil when no member was compared.
    package var divergenceRatio: Double? { Self.ratio(diverged, of: compared) }

    static func ratio(_ part: Int, of whole: Int) -> Double? { whole > 0 ? Double(part) / Double(whole) : nil }
}
