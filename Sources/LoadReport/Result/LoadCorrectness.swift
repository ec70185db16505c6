/// Whether messages arrived, in order and once, and whether groups agree; counts, and the ratios they make.
public struct LoadCorrectness: Codable, Equatable, Sendable {
    /// Deliveries that had to happen: one for each message and member it was for.
    public var expected = 0
    /// Deliveries that were expected at first and cannot be asked for: the member was removed meanwhile.
    public var excused = 0
    /// Messages decrypted by a member for the first time.
    public var delivered = 0
    /// Of these, the ones that came after every earlier message of their sender.
    public var inOrder = 0
    /// Messages that a member was handed once more.
    public var duplicates = 0
    /// Members whose view of their group was compared with the others'.
    public var compared = 0
    /// Of these, the ones that disagree.
    public var diverged = 0
    /// Commits that lost a race.
    public var conflicts = 0

    public init() {}

    /// Delivered of expected; nil when nothing was expected.
    public var deliveryRatio: Double? { Self.ratio(delivered, of: expected) }
    /// In order of delivered; nil when nothing was delivered.
    public var orderRatio: Double? { Self.ratio(inOrder, of: delivered) }
    /// Duplicates for each first delivery; nil when nothing was delivered.
    public var duplicateRatio: Double? { Self.ratio(duplicates, of: delivered) }
    /// Diverged of compared; nil when nobody was compared.
    public var divergenceRatio: Double? { Self.ratio(diverged, of: compared) }

    static func ratio(_ part: Int, of whole: Int) -> Double? { whole > 0 ? Double(part) / Double(whole) : nil }
}
