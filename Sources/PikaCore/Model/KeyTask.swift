import MLS
import Nostr

/// The account's key as the reducers know it.
enum OwnKey: Sendable {
    case local(KeyPair)
    case remote(PublicKey)

    init(_ key: AccountKey) {
        switch key {
        case .local(let keys): self = .local(keys)
        case .remote(let key, _): self = .remote(key)
        }
    }

    var publicKey: PublicKey {
        switch self {
        case .local(let keys): keys.publicKey
        case .remote(let key): key
        }
    }
}

/// One thing that only the holder of the account's key can do.
enum KeyOperation: Sendable, Hashable {
    case sign([UnsignedEvent])
    case encrypt([UInt8], to: PublicKey)
    case decrypt(String, from: PublicKey)
}

/// What it gives.
enum KeyAnswer: Sendable, Hashable {
    case signed([Event])
    case encrypted(String)
    case decrypted([UInt8])
}

/// Something that the account's key is needed for, and what it is for.
enum KeyTask: Sendable, Hashable {
    /// A gift wrap that came, with a seal in it.
    case open(Event)
    /// An invitation to somebody else.
    case seal(DueSeal)
    /// A key package of one's own; its reference.
    case announce([UInt8])
    case relayList(Kind)
    /// Announcements of key packages (kind 443) to be taken back.
    case delete([EventID], at: [RelayURL])
    /// An event that is ready but for its signature.
    case publish(DuePublication)
    /// What another copy of this account has said, and where it was read; nil if it came live.
    case readNotice(Event, at: RelayURL?)
    /// Relays are told of this copy; Unix seconds.
    case tell([RelayURL], at: Int64)
    /// Files are about to be uploaded: the media operation's number.
    case authorize(Int)

    /// Whether it must outlive the process; the others are made anew, or end with it.
    var isDurable: Bool {
        switch self {
        case .open, .seal, .announce, .relayList, .delete, .publish: true
        case .readNotice, .tell, .authorize: false
        }
    }

    /// The event of a stranger that it opens, if it does.
    var crashSubject: CrashSubject? { if case .open(let event) = self { .event(event.id) } else { nil } }

    /// Whether it was not this account who wanted it.
    var isForeign: Bool {
        switch self {
        case .open, .readNotice: true
        case .seal, .announce, .relayList, .delete, .publish, .tell, .authorize: false
        }
    }
}

/// An invitation that waits for its seal.
struct DueSeal: Sendable, Hashable {
    /// Its row in the outbox, as soon as it is wrapped.
    let row: String
    let rumor: UnsignedEvent
    let recipient: PublicKey
    let relays: [RelayURL]
}

/// An event that waits for its signature.
struct DuePublication: Sendable, Hashable {
    let row: String
    let draft: UnsignedEvent
    let relays: [RelayURL]
    let purpose: OutboxRow.Purpose
}

/// A task and how far it has come.
struct KeyJob: Sendable {
    enum Stage: Sendable, Hashable {
        case first
        /// A gift wrap's inner layer.
        case opened(seal: Event)
        /// A text that now stands in an event to be signed.
        case encrypted(String)
    }

    let number: Int
    let task: KeyTask
    var stage = Stage.first
    /// Actions that end with it.
    var requests: [RequestID] = []
    /// What the signer was asked for and has not answered.
    var inFlight: KeyOperation?
    var refusals = 0
    /// Unix milliseconds before which it is not asked for again.
    var notBefore: Int64 = 0
}

extension KeyOperation {
    /// Done here and now.
    func perform(with keys: KeyPair, _ random: inout CoreRandom) throws(NostrError) -> KeyAnswer {
        switch self {
        case .sign(let drafts):
            var events: [Event] = []
            for draft in drafts { events.append(draft.signed(by: keys, using: &random)) }
            return .signed(events)
        case .encrypt(let plaintext, let peer):
            let nonce = Secret.random(count: 32, using: &random).copyBytes()
            return .encrypted(try NIP44.encrypt(plaintext, NIP44.conversationKey(keys, peer), nonce: nonce))
        case .decrypt(let payload, let peer):
            return .decrypted(try NIP44.decrypt(payload, NIP44.conversationKey(keys, peer)))
        }
    }

    /// Done by a remote signer, one event after the other.
    func perform(with signer: any RemoteSigner) async throws(SignerError) -> KeyAnswer {
        switch self {
        case .sign(let drafts):
            var events: [Event] = []
            for draft in drafts { events.append(try await signer.sign(draft)) }
            return .signed(events)
        case .encrypt(let plaintext, let peer): return .encrypted(try await signer.nip44Encrypt(plaintext, to: peer))
        case .decrypt(let payload, let peer): return .decrypted(try await signer.nip44Decrypt(payload, from: peer))
        }
    }

    /// Whether an answer is one to this: of signed events every field is compared, and the signature checked.
    func requireAnswer(_ answer: KeyAnswer) throws(SignerError) {
        switch (self, answer) {
        case (.sign(let drafts), .signed(let events)):
            guard drafts.count == events.count else {
                throw SignerError(.wrongAnswer, "the signer signed \(events.count) events of \(drafts.count)")
            }
            for (draft, event) in zip(drafts, events) {
                do { try draft.requireSame(event) } catch { throw SignerError(.wrongAnswer, error.message) }
            }
        case (.encrypt, .encrypted), (.decrypt, .decrypted): break
        default: throw SignerError(.wrongAnswer, "the signer did something else than it was asked for")
        }
    }
}
