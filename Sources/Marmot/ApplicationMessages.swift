public import Nostr

/// The inner events of a group: unsigned, authenticated by MLS (MIP-03).
public enum ApplicationMessages {
    /// Rumors above this are refused: peers' databases do not take more than 100 KiB.
    public static let maximumBytes = 100 * 1024

    /// Reads a decrypted payload; `sender` is the MLS sender's identity.
    ///
    /// The id is always recomputed; one that is stated and differs is refused.
    public static func read(_ data: [UInt8], from sender: PublicKey) throws(MarmotError) -> UnsignedEvent {
        guard data.count <= self.maximumBytes else {
            throw MarmotError(.tooLarge, "the inner event has \(data.count) bytes, \(self.maximumBytes) are allowed")
        }
        let parsed: (event: UnsignedEvent, statedID: EventID?)
        do { parsed = try UnsignedEvent.parseRumor(data) } catch {
            throw MarmotError(.badRumor, "the payload is not an inner event: \(error.message)")
        }
        guard parsed.event.pubkey == sender else {
            throw MarmotError(.identityMismatch, "the inner event's author is not the MLS sender (MIP-03)")
        }
        if let stated = parsed.statedID, !parsed.event.hasID(stated) {
            throw MarmotError(.badRumor, "the inner event's id is not its hash (MIP-03)")
        }
        return parsed.event
    }
}
