import LiveTesting
import MLS
import Nostr
import PikaCore
import Testing

@testable import CallMedia

/// Keys and frames of call media (docs/protocol/marmot.md §9.4, §9.5).
///
/// The fixed values were computed from the text of these sections with Python's `hashlib`, `struct` and `cryptography`:
/// `HKDFExpand` for MIP-04's keys, `HKDF` for those of a generation, `AESGCM` for the frames. The media secret is the
/// bytes 0 to 31, the parties are `aa` and `bb` thirty-two times, the epoch is 7.
@Suite struct CallFrameTests {
    private static let callID = "550e8400-e29b-41d4-a716-446655440000"
    private static let session = CallSession(
        moqURL: "https://moq.example/anon", broadcastBase: "pika/calls/550e8400-e29b-41d4-a716-446655440000",
        tracks: [.audio])
    private static let secret = Secret((0..<32).map { UInt8($0) })

    private static func key(_ byte: String) throws -> PublicKey {
        try PublicKey(hex: String(repeating: byte, count: 32))
    }

    private static func keys(_ own: String, _ peer: String) throws -> CallMediaKeys {
        CallMediaKeys(
            self.session, callID: self.callID, own: try self.key(own), peer: try self.key(peer), secret: self.secret,
            epoch: 7)
    }

    private static func hex(_ secret: Secret) -> String { Hex.encode(secret.copyBytes()) }

    @Test func keysMatchKnownVector() throws {
        let keys = try Self.keys("aa", "bb")
        #expect(keys.audio.own.keyID == 0x3de2_232e_253f_81a6)
        #expect(keys.audio.peer.keyID == 0xa2a4_0b78_001e_4e9b)
        let audioRoot = "3f99cc9dc2eba5c73f3dd53683659eb52d6d3568bd4146957823b001eb730921"
        let videoRoot = "1dcd0ea3f600a29e58edee6140618ac659de834ab737c5588d18f50b191c91ab"
        #expect(Self.hex(keys.audio.own.root) == audioRoot && Self.hex(keys.audio.peer.root) == audioRoot)
        #expect(Self.hex(keys.video.own.root) == videoRoot)
        #expect(Self.hex(keys.audio.own.key) == "b4df1e67b7416f00c5391e479e1d0f94")
        #expect(Self.hex(keys.audio.own.salt) == "3901ae4b90c6413bfd2e877e")
        #expect(Self.hex(keys.audio.peer.key) == "77ed07a23edc50c6d9d322c235cd4ac9")
        #expect(Self.hex(keys.audio.peer.salt) == "790094e685036da769e9da17")
        #expect(Self.hex(keys.video.own.key) == "b2a6b0772adbc3df964bf74437a357f4")
        #expect(Self.hex(keys.video.peer.salt) == "4174f1ad339b07901daf423b")
        #expect(keys.ownLabel == "4c4bded8ed37c1d7eeaf4c9eb52e03aabb7e29966d60ec7beb3ea07d5f376604")
        #expect(keys.peerLabel == "1a39e53cbcad769a36948c3fe87bd9ebd7984ed93e4f54111a690e09fc4252b5")
        // The peer derives the same keys with swapped roles.
        let other = try Self.keys("bb", "aa")
        #expect(other.audio.own == keys.audio.peer && other.audio.peer == keys.audio.own)
        #expect(other.ownLabel == keys.peerLabel && other.peerLabel == keys.ownLabel)
    }

    private static let known =
        "013de2232e253f81a60000000000000000070102030400000000000000630000000001"
        + "229dff55bf58de311a4e603a154c52efa485a12e3e02ae34d334e7bd718b00339c230b"
    private static let frame = CallFrame(
        counter: 0x0102_0304, sequence: 99, isKeyframe: true, payload: Array("twenty milliseconds".utf8))

    @Test func sealedFrameMatchesKnownVector() throws {
        let keys = try Self.keys("aa", "bb")
        let sealed = try Self.frame.sealed(with: keys.audio.own)
        #expect(Hex.encode(sealed) == Self.known)
        #expect(try CallFrame(sealed: sealed, with: try Self.keys("bb", "aa").audio.peer) == Self.frame)
        let empty = CallFrame(counter: 0, sequence: 1, isKeyframe: false, payload: [])
        let video =
            "01a2a40b78001e4e9b0000000000000000070000000000000000000000010000000000d8a44d38b1c2ddf3bcd0894713d32c92"
        #expect(Hex.encode(try empty.sealed(with: keys.video.peer)) == video)
    }

    // MARK: Refusals

    private static func failure(_ bytes: [UInt8], _ keys: CallTrackKeys) -> CallFrameError? {
        do {
            _ = try CallFrame(sealed: bytes, with: keys)
            return nil
        } catch { return error }
    }

