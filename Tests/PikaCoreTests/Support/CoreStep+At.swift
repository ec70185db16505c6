import Nostr

@testable import PikaCore

extension CoreStep {
    /// A step at a time in Unix milliseconds, with no changes or effects yet.
    static func at(_ milliseconds: Int64) -> CoreStep {
        CoreStep(
            nowMilliseconds: milliseconds, monotonicMilliseconds: milliseconds,
            random: CoreRandom(SystemRandomNumberGenerator()))
    }
}

extension EventID {
    /// An id of 32 equal bytes.
    static func of(_ byte: UInt8) throws -> EventID { try EventID(bytes: [UInt8](repeating: byte, count: 32)) }
}
