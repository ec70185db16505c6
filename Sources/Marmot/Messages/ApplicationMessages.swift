public import Nostr

/// Codec for a group's inner events: unsigned, authenticated by MLS (MIP-03).
public enum ApplicationMessages {
    /// Maximum size of a rumor's JSON. Larger ones are refused because peers' databases store at most 100 KiB.
    public static let maximumBytes = 100 * 1024

    /// Parses a decrypted payload. `sender` is the MLS sender's identity.
    ///
    /// The id is always recomputed; a stated id that differs is refused.
    public static func read(_ data: [UInt8], from sender: PublicKey) throws(MarmotError) -> UnsignedEvent {
        guard data.count <= self.maximumBytes else {
            throw MarmotError(.tooLarge, "the inner event has \(data.count) bytes, the maximum is \(self.maximumBytes)")
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