    @Test func checksEveryFrameField() throws {
        let keys = try Self.keys("aa", "bb")
        let sealed = try #require(Hex.decode(Self.known))
        func changed(_ offsets: Int...) -> [UInt8] {
            var bytes = sealed
            for offset in offsets { bytes[offset] ^= 0x80 }
            return bytes
        }
        let own = keys.audio.own
        // Each of these fails all later checks, too.
        #expect(Self.failure(changed(0, 1, 9, 10, 40), own) == .unknownVersion(0x81))
        #expect(Self.failure(changed(1, 9, 10, 40), own) == .wrongKey(0xbde2_232e_253f_81a6))
        #expect(Self.failure(changed(9, 10, 40), own) == .wrongGeneration(0x80))
        #expect(Self.failure(changed(10, 40), own) == .wrongEpoch(0x8000_0000_0000_0007))
        for offset in 18..<34 { #expect(Self.failure(changed(offset), own) == .notAuthentic) }
        var unflagged = sealed
        unflagged[34] = 0
        #expect(Self.failure(unflagged, own) == .notAuthentic)
        // Under the peer's key, or another track's key.
        #expect(Self.failure(sealed, keys.audio.peer) == .wrongKey(own.keyID))
        #expect(Self.failure(sealed, keys.video.own) == .notAuthentic)
        // Unknown flags are ignored, as in Pika.
        var flagged = sealed
        flagged[34] = 0xFF
        #expect(try CallFrame(sealed: flagged, with: own) == Self.frame)
    }

    @Test func lengthsAreChecked() throws {
        let own = try Self.keys("aa", "bb").audio.own
        let sealed = try #require(Hex.decode(Self.known))
        for length in 0..<51 { #expect(Self.failure(Array(sealed.prefix(length)), own) == .tooShort) }
        for length in 51..<sealed.count {
            #expect(Self.failure(Array(sealed.prefix(length)), own) == .notAuthentic, "\(length)")
        }
        #expect(Self.failure(sealed + [0], own) == .notAuthentic)
        let huge = [UInt8](repeating: 1, count: CallFrame.headerLength + CallFrame.maximumPayload + 17)
        #expect(Self.failure(huge, own) == .tooLarge)
        var large = Self.frame
        large.payload = [UInt8](repeating: 0, count: CallFrame.maximumPayload)
        #expect(try CallFrame(sealed: try large.sealed(with: own), with: own) == large)
        large.payload.append(0)
        #expect(throws: CallFrameError.tooLarge) { try large.sealed(with: own) }
    }

    @Test func tenThousandMutatedFramesAreRefused() throws {
        let own = try Self.keys("aa", "bb").audio.own
        let sealed = try #require(Hex.decode(Self.known))
        var random = SplitMix64(seed: 82)
        for _ in 0..<10_000 {
            var bytes = sealed
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where !bytes.isEmpty: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
                case 1: bytes.append(UInt8.random(in: .min ... .max, using: &random))
                default:
                    guard !bytes.isEmpty else { continue }
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
            // Changes may cancel each other out, and unknown flags are ignored.
            let isHarmless =
                bytes.count == sealed.count && bytes.indices.allSatisfy { $0 == 34 || bytes[$0] == sealed[$0] }
                && bytes[34] & 1 == 1
            #expect((Self.failure(bytes, own) == nil) == isHarmless)
        }
    }

    // MARK: Counters and replay windows

    @Test func countersEndAndDoNotWrap() {
        var counter = CallFrameCounter(next: UInt32.max - 1)
        #expect(counter.nextNumber() == UInt32.max - 1)
        #expect(counter.nextNumber() == UInt32.max)
        #expect(counter.nextNumber() == nil)
        #expect(counter.nextNumber() == nil && counter.isExhausted)
    }

    @Test func admitsEachOfNewest128NumbersOnce() {
        var window = ReplayWindow()
        let admitted = { (number: UInt64) in window.admit(number) }
        #expect(admitted(1000) && !admitted(1000))
        #expect(admitted(873) && !admitted(873), "the window must be 128 numbers wide")
        #expect(!admitted(872))
        #expect(admitted(999) && admitted(1001) && !admitted(999) && !admitted(1000))
        #expect(!admitted(873), "873 must be too old after 1001")
        #expect(admitted(874))
        #expect(admitted(1129) && !admitted(1001), "1001 must be too old after 1129")
        #expect(admitted(1002) && admitted(.max) && !admitted(.max) && admitted(.max - 127) && !admitted(0))
    }

    @Test func replayWindowMatchesReferenceSet() {
        var random = SplitMix64(seed: 128)
        var window = ReplayWindow()
        var seen: Set<UInt64> = []
        for step in 0..<20_000 {
            let number = UInt64.random(in: 0..<UInt64(200 + step / 4), using: &random)
            let newest = seen.max() ?? 0
            let isNew = !seen.contains(number) && (seen.isEmpty || number + 127 >= newest)
            #expect(window.admit(number) == isNew)
            if isNew { seen = seen.filter { $0 + 127 >= max(newest, number) }.union([number]) }
        }
    }
}
