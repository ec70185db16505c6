/// Reserved values that keep receivers tolerant of unknown ones (RFC 9420 §13.5).
public enum Grease {
    /// 0x0A0A, 0x1A1A … 0xEAEA.
    public static let values: [UInt16] = (0..<15).map { UInt16($0) * 0x1010 + 0x0A0A }

    /// Returns whether `value` is one of the reserved values.
    public static func contains(_ value: UInt16) -> Bool {
        value & 0x0F0F == 0x0A0A && value >> 8 == value & 0xFF && value < 0xF000
    }
}
