import MLS
import Marmot
import Nostr
import PikaCore

/// The keys that seal and open the frames of one sender on one track (docs/protocol/marmot.md §9.4).
struct CallTrackKeys: Sendable, Equatable {
    /// Identifies the sender in each frame.
    let keyID: UInt64
    /// The MLS epoch in which the call began; later epochs do not change the call's keys.
    let epoch: UInt64
    let generation: UInt8
    /// The track's name in the frames' additional data; for data always `audio0`.
    let track: String
    /// The root secret, 32 bytes.
    let root: Secret
    /// The encryption key, 16 bytes.
    let key: Secret
    /// The salt of the nonces, 12 bytes.
    let salt: Secret

    init(base: Secret, root: Secret, keyID: UInt64, epoch: UInt64, generation: UInt8 = 0, track: String) {
        self.keyID = keyID
        self.epoch = epoch
        self.generation = generation
        self.track = track
        self.root = root
        let pseudorandom = SHA256Derivation.extract(inputKeyMaterial: base)
        let suffix = [generation] + withUnsafeBytes(of: keyID.bigEndian) { Array($0) }
        self.key = SHA256Derivation.expand(pseudorandom, info: Array("k".utf8) + suffix, length: 16)
        self.salt = SHA256Derivation.expand(pseudorandom, info: Array("n".utf8) + suffix, length: 12)
    }

    /// Returns the first 8 bytes of a hash of the sender's hex public key.
    static func keyID(of sender: PublicKey) -> UInt64 {
        CallAuthorization.hash("pika.call.media.keyid.v1", Array(sender.hex.utf8)).prefix(8)
            .reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The keys of one track, for both directions.
struct CallKeyPair: Sendable, Equatable {
    let own: CallTrackKeys
    let peer: CallTrackKeys
}

/// All keys of a call, derived from the group's epoch at the call's start (docs/protocol/marmot.md §9.4).
struct CallMediaKeys: Sendable, Equatable {
    /// The keys for audio, and for data on any track.
    let audio: CallKeyPair
    let video: CallKeyPair
    /// The last component of the path where each side publishes: 64 hex digits.
    let ownLabel: String
    let peerLabel: String

    /// - Parameter secret: `EncryptedMedia.secret(_:)` of the epoch.
    init(
        _ session: CallSession, callID: String, own: PublicKey, peer: PublicKey, secret: Secret, epoch: UInt64
    ) {
        let seed = CallAuthorization.seed(session, callID: callID, between: own, and: peer)
        func derive(_ hash: [UInt8], _ name: String) -> Secret {
            EncryptedMedia.key(
                secret, hash: hash, mimeType: "application/pika-call", filename: "call/\(callID)/\(name)")
        }
        func root(_ track: String) -> Secret {
            derive(CallAuthorization.hash("pika.call.media.root.v1", seed, Array(track.utf8)), "\(track)/group-root")
        }
        func keys(_ sender: PublicKey, _ track: String, _ root: Secret) -> CallTrackKeys {
            let hash = CallAuthorization.hash(
                "pika.call.media.base.v1", seed, Array(sender.hex.utf8), Array(track.utf8))
            return CallTrackKeys(
                base: derive(hash, "\(track)/\(sender.hex)"), root: root, keyID: CallTrackKeys.keyID(of: sender),
                epoch: epoch, track: track)
        }
        let audioRoot = root("audio0")
        let videoRoot = root("video0")
        self.audio = CallKeyPair(own: keys(own, "audio0", audioRoot), peer: keys(peer, "audio0", audioRoot))
        self.video = CallKeyPair(own: keys(own, "video0", videoRoot), peer: keys(peer, "video0", videoRoot))
        self.ownLabel = Self.label(of: own, audioRoot)
        self.peerLabel = Self.label(of: peer, audioRoot)
    }

    /// Derives a participant's label. The hash input is plain concatenation, without lengths.
    static func label(of participant: PublicKey, _ root: Secret) -> String {
        let input = Array("pika.call.media.path.v1".utf8) + root.copyBytes() + Array(participant.hex.utf8)
        return Hex.encode(SHA256Derivation.digest(input))
    }
}
